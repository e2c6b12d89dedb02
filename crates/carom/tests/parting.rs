//! Searches that begin at a contact known to part: it is not found again, and the next one is not missed.
//!
//! `CAROM_PAIRS=100000` tries that many impacts instead of 5000.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flying;
mod pairs;

use carom::body::{Body, State};
use carom::gap::{gap, gap_to_plane};
use carom::impact::pair::{FreeBody, strike};
use carom::motion::{Anchored, Flight, Motion};
use carom::shape::Shape;
use carom::toi::{
    Contact, Meeting, Moving, Search, Touch, Window, first_contact, first_contact_near,
    first_contact_with_plane,
};
use flying::flight;
use nalgebra::{Matrix3, Vector3};
use pairs::{KINDS, Kind, Pair, sampled};
use rayon::prelude::*;
use serde_json::Value;

/// A pair after an impact, its flights anchored at the time of it.
struct After {
    pair: Pair,
    flights: [Anchored<Flight>; 2],
    from: f64,
}

/// Free flight to a contact, and the elastic impact there.
fn struck(pair: &Pair, flights: &[Anchored<Flight>; 2], contact: &Contact, restitution: f64) -> After {
    let states = flights.map(|flight| flight.at(contact.time));
    let free = |k: usize| {
        let (body, _) = &pair.bodies[k];
        let wall = body.fixed || (k == 0 && pair.plane.is_some());
        let inverse = if wall {
            Matrix3::zeros()
        } else {
            body.world_inertia(&states[k].orientation).try_inverse().unwrap()
        };
        FreeBody {
            inverse_mass: if wall { 0.0 } else { 1.0 / body.mass },
            inverse_inertia: inverse,
            velocity: if wall { Vector3::zeros() } else { states[k].velocity },
            angular_velocity: if wall { Vector3::zeros() } else { states[k].angular_velocity },
            arm: contact.point - states[k].position,
        }
    };
    let blow = strike(&free(0), &free(1), &contact.normal, restitution);
    let mut after = pair.clone();
    let mut anchored = *flights;
    for k in 0..2 {
        if k == 0 && pair.plane.is_some() {
            continue;
        }
        let state =
            State { velocity: blow.velocity[k], angular_velocity: blow.angular_velocity[k], ..states[k] };
        after.bodies[k].1 = state;
        anchored[k] =
            Anchored { motion: Flight::new(&after.bodies[k].0, &state, &pair.gravity), since: contact.time };
    }
    After { pair: after, flights: anchored, from: contact.time }
}

impl After {
    fn search(&self, until: f64) -> Search {
        let [first, second] = [0, 1].map(|k| Moving::new(self.pair.shape(k), &self.flights[k]));
        let window = Window::parting(self.from, until);
        match &self.pair.plane {
            Some(plane) => first_contact_with_plane(second, plane, window),
            None => first_contact(first, second, window),
        }
    }

    /// The same with the normal of the impact.
    fn search_near(&self, until: f64, normal: &Vector3<f64>) -> Search {
        let [first, second] = [0, 1].map(|k| Moving::new(self.pair.shape(k), &self.flights[k]));
        first_contact_near(first, second, Window::parting(self.from, until), Some(*normal))
    }

    fn gap(&self, t: f64) -> f64 {
        let [first, second] = self.flights.map(|flight| flight.at(t).pose());
        match &self.pair.plane {
            Some(plane) => gap_to_plane(self.pair.shape(1), &second, plane).gap,
            None => gap((self.pair.shape(0), &first), (self.pair.shape(1), &second)).unwrap().gap,
        }
    }

    /// How fast the gap can change up to so long after.
    fn speed(&self, t: f64) -> f64 {
        let own = |k: usize| self.flights[k].motion.spin_bound() * self.pair.shape(k).circumradius();
        let [first, second] = [0, 1].map(|k| self.flights[k].motion.at(0.0).velocity);
        let pull = self.pair.gravity.norm() * t;
        (if self.pair.plane.is_some() { second.norm() } else { (second - first).norm() })
            + pull
            + own(0)
            + own(1)
    }
}

const ROUNDING: f64 = 1e-13;

/// Follows a pair through its impacts; how many there were, and the shortest time between two.
fn bounce(seed: u64, kind: Kind, restitution: f64) -> Option<(u32, f64, u32)> {
    let pair = Pair::new(seed, kind);
    let until = pair.until + 2.0;
    let Meeting::At(mut contact) = pair.search(Window::new(0.0, until)).meeting else { return None };
    let mut flights = pair.flights.map(|motion| Anchored { motion, since: 0.0 });
    let mut pair = pair;
    let (mut impacts, mut shortest, mut most) = (0, f64::INFINITY, 0);
    while impacts < 12 {
        let after = struck(&pair, &flights, &contact, restitution);
        let search = after.search(until);
        most = most.max(search.evaluations);
        let what = || format!("seed {seed}, {kind:?}, after {impacts}: {contact:?}, {search:?}");
        let end = match search.meeting {
            Meeting::At(next) => next.time - next.time_error,
            Meeting::Apart => until,
            _ => panic!("{}", what()),
        };
        let speed = after.speed(until - after.from);
        let (least, _) = sampled(|t| after.gap(t), speed, after.from, end, 2000.0);
        assert!(least >= -ROUNDING, "overlap {least:e}: {}", what());
        // The time just after, on a scale of its own.
        for k in 0..30 {
            let t = after.from + (end - after.from) * libm::exp2(-f64::from(k));
            assert!(after.gap(t) >= -ROUNDING, "overlap {:e} at {t}: {}", after.gap(t), what());
        }
        if after.pair.plane.is_none() {
            knows_its_normal(&after, &search, &contact.normal, until);
        }
        let Meeting::At(next) = search.meeting else { break };
        // Not the contact it starts from: in between they were apart.
        let halfway = after.gap(0.5 * (after.from + next.time));
        assert!(next.time > after.from && halfway > -ROUNDING, "{halfway:e} {}", what());
        assert!(next.approach <= 1e-6, "{}", what());
        shortest = shortest.min(next.time - after.from);
        impacts += 1;
        (pair, flights, contact) = (after.pair, after.flights, next);
    }
    Some((impacts, shortest, most))
}

/// A search that is told the normal finds what the other does, whatever its window, and often without a single gap.
fn knows_its_normal(after: &After, search: &Search, normal: &Vector3<f64>, until: f64) {
    for span in [1e-9, 1e-6, 1e-3, 0.03, 0.3, f64::INFINITY] {
        let end = (after.from + span).min(until);
        let near = after.search_near(end, normal);
        match (near.meeting, search.meeting) {
            (Meeting::At(near), Meeting::At(next)) => {
                assert!(
                    (near.time - next.time).abs() <= near.time_error + next.time_error,
                    "{near:?} {next:?}"
                );
            }
            (Meeting::Apart, Meeting::At(next)) => assert!(end <= next.time + next.time_error, "{next:?}"),
            (Meeting::Apart, Meeting::Apart) => {}
            (near, next) => panic!("{near:?} {next:?}"),
        }
    }
}

#[test]
fn impacts_resolved_are_left_and_the_next_is_found() {
    let count: u64 = std::env::var("CAROM_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(5000);
    for kind in KINDS {
        let seen: Vec<(u32, f64, u32)> = (0..count / 5)
            .into_par_iter()
            .filter_map(|seed| bounce(9_000_000_000 + seed, kind, 1.0))
            .collect();
        let again = seen.iter().filter(|s| s.0 > 0).count();
        let soon = seen.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
        let most = seen.iter().map(|s| s.2).max().unwrap();
        let impacts: u32 = seen.iter().map(|s| s.0).sum();
        println!(
            "{kind:?}: {} pairs, {again} of them meet again, {impacts} times in all, the soonest after {soon:.1e}; most gaps {most}",
            seen.len()
        );
        assert!(again > 10, "{kind:?}");
    }
}

#[test]
fn grazes_are_left() {
    // Spheres passing at contact distance, at any place on the way and in any direction.
    let ball = Shape::Sphere { radius: 0.5 };
    let body = Body { shape: ball, mass: 1.0, inertia: ball.unit_inertia(), fixed: false };
    let still = Flight::new(&body, &State::at(Vector3::zeros()), &Vector3::zeros());
    for k in 0..1000 {
        let turn = 0.1 * f64::from(k);
        let along = Vector3::new(libm::cos(turn), libm::sin(turn), 0.3).normalize();
        let across = along.cross(&Vector3::z()).normalize();
        let speed = 10f64.powi(k % 7 - 3);
        let mut state = State::at(across - along * (2.0 * speed));
        state.velocity = along * speed;
        let passing = Flight::new(&body, &state, &Vector3::zeros());
        let [first, second] = [Moving::new(&ball, &still), Moving::new(&ball, &passing)];
        let search = first_contact(first, second, Window::new(0.0, 4.0));
        let contact = match search.meeting {
            Meeting::At(contact) => contact,
            // Rounding may put them apart by an ulp.
            _ => continue,
        };
        assert!((contact.time - 2.0).abs() <= contact.time_error, "{k}: {contact:?}");
        let again = first_contact(first, second, Window::parting(contact.time, 4.0));
        assert_eq!(again.meeting, Meeting::Apart, "{k}: {contact:?}");
        // Exactly from the middle, too.
        let again = first_contact(first, second, Window::parting(2.0, 4.0));
        assert_eq!(again.meeting, Meeting::Apart, "{k}");
    }
}

/// A motion run backwards from a time.
struct Reversed(Flight, f64);

impl Motion for Reversed {
    fn at(&self, t: f64) -> State {
        let state = self.0.at(self.1 - t);
        State { velocity: -state.velocity, angular_velocity: -state.angular_velocity, ..state }
    }

    fn acceleration(&self) -> Vector3<f64> {
        self.0.acceleration()
    }

    fn acceleration_bound(&self) -> f64 {
        0.0
    }

    fn turning_bound(&self) -> f64 {
        self.0.turning_bound()
    }
}

#[test]
fn touches_that_part_by_the_third_power_are_left() {
    // The paradoxes run backwards: v = g'' = 0 and g''' > 0 at the start. Before it they overlap.
    let file: Value =
        serde_json::from_str(include_str!("../../../cases/contacts/first_contact.json")).unwrap();
    let mut tried = 0;
    for case in file["cases"].as_array().unwrap().iter().filter(|case| case["approach"] == 0.0) {
        let time = case["time"].as_f64().unwrap();
        let [first, second] = [0, 1].map(|k| {
            let (shape, motion) = flight(&case["bodies"][k]);
            (shape, Reversed(motion, time))
        });
        let [one, two] = [&first, &second].map(|(shape, motion)| Moving::new(shape, motion));
        let search = first_contact(one, two, Window::parting(0.0, time));
        assert_eq!(search.meeting, Meeting::Apart, "{}: {search:?}", case["name"]);
        println!("{}: {} gaps", case["name"], search.evaluations);
        // Not told that it parts, the search calls it a graze, at the start.
        let Meeting::At(contact) = first_contact(one, two, Window::new(0.0, time)).meeting else { panic!() };
        assert_eq!((contact.touch, contact.time), (Touch::Grazing, 0.0), "{}", case["name"]);
        tried += 1;
    }
    assert_eq!(tried, 2);
}

#[test]
fn a_ball_that_falls_back_is_met_again() {
    // Thrown up from the floor at v: back after 2v/g, however small v is, as long as it rises above rounding.
    let ball = Shape::Sphere { radius: 0.5 };
    let body = Body { shape: ball, mass: 1.0, inertia: ball.unit_inertia(), fixed: false };
    let floor = carom::shape::HalfSpace { normal: Vector3::z_axis(), offset: 0.0 };
    for k in 0..8 {
        let speed = 10f64.powi(-k);
        let mut state = State::at(Vector3::new(0.0, 0.0, 0.5));
        state.velocity = Vector3::new(0.3, 0.0, speed);
        let flight = Flight::new(&body, &state, &Vector3::new(0.0, 0.0, -2.0));
        let search =
            first_contact_with_plane(Moving::new(&ball, &flight), &floor, Window::parting(0.0, 10.0));
        let Meeting::At(contact) = search.meeting else { panic!("{speed}: {search:?}") };
        let error = (contact.time - speed).abs();
        assert!(contact.time > 0.0, "{speed}: {contact:?}");
        // Below 10⁻⁷ it rises by less than the gap's rounding: then the time at which it is plainly below.
        if k <= 6 {
            assert!(
                error <= contact.time_error && contact.touch == Touch::Approaching,
                "{speed}: {contact:?}"
            );
        }
        assert!(error < 1e-6, "{speed}: {contact:?}");
    }
}
