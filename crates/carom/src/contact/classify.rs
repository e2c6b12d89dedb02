//! What kind of contact it is: by the first of g', g'', g''' that is not zero.
//!
//! | type | at g = 0 | what happens |
//! | --- | --- | --- |
//! | `normal` | v < 0 | impulse |
//! | `separating` | v > 0 | nothing |
//! | `graze` (\[PVWZ\] type 1) | v = 0, g'' > 0 | touch and part, no impulse |
//! | `unrealizable` (type 2a) | v = 0, g'' < 0 | overlapping on both sides of t = 0: no first contact of free flight |
//! | `paradox_2b_star` | v = g'' = 0, g''' < 0, u = 0, w = 0 | nothing closes, and free flight penetrates |
//! | `paradox_2b` | the same, u ≠ 0, w = 0 | the same |
//! | `paradox_marginal` | the same, w ≠ 0 | the same |
//! | `degenerate` | v = g'' = 0, g''' ≥ 0 or none | higher orders decide |
//!
//! w changes when the bodies are exchanged, into w − Ku: it vanishes when the contact point stays at one point of
//! the second body, the other when it stays at one of the first. Either counts as w = 0, so that no type depends on
//! the order.
//!
//! **Tolerances.** A quantity is zero if it is at most a tolerance times the sum of the sizes of what it is made of
//! ([`Scales`]): the relative velocity of the centres, the spins times the arms, and so on. The scales are the same
//! with the bodies exchanged, in every frame that moves uniformly, and change with the units as the quantities do.
//!
//! **How sure.** [`Nearest`] says by which factor the tolerance would have to change for another type, and which.

use nalgebra::Vector3;

use super::kinematics::{Facing, Fit, Kinematics, Moving, kinematics};
use crate::gap::Gap;
use crate::motion::Derivatives;
use crate::shape::length;

/// The kinds of contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Closing: an impulse.
    Normal,
    /// Opening.
    Separating,
    /// Touching and parting without an impulse.
    Graze,
    /// Overlapping before and after: not a first contact of free flight. A contact at rest, held by a force, looks
    /// so.
    Unrealizable,
    /// Nothing closes and free flight penetrates; with slip, the contact point at rest on one of the bodies.
    Paradox2b,
    /// The same without slip.
    Paradox2bStar,
    /// The same with the contact point moving over both bodies.
    ParadoxMarginal,
    /// Not decided by three derivatives.
    Degenerate,
}

impl Type {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Normal,
        Self::Separating,
        Self::Graze,
        Self::Unrealizable,
        Self::Paradox2b,
        Self::Paradox2bStar,
        Self::ParadoxMarginal,
        Self::Degenerate,
    ];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Separating => "separating",
            Self::Graze => "graze",
            Self::Unrealizable => "unrealizable",
            Self::Paradox2b => "paradox_2b",
            Self::Paradox2bStar => "paradox_2b_star",
            Self::ParadoxMarginal => "paradox_marginal",
            Self::Degenerate => "degenerate",
        }
    }

    /// Whether it is a paradox of any kind.
    #[must_use]
    pub const fn is_paradox(self) -> bool {
        matches!(self, Self::Paradox2b | Self::Paradox2bStar | Self::ParadoxMarginal)
    }
}

/// Whether the bodies touch at all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// The gap is zero within the tolerance: the type holds.
    Touching,
    /// They are apart by this much: the type is that of the same motion in contact.
    Apart(f64),
    /// They overlap by this much: likewise.
    Overlapping(f64),
}

/// What is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerances {
    /// Of the gap, relative to the bodies' sizes.
    pub touching: f64,
    /// Of v, g'', g''', the slip and w, relative to their [`Scales`].
    pub rates: f64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self { touching: 1e-9, rates: 1e-9 }
    }
}

/// The sizes that the tolerances are relative to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales {
    /// Of the gap: the circumradii of the bodies together.
    pub length: f64,
    /// Of v and the slip: |v₂ − v₁| + |ω₁||p| + |ω₂||q|.
    pub speed: f64,
    /// Of w: |ω₁| + |ω₂| and the curvatures times the speed.
    pub turn: f64,
    /// Of g''.
    pub acceleration: f64,
    /// Of g'''.
    pub jerk: f64,
}

/// What decides a type, each over its tolerance: at most one in size is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratios {
    /// Of v.
    pub v: f64,
    /// Of g''.
    pub g2: f64,
    /// Of g'''.
    pub g3: f64,
    /// Of the slip.
    pub slip: f64,
    /// Of w, the smaller of both orders of the bodies.
    pub w: f64,
}

/// A quantity that decides the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// The normal relative velocity.
    V,
    /// g''.
    G2,
    /// g'''.
    G3,
    /// The slip.
    Slip,
    /// w.
    W,
}

impl Quantity {
    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V => "v",
            Self::G2 => "g2",
            Self::G3 => "g3",
            Self::Slip => "slip",
            Self::W => "w",
        }
    }
}

impl Ratios {
    /// That of a quantity.
    #[must_use]
    pub const fn of(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::V => self.v,
            Quantity::G2 => self.g2,
            Quantity::G3 => self.g3,
            Quantity::Slip => self.slip,
            Quantity::W => self.w,
        }
    }
}

/// The other type that is nearest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Which.
    pub kind: Type,
    /// By which quantity.
    pub by: Quantity,
    /// Its distance from the tolerance, as a factor of one or more: the tolerance times it, or over it, gives the
    /// other type.
    pub factor: f64,
}

/// A contact's type, and the numbers behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Classification {
    /// The type.
    pub kind: Type,
    /// Whether the bodies touch.
    pub standing: Standing,
    /// The numbers.
    pub kinematics: Kinematics,
    /// What is zero is zero beside these.
    pub scales: Scales,
    /// The tolerances.
    pub tolerances: Tolerances,
    /// The quantities over their tolerances.
    pub ratios: Ratios,
    /// How sure the type is; none if every quantity taken for zero is exactly that and no other is near.
    pub nearest: Option<Nearest>,
}

/// Classifies a contact, from the gap of the two sides as [`kinematics`] takes it.
#[must_use]
pub fn classify(first: &Facing, second: &Moving, at: &Gap, tolerances: Tolerances) -> Classification {
    let k = kinematics(first, second, at);
    let scales = scales(first, second, &k);
    let ratio = |x: f64, scale: f64| if x == 0.0 { 0.0 } else { x / (tolerances.rates * scale) };
    // Of bodies with flats and edges the contact may be a region, or bent without bound: only how it closes is known.
    let shapes = [
        match first {
            Facing::Body(body) => Some(body.shape),
            Facing::Plane(_) => None,
        },
        Some(second.shape),
    ];
    let edged = shapes.iter().flatten().any(|shape| shape.has_flats());
    let other_w = k.w - (k.curvature_1 + k.curvature_2) * k.slip;
    let ratios = Ratios {
        v: ratio(k.v, scales.speed),
        g2: if edged {
            0.0
        } else if k.fit == Fit::Rocking {
            f64::NEG_INFINITY
        } else {
            ratio(k.g2, scales.acceleration)
        },
        // On a flat the third derivative is not known.
        g3: if k.fit == Fit::Curved && !edged { ratio(k.g3, scales.jerk) } else { 0.0 },
        slip: ratio(length(&k.slip), scales.speed),
        w: ratio(length(&k.w).min(length(&other_w)), scales.turn),
    };
    let reach = tolerances.touching * scales.length;
    let standing = if at.gap > reach {
        Standing::Apart(at.gap)
    } else if at.gap < -reach {
        Standing::Overlapping(-at.gap)
    } else {
        Standing::Touching
    };
    let kind = ratios.kind();
    Classification {
        kind,
        standing,
        kinematics: k,
        scales,
        tolerances,
        ratios,
        nearest: ratios.nearest(kind),
    }
}

/// How far beyond zero counts as not zero.
const RESOLVED: f64 = 1.0;

impl Ratios {
    /// The table.
    fn kind(&self) -> Type {
        let sign = |ratio: f64| {
            if ratio < -RESOLVED { -1 } else { i32::from(ratio > RESOLVED) }
        };
        match (sign(self.v), sign(self.g2), sign(self.g3)) {
            (-1, ..) => Type::Normal,
            (1, ..) => Type::Separating,
            (_, 1, _) => Type::Graze,
            (_, -1, _) => Type::Unrealizable,
            (_, _, -1) if self.w > RESOLVED => Type::ParadoxMarginal,
            (_, _, -1) if self.slip > RESOLVED => Type::Paradox2b,
            (_, _, -1) => Type::Paradox2bStar,
            _ => Type::Degenerate,
        }
    }

    fn nearest(&self, kind: Type) -> Option<Nearest> {
        // The same with one quantity zero that was not, or the other way round.
        let turned = |ratio: f64| if ratio.abs() > RESOLVED { 0.0 } else { (2.0 * RESOLVED).copysign(ratio) };
        let candidates = [
            (Quantity::V, self.v, Self { v: turned(self.v), ..*self }),
            (Quantity::G2, self.g2, Self { g2: turned(self.g2), ..*self }),
            (Quantity::G3, self.g3, Self { g3: turned(self.g3), ..*self }),
            (Quantity::Slip, self.slip, Self { slip: turned(self.slip), ..*self }),
            (Quantity::W, self.w, Self { w: turned(self.w), ..*self }),
        ];
        let mut nearest: Option<Nearest> = None;
        for (by, ratio, other) in candidates {
            let factor = ratio.abs().max(ratio.abs().recip());
            let differs = other.kind() != kind && factor.is_finite();
            if differs && nearest.is_none_or(|known| factor < known.factor) {
                nearest = Some(Nearest { kind: other.kind(), by, factor });
            }
        }
        nearest
    }
}

/// One side's contributions: speed relative to the centre, spin, acceleration, jerk, spin rate.
fn sizes(derivatives: &Derivatives, spin: &Vector3<f64>, arm: &Vector3<f64>) -> [f64; 5] {
    let (spin, arm) = (length(spin), length(arm));
    let (rate, second) = (length(&derivatives.angular_acceleration), length(&derivatives.angular_jerk));
    [
        spin * arm,
        spin,
        (rate + spin * spin) * arm,
        (second + 3.0 * rate * spin + spin * spin * spin) * arm,
        rate + spin * spin,
    ]
}

/// The sum of the sizes of the terms of each quantity. Linear accelerations count by their difference, as uniform
/// gravity drops out.
fn scales(first: &Facing, second: &Moving, k: &Kinematics) -> Scales {
    let two = sizes(&second.derivatives, &second.state.angular_velocity, &k.arms[1]);
    let mut one = [0.0; 5];
    let (mut velocity, mut acceleration, mut jerk) =
        (second.state.velocity, second.derivatives.acceleration, second.derivatives.jerk);
    let mut radius = second.shape.circumradius();
    if let Facing::Body(body) = first {
        one = sizes(&body.derivatives, &body.state.angular_velocity, &k.arms[0]);
        velocity -= body.state.velocity;
        acceleration -= body.derivatives.acceleration;
        jerk -= body.derivatives.jerk;
        radius += body.shape.circumradius();
    }
    let [turning, spin, bent, jerked, rate] = core::array::from_fn(|i| one[i] + two[i]);
    let speed = length(&velocity) + turning;
    let pull = length(&acceleration) + bent;
    let curvature = k.curvature_1.norm() + k.curvature_2.norm();
    // How fast the point runs over the surfaces, and how fast the normal turns.
    let roll = length(&k.rolling[0]) + length(&k.rolling[1]) + length(&k.slip);
    let turn = spin + curvature * roll;
    Scales {
        length: radius,
        speed,
        turn: spin + curvature * speed,
        // The threshold wᵀK⁻¹w = |w·e₂| is at most turn · roll.
        acceleration: pull + turn * roll,
        jerk: length(&jerk) + jerked + rate * roll + turn * pull + turn * turn * (roll + speed),
    }
}
