//! Two smooth spheres: the closed form of their impact, and its audit.
//!
//! With x from the centre of the first to that of the second, v the relative velocity and s the rate at which growing spheres close the
//! gap by themselves, the gap's rate is x·v/|x| − s, and
//!
//! ```text
//! J = −(1+k) (x·v − s|x|) x / (|x|² (1/m₁ + 1/m₂))
//! ```
//!
//! J is made along x, not along the unit normal, which rounding makes a little longer or shorter than one: energy would drift.

use nalgebra::Vector3;

use crate::run::Ledger;

/// The impact of two spheres as resolved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SphereImpact {
    pub approach: f64,
    pub separation: f64,
    pub restitution: f64,
    pub impulse: f64,
    pub gap: f64,
}

/// Two spheres in contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spheres {
    /// From the first centre to the second, and the relative velocity.
    pub x: Vector3<f64>,
    pub v: Vector3<f64>,
    /// |x|², |x|.
    pub square: f64,
    pub distance: f64,
    /// The rate at which they close the gap by growing.
    pub growing: f64,
    /// 1/m of the two.
    pub inverse_masses: [f64; 2],
}

impl Spheres {
    /// The rate of the gap.
    #[inline(always)]
    pub fn approach(&self) -> f64 {
        self.x.dot(&self.v) / self.distance - self.growing
    }

    /// The impulse along the normal, and on the second.
    #[inline(always)]
    pub fn impulse(&self, restitution: f64) -> (f64, Vector3<f64>) {
        let inverse = self.inverse_masses[0] + self.inverse_masses[1];
        let impulse = -(1.0 + restitution) * self.approach() / inverse;
        let vector = self.x
            * (-(1.0 + restitution) * (self.x.dot(&self.v) - self.growing * self.distance)
                / (self.square * inverse));
        (impulse, vector)
    }

    /// Audits an impact by the velocities before and after, and books its energy.
    #[inline(always)]
    pub fn audit(
        &self,
        ledger: &mut Ledger,
        found: &SphereImpact,
        [before, after]: [&[Vector3<f64>; 2]; 2],
        event: u64,
    ) {
        let SphereImpact { approach, separation, restitution, impulse, gap } = *found;
        let [light, other] = self.inverse_masses;
        let kinetic = |inverse: f64, v: &Vector3<f64>| {
            if inverse > 0.0 { 0.5 * v.norm_squared() / inverse } else { 0.0 }
        };
        let change = kinetic(light, &after[0]) - kinetic(light, &before[0])
            + (kinetic(other, &after[1]) - kinetic(other, &before[1]));
        let expected = 0.5 * impulse * ((1.0 - restitution) * approach + 2.0 * self.growing);
        let speed = self.v.norm() + self.growing;
        ledger.book_event_energy(expected, change, event);
        ledger.note_gap(gap, event);
        let missed = (separation + restitution * approach).abs() / speed;
        let changes = [after[0] - before[0], after[1] - before[1]];
        let audit = &mut ledger.audit;
        audit.restitution_error_max.note(missed, event);
        audit.points_error_max.note(gap.abs() / self.distance, event);
        // Compare squares: the root is needed only for a new worst value.
        let (worst, found) = (audit.impulse_error_max.value, self.unbalanced(&changes));
        if found > worst * worst * self.v.norm_squared() || found.is_nan() {
            audit.impulse_error_max.note(found.sqrt() / speed, event);
        }
    }

    /// How far the two have changed their velocities otherwise than by opposite impulses along the line of centres, squared.
    #[inline(always)]
    fn unbalanced(&self, changes: &[Vector3<f64>; 2]) -> f64 {
        let [light, other] = self.inverse_masses;
        let unequal = (changes[0] * other + changes[1] * light).norm_squared();
        let aside = self.x.cross(&(changes[1] - changes[0])).norm_squared();
        unequal / ((light + other) * (light + other)) + aside / self.square
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;

    use super::Spheres;

    /// An impulse along the line of centres passes; one that is not opposite, or not along it, does not.
    #[test]
    fn spoiled_impulses_of_spheres_are_seen() {
        let x = Vector3::new(0.6, -0.8, 0.0);
        let at = |inverse_masses: [f64; 2]| Spheres {
            x,
            v: Vector3::zeros(),
            square: 1.0,
            distance: 1.0,
            growing: 0.0,
            inverse_masses,
        };
        let (light, other) = (2.0, 0.5);
        let push = x * 1.7;
        let good = [-push * light, push * other];
        let unbalanced = |changes: [Vector3<f64>; 2]| at([light, other]).unbalanced(&changes);
        assert!(unbalanced(good) < 1e-30);
        assert!(unbalanced([good[0], good[1] * 1.000_001]) > 1e-14);
        let aside = Vector3::new(0.0, 0.0, 1e-6);
        assert!(unbalanced([good[0] - aside * light, good[1] + aside * other]) > 1e-14);
        // A wall takes any impulse, and moves by none.
        assert!(at([0.0, 1.0]).unbalanced(&[Vector3::zeros(), push]) < 1e-30);
    }
}
