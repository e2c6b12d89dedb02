//! Finds the neighbours of a body, by the grid of cells where there is one, and follows bodies from cell to cell.

use nalgebra::Vector3;

use super::bookkeeping::Bookkeeping;
use super::cells::Cells;
use super::dynamics::Dynamics;
use super::pair::{Pair, PairSide};
use super::predict::{MARGIN, Predictor, first_zero};
use super::queue::NextEvent;
use crate::motion::Motion;
use crate::run::index;

impl Predictor {
    /// Makes the grid of cells.
    pub fn build_cells(&mut self, dynamics: &Dynamics) {
        let world = &dynamics.world;
        let colliding = dynamics.bodies().filter(|&body| world.can_collide(body));
        let radius = colliding.map(|body| world.radius[body]).fold(0.0, f64::max);
        let diameter = if radius > 0.0 { 2.0 * radius * MARGIN } else { 1.0 };
        let position = |body| dynamics.state(body, dynamics.clock.now).position;
        let positions: Vec<Vector3<f64>> = dynamics.bodies().map(position).collect();
        self.cells = Some(Cells::new(diameter, world.periodic.as_ref(), &positions));
    }

    /// Visits the pairs of a body with the bodies in some of the neighbouring cells, and with the members of groups; with all bodies where
    /// there are no cells or the body is in a group.
    pub fn each_neighbour(
        &self,
        dynamics: &Dynamics,
        body: usize,
        wanted: impl Fn([i32; 3]) -> bool,
        mut visit: impl FnMut(Pair),
    ) {
        let mut take = |other: u32, image: [i32; 3]| {
            if let Some(pair) = colliding_pair(dynamics, index(body), other, image) {
                visit(pair);
            }
        };
        match &self.cells {
            // A member of a group may leave its cell on a curve: all bodies count, by the images about the nearest.
            Some(cells) if dynamics.is_flying(body) => {
                let all = wanted([0; 3]);
                cells.neighbours(body, wanted, |other, image| {
                    if dynamics.is_flying(other as usize) {
                        take(other, image);
                    }
                });
                // A body that enters a cell has its pairs with members of groups already.
                if all {
                    let here = dynamics.state(body, dynamics.clock.now).position;
                    let grouped = dynamics.bodies().filter(|&other| !dynamics.is_flying(other));
                    grouped.for_each(|other| {
                        each_image(dynamics, &here, other, |image| take(index(other), image));
                    });
                }
            }
            _ => {
                let here = dynamics.state(body, dynamics.clock.now).position;
                for other in dynamics.bodies() {
                    each_image(dynamics, &here, other, |image| take(index(other), image));
                }
            }
        }
    }

    /// Puts a body into its cell, and predicts when it leaves.
    pub fn enter_cell(&mut self, dynamics: &Dynamics, body: usize, t: f64) {
        if let Some(cells) = &mut self.cells {
            let cell = cells.at(&dynamics.state(body, t).position);
            cells.transfer(body, cell);
            self.predict_crossing(dynamics, body, t);
        }
    }

    /// Predicts when a flying body leaves its cell, and by which face.
    fn predict_crossing(&mut self, dynamics: &Dynamics, body: usize, t: f64) {
        let Some(cells) = &self.cells else { return };
        if dynamics.world.bodies[body].fixed {
            return;
        }
        let cell = cells.of(body);
        let (state, acceleration) = (dynamics.state(body, t), dynamics.motion(body).acceleration());
        let mut first: Option<(f64, usize, bool)> = None;
        for axis in 0..3 {
            let [low, high] = cells.bounds(&cell, axis);
            let (x, v, a) = (state.position[axis], state.velocity[axis], acceleration[axis]);
            for (up, wait) in [(true, leaves(high - x, -v, -a)), (false, leaves(x - low, v, a))] {
                if let Some(wait) = wait
                    && first.is_none_or(|(soonest, ..)| wait < soonest)
                {
                    first = Some((wait, axis, up));
                }
            }
        }
        if let Some((wait, axis, up)) = first {
            #[expect(clippy::cast_possible_truncation, reason = "below three")]
            let event = NextEvent::Cross { body: index(body), axis: axis as u8, up };
            self.push(dynamics, t + wait, event, [dynamics.motions[body].version, 0]);
        }
    }

    /// Moves a body into the next cell, and predicts its contacts with the bodies that are new there.
    pub fn cross(
        &mut self,
        dynamics: &Dynamics,
        books: &mut Bookkeeping,
        body: usize,
        axis: usize,
        up: bool,
        t: f64,
    ) {
        let Some(cells) = &mut self.cells else { return };
        let step = if up { 1 } else { -1 };
        let mut cell = cells.of(body);
        cell[axis] += step;
        cells.transfer(body, cell);
        self.predict_crossing(dynamics, body, t);
        self.predict_neighbours(dynamics, books, body, t, |offset| offset[axis] == step, &[]);
    }
}

/// Visits the images of a body about the one nearest to a position.
fn each_image(dynamics: &Dynamics, here: &Vector3<f64>, other: usize, mut visit: impl FnMut([i32; 3])) {
    let Some(lengths) = dynamics.world.periodic else { return visit([0; 3]) };
    let there = dynamics.state(other, dynamics.clock.now).position;
    let spread = |i: usize| {
        if lengths[i] > 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "bodies are kept near the box")]
            let nearest = ((here[i] - there[i]) / lengths[i]).round() as i32;
            nearest - 1..=nearest + 1
        } else {
            0..=0
        }
    };
    for x in spread(0) {
        for y in spread(1) {
            for z in spread(2) {
                visit([x, y, z]);
            }
        }
    }
}

/// The pair of two bodies, the smaller number first; `None` if they cannot collide.
fn colliding_pair(dynamics: &Dynamics, one: u32, other: u32, image: [i32; 3]) -> Option<Pair> {
    let world = &dynamics.world;
    let fixed = |body: u32| world.bodies[body as usize].fixed;
    if one == other || (fixed(one) && fixed(other)) || !world.can_collide(other as usize) {
        return None;
    }
    let pair = if one < other {
        Pair { first: PairSide::Body(one), second: other, image, features: [0; 2] }
    } else {
        let image = image.map(|boxes| -boxes);
        Pair { first: PairSide::Body(other), second: one, image, features: [0; 2] }
    };
    (!world.is_joined(pair.sides(), image)).then_some(pair)
}

/// When a body at a distance a from a face crosses it outwards. Rounding may have put it beyond the face through which it has just
/// come in.
fn leaves(a: f64, b: f64, c: f64) -> Option<f64> {
    if a > 0.0 {
        return first_zero(a, b, c);
    }
    if b > 0.0 {
        return (c < 0.0).then(|| -2.0 * b / c);
    }
    (b < 0.0 || c < 0.0).then_some(0.0)
}

#[cfg(test)]
mod tests {
    use super::leaves;

    #[test]
    fn a_body_on_a_face_leaves_only_outwards() {
        assert_eq!(leaves(-1e-17, 1.0, -2.0), Some(1.0));
        assert_eq!(leaves(-1e-17, 1.0, 0.0), None);
        assert_eq!(leaves(0.0, -1.0, 0.0), Some(0.0));
        assert_eq!(leaves(0.0, 0.0, 0.0), None);
    }
}
