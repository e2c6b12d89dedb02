//! The impact laws: one file each, one signature.
//!
//! A law looks at a `Situation` (the rows, and the relative velocities as they are now) and answers with a
//! `Resolution`: impulses on some of the rows. The loop in `resolve` applies it and asks
//! again until the law has nothing left to do: that is how separating contacts that begin to close start the
//! next impact of a cascade, and how the laws that take contacts in turn proceed. The loop knows no law by name.

mod complementarity;
mod decoupled;
mod equality;
mod friction;
mod newton;
mod newton_lcp;
mod poisson;
mod reflection;
mod sequential;

pub use crate::impact::options::Law;
use crate::impact::options::{Order, Termination};
use crate::impact::outcome::FrictionHistory;
use crate::impact::problem::{Contact, Surface};
use crate::impact::system::System;

impl Law {
    /// The law's next step, or nothing when it is done.
    pub(super) fn step(self, situation: &Situation) -> Option<Resolution> {
        // A law that acts once leaves what friction makes close to be taken in turn as well.
        let mut parts = friction::parts_closing(situation);
        if !self.promises_admissible() {
            parts.extend(situation.in_turn);
        }
        if let Some(resolution) = friction::step(situation, &parts) {
            return Some(resolution);
        }
        let step = match self {
            Self::NewtonLcp => newton_lcp::step(situation),
            Self::Newton => newton::step(situation),
            Self::Poisson => poisson::step(situation),
            Self::Sequential => sequential::step(situation),
            Self::Reflection => reflection::step(situation),
            Self::Decoupled => decoupled::step(situation),
        }?;
        let parts = friction::parts_pressed(situation, &step);
        friction::step(situation, &parts).or(Some(step))
    }
}

/// What a law sees.
pub(super) struct Situation<'a> {
    pub system: &'a System<'a>,
    pub contacts: &'a [Contact],
    /// Tangential rows tied to no normal among several: they act with every contact.
    pub loose: &'a [usize],
    /// y of every row now.
    pub y: &'a [f64],
    pub order: &'a Order,
    pub termination: Termination,
    /// The size of the velocities and impulses of each part, in units of √(2T), whose rounding y carries.
    pub sizes: &'a [f64],
    /// Whether the law itself has made a step.
    pub acted: bool,
    /// The contact that the last step resolved, if it resolved one alone.
    pub last: Option<usize>,
    /// The parts in which friction has made contacts be taken in turn.
    pub in_turn: &'a [usize],
}

/// Impulses on some rows, and what is known about them.
#[derive(Default)]
pub(super) struct Resolution {
    pub rows: Vec<usize>,
    pub impulses: Vec<f64>,
    /// The change of the reduced velocity.
    pub u: Vec<f64>,
    /// The relative residual of the law's equations, when they have no solution.
    pub residual: Option<f64>,
    /// The circuits along which the impulses can be shifted; none if they are unique.
    pub circuits: Vec<Vec<(usize, f64)>>,
    /// Another change of the reduced velocity that the law allows as well.
    pub alternative: Option<Vec<f64>>,
    /// Whether there may be one that was not looked for, the rows being too many.
    pub undecided: bool,
    /// The contact resolved, when it was one alone out of several.
    pub single: Option<usize>,
    /// Where friction is why it was taken alone: the normals of the contacts that met with it, closing or touching.
    pub met: Option<Vec<usize>>,
    pub friction: Option<Friction>,
}

/// What friction did in a step.
pub(super) struct Friction {
    pub history: FrictionHistory,
    /// The work of each row, in the order of the resolution's rows.
    pub work: Vec<f64>,
    pub locked: bool,
}

impl Situation<'_> {
    /// The rounding level of y of a row.
    pub fn noise(&self, row: usize) -> f64 {
        self.system.noise(row, self.sizes[self.system.part[row]])
    }

    /// Whether the contact closes by more than rounding.
    pub fn closing(&self, contact: &Contact) -> bool {
        !self.system.blocked[contact.normal] && self.y[contact.normal] < -self.noise(contact.normal)
    }

    /// Whether the contact separates by more than rounding.
    pub fn separating(&self, contact: &Contact) -> bool {
        self.y[contact.normal] > self.noise(contact.normal)
    }

    /// The numbers of the contacts closing now.
    pub fn closing_contacts(&self) -> Vec<usize> {
        (0..self.contacts.len()).filter(|&c| self.closing(&self.contacts[c])).collect()
    }

    /// The numbers of the contacts closing or touching now, if any closes.
    pub fn meeting_contacts(&self) -> Vec<usize> {
        if !self.contacts.iter().any(|c| self.closing(c)) {
            return Vec::new();
        }
        (0..self.contacts.len()).filter(|&c| !self.separating(&self.contacts[c])).collect()
    }

    /// The part of the system that a contact belongs to.
    pub fn part_of(&self, contact: usize) -> usize {
        self.system.part[self.contacts[contact].normal]
    }

    /// The next closing contact in the stated order, of those that are asked for.
    pub fn next_in_order(&self, asked_for: impl Fn(usize) -> bool) -> Option<usize> {
        let mut closing = self.closing_contacts();
        closing.retain(|&c| asked_for(c));
        let rank = |contact: usize| match self.order {
            Order::Given | Order::Fastest => contact,
            Order::Reversed => self.contacts.len() - 1 - contact,
            Order::Rows(rows) => {
                let row = self.contacts[contact].normal;
                rows.iter().position(|&r| r == row).unwrap_or(usize::MAX)
            }
        };
        if *self.order == Order::Fastest {
            let speed = |c: usize| {
                let row = self.contacts[c].normal;
                -self.y[row] / self.system.lengths[row]
            };
            return closing.into_iter().reduce(|a, b| if speed(b) > speed(a) { b } else { a });
        }
        // Round after round: first those behind the last one resolved, then from the beginning.
        let after = self.last.map(rank);
        closing.into_iter().min_by_key(|&c| (after.is_some_and(|last| rank(c) <= last), rank(c)))
    }

    /// The coefficient of restitution of a row.
    pub fn restitution(&self, row: usize) -> f64 {
        self.system.problem.restitution[row]
    }

    /// y of a row at unit length.
    pub fn unit_speed(&self, row: usize) -> f64 {
        self.y[row] / self.system.lengths[row]
    }

    /// The rows of some contacts that can move, each with whether it is an equality: normals first come with
    /// their own tangents, then the loose ones.
    pub fn rows_of(&self, contacts: &[usize]) -> Vec<(usize, bool)> {
        let mut rows = Vec::new();
        for &c in contacts {
            let contact = &self.contacts[c];
            rows.push((contact.normal, false));
            if contact.surface == Surface::Rough {
                rows.extend(contact.tangent.iter().map(|&t| (t, true)));
            }
        }
        rows.extend(self.loose.iter().map(|&t| (t, true)));
        rows.retain(|&(row, _)| !self.system.blocked[row]);
        rows
    }
}
