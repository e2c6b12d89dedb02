//! The nearest point of a polyhedron to the origin, by a dual active-set method.
//!
//! Shortest u with c_i·u ≥ h_i, and c_i·u = h_i for the equalities, rows c_i at unit length. Its multipliers p
//! are the impulses: u = Σ p_i c_i, p_i ≥ 0 on inequalities, p_i (c_i·u − h_i) = 0. With h = −(I+K) y this is
//! the Newton-LCP law (T4); compression and expansion of Poisson's (T5) are two more instances.
//!
//! Method of Goldfarb and Idnani (1983) for Hessian I: start at u = 0, which violates the constraints but is
//! optimal without them; add a violated row, dropping rows whose multiplier would turn negative on the way; the
//! length of u grows at every step, so no set returns. A violated row that depends on the active ones moves
//! no velocity: it either takes the place of an active row, or proves that nothing is feasible. The active rows are
//! always independent, whatever the rank of all rows. On the final set u and p are computed afresh, so they
//! carry no rounding from the path.
//!
//! Rows enter and leave through [`Frame`]: an orthonormal frame (dense) or a Cholesky factor of the Gram matrix
//! within its envelope, refined through the rows themselves (sparse), for systems such as long chains where the
//! cost of a step must stay proportional to the number of rows.

mod banded;
mod dense;

use crate::metric::Rows;
use banded::Banded;
use dense::Dense;

/// The rows of an active set, in a form that projects on their span.
pub(super) enum Frame<'a> {
    Dense(Dense<'a>),
    Banded(Banded<'a>),
}

/// Above this number of rows a banded frame is considered.
const DENSE_ROWS: usize = 48;

impl<'a> Frame<'a> {
    /// An empty frame that rows with these numbers may enter.
    pub fn new(rows: &'a Rows, ids: &[usize]) -> Self {
        if ids.len() > DENSE_ROWS
            && let Some(banded) = Banded::new(rows, ids)
        {
            return Self::Banded(banded);
        }
        Self::Dense(Dense::new(rows, ids.len().min(rows.dimension)))
    }

    /// The row numbers in the frame, in the frame's own order.
    pub fn members(&self) -> &[usize] {
        match self {
            Self::Dense(frame) => frame.members(),
            Self::Banded(frame) => frame.members(),
        }
    }

    /// Splits row `id` into a combination of the members (`share`, in their order) and the rest, perpendicular
    /// to them; returns the rest's length.
    pub fn split(&mut self, id: usize, share: &mut Vec<f64>, rest: &mut [f64]) -> f64 {
        match self {
            Self::Dense(frame) => frame.split(id, share, rest),
            Self::Banded(frame) => frame.split(id, share, rest),
        }
    }

    /// Adds row `id`, just split, to the members.
    pub fn push(&mut self, id: usize) {
        match self {
            Self::Dense(frame) => frame.push(id),
            Self::Banded(frame) => frame.push(id),
        }
    }

    /// Makes the listed rows the members at once, where that is cheaper than one by one and safe; false, and no
    /// members, where it is not.
    pub fn fill(&mut self, ids: impl Iterator<Item = usize>) -> bool {
        match self {
            Self::Dense(_) => false,
            Self::Banded(frame) => frame.fill(ids),
        }
    }

    /// An estimate of the smallest singular value of members that were filled in at once.
    pub fn smallest_singular_value(&self) -> f64 {
        match self {
            Self::Dense(_) => 1.0,
            Self::Banded(frame) => frame.smallest_singular_value(),
        }
    }

    /// Removes a member by its place.
    pub fn remove(&mut self, place: usize) {
        match self {
            Self::Dense(frame) => frame.remove(place),
            Self::Banded(frame) => frame.remove(place),
        }
    }

    /// The shortest u with c·u = h on the members, and its multipliers, in the members' order.
    pub fn solve(&mut self, h: &[f64], p: &mut Vec<f64>, u: &mut [f64]) {
        match self {
            Self::Dense(frame) => frame.solve(h, p, u),
            Self::Banded(frame) => frame.solve(h, p, u),
        }
    }
}

/// One constraint: a row and what is asked of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requirement {
    /// The row's number.
    pub row: usize,
    /// h: c·u must reach this.
    pub least: f64,
    /// c·u must equal it.
    pub equality: bool,
}

/// The nearest point and its multipliers.
#[derive(Debug, Clone)]
pub(crate) struct Nearest {
    /// The shortest u.
    pub u: Vec<f64>,
    /// The multiplier of each requirement.
    pub p: Vec<f64>,
    /// c·u − h of each requirement.
    pub slack: Vec<f64>,
    /// Whether any u satisfies all requirements.
    pub feasible: bool,
    /// If none does: the places of requirements whose rows, the inequalities with positive weights, combine to zero although
    /// what they ask for does not.
    pub proof: Vec<usize>,
}

/// Finds the shortest u that meets every requirement. `tolerance` is the length of a unit row's rest below which it
/// counts as dependent.
pub(crate) fn nearest(rows: &Rows, requirements: &[Requirement], tolerance: f64) -> Nearest {
    let ids: Vec<usize> = requirements.iter().map(|d| d.row).collect();
    let frame = Frame::new(rows, &ids);
    let banded = matches!(frame, Frame::Banded(_));
    let (found, worst) = search(rows, requirements, &ids, tolerance, frame);
    if banded && worst > tolerance {
        // Rows closer to dependence than a Gram matrix resolves.
        let dense = Frame::Dense(Dense::new(rows, ids.len().min(rows.dimension)));
        return search(rows, requirements, &ids, tolerance, dense).0;
    }
    found
}

/// The nearest point, and how far it is from meeting the requirements, relative to their size.
fn search<'a>(
    rows: &'a Rows,
    requirements: &'a [Requirement],
    ids: &[usize],
    tolerance: f64,
    frame: Frame<'a>,
) -> (Nearest, f64) {
    let mut search = Search {
        rows,
        requirements,
        tolerance,
        frame,
        place_of: place_of(rows, ids),
        u: vec![0.0; rows.dimension],
        p: vec![0.0; requirements.len()],
        active: vec![false; requirements.len()],
        set_aside: vec![false; requirements.len()],
        proof: Vec::new(),
        largest: requirements.iter().fold(0.0, |m: f64, d| m.max(d.least.abs())),
        share: Vec::new(),
        rest: vec![0.0; rows.dimension],
    };
    let feasible = search.run();
    let scale = search.largest;
    let found = search.finish(feasible);
    let worst =
        found.slack.iter().zip(&found.p).zip(requirements).fold(0.0, |worst: f64, ((&slack, &p), d)| {
            let miss = if d.equality || p > 0.0 { slack.abs() } else { -slack };
            if miss.is_nan() { f64::INFINITY } else { worst.max(miss) }
        });
    let size = scale + crate::metric::norm(&found.u);
    (found, if size > 0.0 { worst / size } else { worst })
}

/// The requirement of each row number.
fn place_of(rows: &Rows, ids: &[usize]) -> Vec<usize> {
    let mut place = vec![usize::MAX; rows.len()];
    for (k, &id) in ids.iter().enumerate() {
        place[id] = k;
    }
    place
}

struct Search<'a> {
    rows: &'a Rows,
    requirements: &'a [Requirement],
    tolerance: f64,
    frame: Frame<'a>,
    place_of: Vec<usize>,
    u: Vec<f64>,
    p: Vec<f64>,
    active: Vec<bool>,
    /// Rows violated by less than their dependence on the active ones can resolve.
    set_aside: Vec<bool>,
    /// The requirements that contradict each other.
    proof: Vec<usize>,
    largest: f64,
    share: Vec<f64>,
    rest: Vec<f64>,
}

impl Search<'_> {
    fn run(&mut self) -> bool {
        if self.leap() {
            return true;
        }
        for k in 0..self.requirements.len() {
            if self.requirements[k].equality && !self.enter(k) {
                return false;
            }
        }
        // Each row enters a few times at most in practice; the bound only guards against rounding cycles.
        let bound = 20 * (self.requirements.len() + 8);
        for _ in 0..bound {
            let Some(k) = self.most_violated() else { return true };
            if !self.enter(k) {
                return false;
            }
        }
        true
    }

    /// Tries whole sets: all rows with a wrong sign change sides at once (block principal pivoting, Júdice and
    /// Pires 1994). A handful of trials mostly settles large sparse systems; otherwise nothing is lost.
    fn leap(&mut self) -> bool {
        let mut chosen: Vec<bool> = self.requirements.iter().map(|d| d.equality || d.least > 0.0).collect();
        let (mut fewest, mut patience) = (usize::MAX, 3);
        let mut multipliers = Vec::new();
        loop {
            let ids =
                self.requirements.iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|(d, _)| d.row);
            if !self.frame.fill(ids) {
                return false;
            }
            let h: Vec<f64> =
                self.frame.members().iter().map(|&id| self.requirements[self.place_of[id]].least).collect();
            self.frame.solve(&h, &mut multipliers, &mut self.u);
            let level = self.rounding();
            let mut wrong = Vec::new();
            for (&id, &p) in self.frame.members().iter().zip(&multipliers) {
                let k = self.place_of[id];
                if p < 0.0 && !self.requirements[k].equality {
                    wrong.push(k);
                }
            }
            for (k, requirement) in self.requirements.iter().enumerate() {
                if !chosen[k] && requirement.least - self.rows.dot(requirement.row, &self.u) > level {
                    wrong.push(k);
                }
            }
            if wrong.is_empty() {
                return true;
            }
            if wrong.len() < fewest {
                (fewest, patience) = (wrong.len(), 3);
            } else if patience == 0 {
                self.frame.fill(std::iter::empty());
                self.u.fill(0.0);
                return false;
            } else {
                patience -= 1;
            }
            for k in wrong {
                chosen[k] = !chosen[k];
            }
        }
    }

    fn rounding(&self) -> f64 {
        16.0 * f64::EPSILON * (self.largest + crate::metric::norm(&self.u))
    }

    fn most_violated(&self) -> Option<usize> {
        let mut worst = (None, self.rounding());
        for (k, requirement) in self.requirements.iter().enumerate() {
            if self.active[k] || requirement.equality || self.set_aside[k] {
                continue;
            }
            let violation = requirement.least - self.rows.dot(requirement.row, &self.u);
            if violation > worst.1 {
                worst = (Some(k), violation);
            }
        }
        worst.0
    }

    /// Makes requirement k hold; false when that is impossible.
    fn enter(&mut self, k: usize) -> bool {
        let requirement = self.requirements[k];
        let mut before: Option<(Vec<usize>, Vec<f64>, Vec<f64>)> = None;
        loop {
            let length = self.frame.split(requirement.row, &mut self.share, &mut self.rest);
            let missing = requirement.least - self.rows.dot(requirement.row, &self.u);
            let independent = length > self.tolerance;
            // The multiplier of k grows by t (falls, for an equality overshot), those of the members by −t share.
            let sign = if missing < 0.0 { -1.0 } else { 1.0 };
            let full = if independent { missing.abs() / (length * length) } else { f64::INFINITY };
            let (mut t, mut leaving) = (full, None);
            for (place, &id) in self.frame.members().iter().enumerate() {
                let j = self.place_of[id];
                let fall = sign * self.share[place];
                if fall > 0.0 && !self.requirements[j].equality {
                    let limit = self.p[j] / fall;
                    if limit < t {
                        (t, leaving) = (limit, Some(place));
                    }
                }
            }
            if !t.is_finite() {
                // Dependent and nothing can leave: already met up to what the tolerance resolves, or impossible.
                let members = self.frame.members().iter().zip(&self.share);
                let opposed = members.filter(|(_, share)| share.abs() > self.tolerance);
                self.proof = opposed.map(|(&id, _)| self.place_of[id]).chain([k]).collect();
                if let Some((members, p, u)) = before {
                    self.restore(&members, p, u);
                }
                let missing = requirement.least - self.rows.dot(requirement.row, &self.u);
                let resolved = 10.0 * self.tolerance * (self.largest + crate::metric::norm(&self.u));
                self.set_aside[k] = true;
                return missing.abs() <= resolved.max(self.rounding());
            }
            if leaving.is_some() && before.is_none() {
                before = Some((self.frame.members().to_vec(), self.p.clone(), self.u.clone()));
            }
            for (place, &id) in self.frame.members().iter().enumerate() {
                self.p[self.place_of[id]] -= sign * t * self.share[place];
            }
            self.p[k] += sign * t;
            if independent {
                for (u, rest) in self.u.iter_mut().zip(&self.rest) {
                    *u += sign * t * rest;
                }
            }
            match leaving {
                None => {
                    self.frame.push(requirement.row);
                    self.active[k] = true;
                    return true;
                }
                Some(place) => {
                    let j = self.place_of[self.frame.members()[place]];
                    self.p[j] = 0.0;
                    self.active[j] = false;
                    self.frame.remove(place);
                }
            }
        }
    }

    /// Undoes what a row that cannot enter after all has done on its way.
    fn restore(&mut self, members: &[usize], p: Vec<f64>, u: Vec<f64>) {
        while let Some(place) = self.frame.members().len().checked_sub(1) {
            self.frame.remove(place);
        }
        self.active.fill(false);
        for &id in members {
            self.frame.split(id, &mut self.share, &mut self.rest);
            self.frame.push(id);
            self.active[self.place_of[id]] = true;
        }
        (self.p, self.u) = (p, u);
    }

    /// u and p afresh from the active set.
    fn finish(mut self, feasible: bool) -> Nearest {
        let members = self.frame.members().to_vec();
        let h: Vec<f64> = members.iter().map(|&id| self.requirements[self.place_of[id]].least).collect();
        let mut multipliers = Vec::new();
        self.frame.solve(&h, &mut multipliers, &mut self.u);
        self.p.fill(0.0);
        for (&id, &value) in members.iter().zip(&multipliers) {
            let j = self.place_of[id];
            // A multiplier that the fresh solution turns negative is zero up to rounding.
            self.p[j] = if self.requirements[j].equality { value } else { value.max(0.0) };
        }
        let slack = self.requirements.iter().map(|d| self.rows.dot(d.row, &self.u) - d.least).collect();
        let proof = if feasible { Vec::new() } else { self.proof };
        Nearest { u: self.u, p: self.p, slack, feasible, proof }
    }
}
