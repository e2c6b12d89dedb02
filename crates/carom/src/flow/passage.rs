//! Singular configurations of linkages, where branches of their motion meet, and steps across them.
//!
//! In a loop of joints the rows lose rank at single configurations: a parallelogram that lies flat, a crank and a rod of equal
//! length that fold. In coordinates x along the motion and y across it, the constraint there is
//!
//! ```text
//! g = x y = 0,   row (y, x):     two branches, y = 0 and x = 0; along the first the row has the length |x|
//! ```
//!
//! A motion that comes along y = 0 has one analytic continuation, y = 0, and that is the one followed. The accelerations are
//! 0/0 at the configuration, and δ/x where a state is off the rows by δ, so that the iteration for the stages of a step would only
//! settle in steps shorter than x. Three things take a step across.
//!
//! **Stages on the rows.** Near such a configuration a stage is put on the rows before its rates are taken
//! ([`System::put_on_rows`]): (x, y) goes to (x, 0), whatever x, so the rates are as smooth as the motion along the branch.
//!
//! **Stages away from the configuration.** The rounding ε of a velocity put on the rows is ε/x across the branch, and makes
//! the acceleration across it wrong by ε/x². A step is shortened a little where one of its stages, or its end, comes close beside its
//! length; what is left is across the branch, and is taken away where the end of the step, far from the configuration, is put on
//! the rows.
//!
//! **The branch.** The iteration sets out from the step before, continued. A step with stages on both branches is no polynomial,
//! and is refused for its last coefficients.
//!
//! The volume that the rows span, the product of their pivots, tells x. Reactions may have a pole at the configuration, λ ∝ 1/x: they are not
//! asked to be polynomials in such a step, and [`Flow::reaction`] finds them from the states.
//!
//! **How it fails.** A linkage that misses the configuration by more than rounding, x y = c, turns from one branch to another: its
//! motion is smooth, on the scale √c, and is followed in steps as short. Where contacts slide with friction, or flats are rolled across, steps
//! are as elsewhere, and end at the configuration.

use super::dense_step::{DenseStep, Reaction};
use super::system::{Level, System};
use super::{Flow, Obstacle, Part};
use crate::body::State;
use crate::integrate::gauss::{Field, Gauss, Leg};
use crate::integrate::golden::least;
use crate::joint::Joint;

/// A stage is close to the configuration if that divides the way between two stages less evenly than this.
const CLOSE: f64 = 0.35;

/// The end of a step is close to the configuration within this share of its length.
const CLOSE_END: f64 = 0.15;

/// A configuration ahead or behind by so many lengths of a step is near.
const NEAR: f64 = 1.5;

/// A volume that falls by so much where it would come down to nothing may do so.
const FALLS: f64 = 0.5;

/// A volume below this, beside the greatest, is that of a singular configuration: the root of what a linkage may be off by rounding.
const SINGULAR: f64 = 1e-6;

/// How independent the rows are along a leg.
pub(super) struct Survey {
    /// The first singular configuration that it passes.
    pub passage: Option<f64>,
    /// Whether a stage or the end is close to one.
    pub close: bool,
    /// Whether one may be near, before or after the end.
    pub near: bool,
}

/// The volume that the rows span at times of a leg, beside the greatest; zero where the rank is less than elsewhere.
struct Volumes {
    rank: usize,
    /// The logarithm of the greatest.
    most: f64,
}

impl Volumes {
    fn of(&self, (rank, logarithm): (usize, f64)) -> f64 {
        if rank < self.rank { 0.0 } else { libm::exp(logarithm - self.most) }
    }
}

impl Flow {
    /// Whether joints make a loop, so that their rows can lose rank: with the ground and immovable bodies as one.
    pub(super) fn makes_loop(&self, joints: &[Joint]) -> bool {
        let ground = self.bodies.len();
        let mut root: Vec<usize> = (0..=ground).collect();
        let find = |root: &[usize], mut node: usize| {
            while root[node] != node {
                node = root[node];
            }
            node
        };
        joints.iter().any(|joint| {
            let node = |k: usize| {
                joint.bodies.get(k).map_or(ground, |&b| if self.bodies[b].fixed { ground } else { b })
            };
            let [one, two] = [find(&root, node(0)), find(&root, node(1))];
            root[one] = two;
            one == two
        })
    }

    /// Whether steps look for singular configurations.
    pub(super) fn may_be_singular(&self, system: &System) -> bool {
        self.looped && !system.clock && !(0..self.contacts.len()).any(|i| system.slides(i))
    }

    /// The rank and the logarithm of the volume at a time of a leg; none where there is no rate.
    fn look(&self, system: &mut System, leg: &Leg, t: f64, room: &mut [Vec<f64>; 2]) -> (usize, f64) {
        let [y, rate] = room;
        leg.at(t, 0..y.len(), y);
        system
            .rate(t, y, rate)
            .map_or((0, f64::NEG_INFINITY), |()| (system.balance.rank, system.balance.volume))
    }

    /// Looks at the rows along a leg: at its start, its stages and its end.
    pub(super) fn survey(&self, system: &mut System, gauss: &Gauss, leg: &Leg) -> Survey {
        let mut room = [vec![0.0; leg.start().len()], vec![0.0; leg.start().len()]];
        let stages: Vec<f64> = gauss.nodes().iter().map(|&x| leg.time(x)).collect();
        let ends = [leg.from, leg.from + leg.length];
        let knots: Vec<f64> = [ends[0]].iter().chain(&stages).chain(&ends[1..]).copied().collect();
        // Half way between stages too: what falls to zero and rises again between them is seen.
        let halves = knots.windows(2).flat_map(|pair| [pair[0], 0.5 * (pair[0] + pair[1])]);
        let times: Vec<f64> = halves.chain([ends[1]]).collect();
        let looks: Vec<(usize, f64)> = times.iter().map(|&t| self.look(system, leg, t, &mut room)).collect();
        let rank = looks.iter().map(|look| look.0).max().unwrap_or(0);
        let full = looks.iter().filter(|look| look.0 == rank).map(|look| look.1);
        let scale = Volumes { rank, most: full.fold(f64::NEG_INFINITY, f64::max) };
        let volumes: Vec<f64> = looks.iter().map(|&look| scale.of(look)).collect();
        let mut volume = |t: f64| scale.of(self.look(system, leg, t, &mut room));

        let last = times.len() - 1;
        let mut survey = Survey { passage: None, close: false, near: false };
        if volumes[0] <= SINGULAR {
            survey.passage = Some(leg.from);
        }
        for i in 1..last {
            let [before, here, after] = [i - 1, i, i + 1].map(|k| volumes[k]);
            if here > before || here >= after {
                continue;
            }
            let (t, found) = least(&mut volume, [times[i - 1], times[i + 1]], FALLS * here);
            if found <= SINGULAR {
                survey.passage = survey.passage.or(Some(t));
                survey.close |= stages.windows(2).any(|pair| {
                    let share = (t - pair[0]) / (pair[1] - pair[0]);
                    (0.0..=1.0).contains(&share) && share.min(1.0 - share) < CLOSE
                });
            }
        }
        // Where the volume would come down to nothing ahead, if it falls, or behind, in lengths of the leg.
        let change = (volumes[last] - volumes[last - 1]) / (times[last] - times[last - 1]);
        let distance = -volumes[last] / (change * leg.length);
        survey.near = volumes[last] == 0.0 || distance.abs() < NEAR;
        survey.close |= volumes[last] == 0.0
            || ((0.0..CLOSE_END).contains(&distance)
                && volume(times[last] + distance * leg.length) < FALLS * volumes[last]);
        survey
    }

    /// What a joint exerts on its first body at a time within a piece of this flow: from the piece's polynomial, or near a singular
    /// configuration, where reactions may have a pole, from its states.
    #[must_use]
    pub fn reaction(&self, piece: &DenseStep, joint: usize, t: f64) -> Reaction {
        let told = piece.reaction(joint, t);
        let (true, Part::Tie(tie)) = (piece.onto, self.joints[joint]) else { return told };
        let states: Vec<State> = (0..self.bodies.len()).map(|b| piece.at(b, t)).collect();
        let mut system = System::new(self, piece.modes.clone());
        system.time = t;
        system.reference.clone_from(&piece.reference);
        system.lenient = true;
        system.place(&states);
        let mut solve = || -> Result<(), Obstacle> {
            system.touch()?;
            system.balance(Level::Acceleration)
        };
        if solve().is_err() {
            return told;
        }
        let [force, torque] = system.tie_force(tie);
        Reaction { force, torque }
    }
}
