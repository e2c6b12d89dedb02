//! The audit of a collision by its states, and its entries in the ledger.

use super::{Cluster, ClusterContact};
use crate::audit::event::{Carried, Event, Findings, Member, Struck, examine};
use crate::contact::Side;
use crate::record::JointImpulse;
use crate::run::{Ledger, World};

/// The circumstances of an audited collision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditContext {
    /// The number of the event.
    pub event: u64,
    /// The size of the bodies over that of their shapes.
    pub size: f64,
    /// Whether it is an impact; otherwise contacts began or ended without one.
    pub impact: bool,
    /// Whether all pairs are audited after every event.
    pub few: bool,
}

impl<K> Cluster<K> {
    /// Audits the collision by the states before and after, and books its energy: the work of its impulses, so that the ledger does not
    /// drift with the bodies.
    pub fn audit(&self, world: &World, ledger: &mut Ledger, context: AuditContext) {
        let (findings, expected) = self.examine(world, context);
        let event = context.event;
        ledger.note_findings(&findings, |k| self.contacts[k].sides, event);
        ledger.note_kinetic_energy(findings.kinetic_energy);
        ledger.book_event_energy(expected, findings.energy_change, event);
        ledger.note_gain(findings.energy_change, event);
        if context.few {
            ledger.involved.extend_from_slice(&self.bodies);
        }
    }

    /// The findings, and the work that the impulses should have done.
    fn examine(&self, world: &World, context: AuditContext) -> (Findings, f64) {
        let member = |k: usize| Member {
            body: &world.bodies[self.bodies[k]],
            before: self.before[k],
            after: self.after[k],
        };
        let judge = |members: &[Member], contacts: &[Struck], joints: &[Carried]| {
            let event = Event {
                members,
                planes: &world.planes,
                contacts,
                joints,
                size: context.size,
                impact: context.impact,
                unilateral: context.impact && world.options.law.promises_admissible(),
            };
            (examine(&event), event.expected_work())
        };
        // One contact of free bodies, the usual case, allocates nothing.
        match (self.bodies.len(), &self.contacts[..], &self.joints[..]) {
            (1, [contact], []) => judge(&[member(0)], &[self.struck(contact)], &[]),
            (2, [contact], []) => judge(&[member(0), member(1)], &[self.struck(contact)], &[]),
            _ => {
                let members: Vec<Member> = (0..self.bodies.len()).map(member).collect();
                let contacts: Vec<Struck> = self.contacts.iter().map(|c| self.struck(c)).collect();
                let joints: Vec<Carried> = self.joints.iter().map(|j| self.carried(world, j)).collect();
                judge(&members, &contacts, &joints)
            }
        }
    }

    fn struck(&self, contact: &ClusterContact<K>) -> Struck {
        Struck {
            sides: contact.sides.map(|side| self.local(side)),
            image: contact.shift,
            points: contact.ends(),
            normal: contact.found.normal,
            gap: contact.found.gap,
            impulse: if contact.by_joint { Default::default() } else { contact.impulse_vector },
            restitution: contact.restitution,
            surface: contact.surface,
            growing: contact.growing,
        }
    }

    fn carried(&self, world: &World, result: &JointImpulse) -> Carried {
        let bodies = &world.joints[result.joint].bodies;
        Carried {
            first: self.place(bodies[0]),
            second: bodies.get(1).map(|&body| self.place(body)),
            linear: result.linear,
            angular: result.angular,
            point: result.point,
        }
    }

    /// Books the impulses of planes and fixed bodies.
    pub fn book_external(&self, world: &World, ledger: &mut Ledger) {
        for contact in &self.contacts {
            let fixed = |side: Side| match side {
                Side::Plane(_) => true,
                Side::Body(body) => world.bodies[body].fixed,
            };
            let sign = match contact.sides.map(fixed) {
                [true, _] => 1.0,
                [false, true] => -1.0,
                [false, false] => continue,
            };
            ledger.book_impulse(&(contact.impulse_vector * sign), &contact.point());
        }
    }
}
