//! Events that are spoiled, and bodies that are moved: the audit of the simulation must see each.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use nalgebra::Vector3;

use super::cluster::{Cluster, Predicted};
use super::queue::{NextEvent, Queue};
use super::{Simulation, World, impact};
use crate::collision::spoiled::{LIMIT, failed, spoil};
use crate::contact::Side;
use crate::scene::{Format, file};

fn begin(text: &str) -> Simulation {
    let scene = file::read(&format!("carom = 1\n{text}"), Format::Toml).unwrap();
    let (world, states) = World::of(&scene);
    let mut simulation = Simulation::new(world, &states, scene.run).unwrap();
    // Contacts at the start are resolved first.
    simulation.step_to(1e-3, &mut ());
    simulation
}

/// Goes on to the next contact, with all contacts at the same time.
fn next_contact(simulation: &mut Simulation) -> (f64, Vec<Predicted>) {
    let mut found: Vec<Predicted> = Vec::new();
    let mut at = f64::INFINITY;
    loop {
        let Some(entry) = simulation.predictor.queue.peek().copied() else { return (at, found) };
        if entry.time > at + 1e-12 {
            return (at, found);
        }
        simulation.predictor.queue.pop();
        let Simulation { dynamics, predictor, books, .. } = simulation;
        if !dynamics.is_current(&entry) {
            continue;
        }
        match entry.event {
            NextEvent::Epoch => simulation.next_epoch(),
            NextEvent::Cross { body, axis, up } => {
                predictor.cross(dynamics, books, body as usize, axis.into(), up, entry.time);
            }
            NextEvent::Search(pair) => predictor.search(dynamics, books, pair, entry.time),
            NextEvent::Contact { pair, error } => {
                at = at.min(entry.time);
                found.push((pair, error));
            }
            NextEvent::StepEnd { .. } | NextEvent::Exit(_) => return (at, found),
        }
    }
}

/// A simulation at its first impact, and that impact.
fn first_impact(text: &str) -> (Simulation, Cluster) {
    let mut simulation = begin(text);
    let (t, simultaneous) = next_contact(&mut simulation);
    let mut cluster = simulation.gather(t, &simultaneous);
    simulation.advance_clock(t);
    assert!(impact::resolve(&simulation.dynamics, &mut cluster).is_some());
    (simulation, cluster)
}

/// What the audit finds wrong with an impact.
fn wrong(simulation: &Simulation, cluster: &Cluster) -> Vec<&'static str> {
    let mut simulation = simulation.clone();
    simulation.books.audit_event(&simulation.dynamics, cluster, true);
    failed(&simulation.audit())
}

const TWO: &str = "
[[body]]
name = 'a'
shape = { ellipsoid = { semi_axes = [1, 0.5, 0.4] } }
mass = 2
orientation = [0.9, 0.1, 0.3, 0.2]
velocity = [0.4, 0, 0]
angular_velocity = [0.2, 0.3, -0.4]
[[body]]
name = 'b'
shape = { superellipsoid = { semi_axes = [0.5, 0.7, 0.6], exponent = 4 } }
mass = 1
position = [3, 0.3, 0.2]
velocity = [-1, 0, 0.1]
[surface]
restitution = 0.6
";

const THREE: &str = "
[[body]]
name = 'striker'
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [-2, 0, 0]
velocity = [1, 0, 0]
[[body]]
name = 'left'
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [0, 0.5, 0]
[[body]]
name = 'right'
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [0, -0.5, 0]
";

const HINGED: &str = "
[[body]]
name = 'door'
shape = { superellipsoid = { semi_axes = [1, 0.1, 0.5], exponent = 4 } }
mass = 2
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.2 } }
mass = 1
position = [0.4, 2, 0.1]
velocity = [0, -1, 0]
[[joint]]
name = 'hinge'
bodies = ['door']
kind = { hinge = { point = [-1, 0, 0], axis = [0, 0, 1] } }
";

const SLIDING: &str = "
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.5 } }
mass = 1
position = [0, 0, 2]
velocity = [1, 0, -1]
angular_velocity = [0, 1, 0]
[[plane]]
name = 'floor'
normal = [0, 0, 1]
[surface]
kind = { coulomb = 0.3 }
restitution = 0.5
";

#[test]
fn a_good_event_passes_and_each_spoiled_one_fails() {
    for (name, text) in [("two", TWO), ("three", THREE), ("hinged", HINGED), ("sliding", SLIDING)] {
        let (simulation, good) = first_impact(text);
        assert_eq!(wrong(&simulation, &good), Vec::<&str>::new(), "{name}");
        for (what, fails, bad) in spoil(simulation.world(), &good) {
            let found = wrong(&simulation, &bad);
            assert!(found.contains(&fails), "{name}, {what}: {found:?}");
        }
    }
}

/// The law is asked without one of two contacts: the event is right by itself, and the pair closes on.
#[test]
fn a_contact_that_is_left_out_is_seen() {
    let mut simulation = begin(THREE);
    let (t, simultaneous) = next_contact(&mut simulation);
    assert_eq!(simultaneous.len(), 2);
    let mut cluster = simulation.gather(t, &simultaneous);
    simulation.advance_clock(t);
    assert_eq!(cluster.contacts.len(), 3, "the two that touch take part");
    let left_out = cluster.contacts[1].key.pair;
    cluster.contacts.remove(1);
    simulation.resolve_event(cluster, t, None, &mut ());
    assert!(simulation.audit().unilateral_error_max.value < LIMIT, "not overdue yet");
    // No search will find it any more.
    simulation.predictor.queue = Queue::default();
    simulation.step(&mut ());
    let audit = simulation.audit();
    assert!(audit.unilateral_error_max.value > 0.1, "{audit:?}");
    assert_eq!(audit.unilateral_error_max.sides, Some(left_out.sides()));
    assert!(audit.gap_min < -1e-3 && audit.overlap_max.value == -audit.gap_min, "{audit:?}");
}

#[test]
fn a_body_moved_into_another_or_into_a_wall_is_seen() {
    for (text, body, sides) in
        [(TWO, 1, [Side::Body(0), Side::Body(1)]), (SLIDING, 0, [Side::Plane(0), Side::Body(0)])]
    {
        let mut simulation = begin(text);
        assert!(simulation.audit().gap_min > 0.0);
        let t = simulation.dynamics.clock.now;
        let mut state = simulation.dynamics.state(body, t);
        state.position = Vector3::new(0.9, 0.0, 0.3);
        simulation.dynamics.fly(body, &state, t);
        simulation.books.audit_pairs(&simulation.dynamics, t);
        let audit = simulation.audit();
        assert!(audit.gap_min < -0.01, "{audit:?}");
        assert_eq!(audit.overlap_max.sides, Some(sides));
    }
}
