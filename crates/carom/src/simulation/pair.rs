//! A pair that may touch: a plane or a body, and a body or one of its periodic images. Its gap and its scales.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::body::State;
use crate::contact::Side;
use crate::contact::feature::{Features, at_plane, feature_gap};
use crate::contact::kinematics::{Facing, Kinematics, Moving};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::motion::Derivatives;
use crate::run::World;
use crate::run::tolerances::{GAP_ROUNDING, RESIDUE};
use crate::shape::Convex;

/// A pair that may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    /// The first side.
    pub first: PairSide,
    /// The second side, a body.
    pub second: u32,
    /// Which image of the second body, in whole boxes from where it is.
    pub image: [i32; 3],
    /// By which features the sides touch, where they have flats, edges and corners; zero for all of a side.
    #[serde(default)]
    pub features: Features,
}

/// The first side of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PairSide {
    /// A plane.
    Plane(u32),
    /// A body with a smaller number than the second.
    Body(u32),
}

/// How often the time at which a gap ceases to be zero is bisected.
const BISECTIONS: u32 = 30;

/// The normal velocity that rounding leaves at a contact.
pub(super) fn residue(k: &Kinematics) -> f64 {
    RESIDUE * k.rounding[0]
}

impl Pair {
    /// The contacts that a plane and a body may have: by each corner and rim, or as a whole.
    pub fn with_plane(world: &World, plane: u32, body: u32) -> impl Iterator<Item = Self> + use<> {
        let pair = Self { first: PairSide::Plane(plane), second: body, image: [0; 3], features: [0; 2] };
        at_plane(&world.bodies[body as usize].shape).map(move |number| Self { features: [0, number], ..pair })
    }

    /// The same sides as a whole.
    pub fn whole(&self) -> Self {
        Self { features: [0; 2], ..*self }
    }

    /// Whether it is a contact of two features.
    pub fn is_of_features(&self) -> bool {
        self.features != [0; 2]
    }

    /// Whether the pair's bodies and plane exist.
    pub fn exists(&self, bodies: usize, planes: usize) -> bool {
        let first = match self.first {
            PairSide::Plane(k) => (k as usize) < planes,
            PairSide::Body(k) => (k as usize) < bodies,
        };
        first && (self.second as usize) < bodies
    }

    /// The numbers of the two sides, those of planes apart from those of bodies.
    pub fn numbers(&self) -> [u32; 2] {
        let first = match self.first {
            PairSide::Plane(k) => k,
            PairSide::Body(k) => k | 1 << 31,
        };
        [first, self.second]
    }

    /// The two sides.
    pub fn sides(&self) -> [Side; 2] {
        let first = match self.first {
            PairSide::Plane(k) => Side::Plane(k as usize),
            PairSide::Body(k) => Side::Body(k as usize),
        };
        [first, Side::Body(self.second as usize)]
    }

    /// The bodies.
    pub fn bodies(&self) -> impl Iterator<Item = usize> + use<> {
        let first = match self.first {
            PairSide::Plane(_) => None,
            PairSide::Body(first) => Some(first as usize),
        };
        first.into_iter().chain([self.second as usize])
    }

    /// The movable bodies.
    pub fn movable<'w>(&self, world: &'w World) -> impl Iterator<Item = usize> + use<'w> {
        self.bodies().filter(|&body| !world.bodies[body].fixed)
    }

    /// Whether joints or loads act on one of the bodies.
    pub fn is_constrained(&self, world: &World) -> bool {
        self.movable(world).any(|body| world.constrained(body))
    }

    /// The displacement of the second body's image.
    pub fn shift(&self, world: &World) -> Vector3<f64> {
        world.boxes(self.image)
    }

    /// The second body's image at a state.
    pub fn displaced(&self, world: &World, state: &State) -> State {
        State { position: state.position + self.shift(world), ..*state }
    }

    /// The size of the pair: the sum of the circumradii.
    pub fn size(&self, world: &World) -> f64 {
        let first = match self.first {
            PairSide::Plane(_) => 0.0,
            PairSide::Body(first) => world.radius[first as usize],
        };
        first + world.radius[self.second as usize]
    }

    /// The gap at given states.
    pub fn gap(&self, world: &World, state: impl Fn(usize) -> State) -> Option<Gap> {
        let second = self.second as usize;
        let bodies = &world.bodies;
        if self.is_of_features() {
            let (first, second) = self.resting(world, &state);
            return feature_gap(&first, &second, self.features);
        }
        let there = self.displaced(world, &state(second)).pose();
        match self.first {
            PairSide::Plane(k) => {
                Some(gap_to_plane(&bodies[second].shape, &there, &world.planes[k as usize]))
            }
            PairSide::Body(first) => {
                let first = first as usize;
                gap((&bodies[first].shape, &state(first).pose()), (&bodies[second].shape, &there))
            }
        }
    }

    /// Both sides at given states, without their accelerations.
    pub fn resting<'w>(&self, world: &'w World, state: impl Fn(usize) -> State) -> (Facing<'w>, Moving<'w>) {
        let moving = |body: usize, state: State| Moving {
            shape: &world.bodies[body].shape,
            state,
            derivatives: Derivatives::default(),
        };
        let first = match self.first {
            PairSide::Plane(k) => Facing::Plane(&world.planes[k as usize]),
            PairSide::Body(first) => Facing::Body(moving(first as usize, state(first as usize))),
        };
        let second = self.second as usize;
        (first, moving(second, self.displaced(world, &state(second))))
    }

    /// The rounding of the gap at a point. The position along a plane does not matter.
    pub fn gap_rounding(&self, world: &World, point: &Vector3<f64>) -> f64 {
        let distance = match self.first {
            PairSide::Plane(k) => world.planes[k as usize].normal.component_mul(point).abs().sum(),
            PairSide::Body(_) => point.norm(),
        };
        GAP_ROUNDING * (self.size(world) + distance)
    }

    /// The normal velocity below which a contact neither closes nor separates: it is rounding, or it changes the gap by less than
    /// rounding before accelerations dominate.
    pub fn velocity_threshold(&self, world: &World, k: &Kinematics) -> f64 {
        let rounding = self.gap_rounding(world, &k.points[1]);
        // Under gravity other contacts may support one of the two bodies, and then gravity closes the gap.
        let pull = if k.g2.is_finite() { k.g2.abs() } else { 0.0 }.max(world.gravity.norm());
        let by_second = (2.0 * rounding * pull).sqrt();
        let by_third = if k.g3.is_finite() { (rounding * rounding * k.g3.abs()).cbrt() } else { 0.0 };
        residue(k).max(by_second).max(by_third)
    }

    /// The speed that can change the gap: not the velocity along a plane, nor the spin of a ball.
    pub fn speed(&self, world: &World, state: impl Fn(usize) -> State) -> f64 {
        let turning = |body: usize, state: &State| {
            let ball = world.bodies[body].shape.ball().is_some();
            if ball { 0.0 } else { state.angular_velocity.norm() * world.radius[body] }
        };
        let second = self.second as usize;
        let there = state(second);
        match self.first {
            PairSide::Plane(k) => {
                let normal = world.planes[k as usize].normal;
                normal.dot(&there.velocity).abs() + turning(second, &there)
            }
            PairSide::Body(first) => {
                let here = state(first as usize);
                (there.velocity - here.velocity).norm()
                    + turning(first as usize, &here)
                    + turning(second, &there)
            }
        }
    }

    /// When a gap that is zero now first differs from zero by more than rounding on given motions, and its value then. The search
    /// doubles the time up to a span, and then bisects.
    pub fn gap_departure(
        &self,
        world: &World,
        span: f64,
        state: impl Fn(usize, f64) -> State,
    ) -> Option<(f64, f64)> {
        let at = |wait: f64| self.gap(world, |body| state(body, wait));
        let now = at(0.0)?;
        let rounding = 4.0 * self.gap_rounding(world, &now.points[0]) + now.gap.abs();
        let (mut low, mut high) = (0.0, 1e-6 * span);
        let mut gap = loop {
            if !(high > low && high.is_finite()) {
                return None;
            }
            let gap = at(high)?.gap;
            if gap.abs() > rounding {
                break gap;
            }
            low = high;
            high = (2.0 * high).min(span);
        };
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            let between = at(middle)?.gap;
            if between.abs() > rounding {
                (high, gap) = (middle, between);
            } else {
                low = middle;
            }
        }
        Some((high, gap))
    }
}
