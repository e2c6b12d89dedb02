//! The next event of any body: its neighbours one by one, and searches for contacts that have no closed form.
//!
//! This changes nothing: what it finds besides the event is handed back as [`Findings`].

use nalgebra::{Matrix3, Vector3};
use wide::f64x2;

use super::index;
use super::lists::Neighbour;
use super::next_event::{NextEvent, PLANE};
use super::overlay::Overlay;
use super::predict::{CLOSE, ClosePairs, Parted, WORD, has_parted};
use super::rotation::{BodyMotion, RotationRef};
use super::shape_class::ShapeClass;
use super::spheres;
use super::storage::{RelativeMotions, SurfacePath, Trajectory};
use crate::shape::{Convex, HalfSpace, unit};
use crate::toi::{
    Meeting, Moving, Search, Start, Touch, Window, first_contact_near, first_contact_with_plane,
};

/// What a prediction finds besides the next event, with its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct Findings {
    candidates: Vec<Candidate>,
    pub displacement_bounds: Vec<DisplacementBound>,
    pub close: ClosePairs,
    /// The number of searches, and of gaps evaluated in them.
    pub searches: u64,
    pub gaps: u64,
    pub deepest_overlap: f64,
    /// A pair whose search failed: body, neighbour, image.
    pub failed: Option<(u32, u32, u16)>,
}

impl Findings {
    pub fn clear(&mut self) {
        self.displacement_bounds.clear();
        self.close.clear();
        (self.searches, self.gaps, self.deepest_overlap, self.failed) = (0, 0, 0.0, None);
    }
}

/// A body and a neighbour cannot touch before the sum of their surface path lengths reaches this bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DisplacementBound {
    pub body: u32,
    /// The neighbour's place in the body's list.
    pub entry: u32,
    pub path_length: f32,
}

/// A neighbour to be searched.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    partner: u32,
    image: u16,
    /// Its place in the body's list.
    entry: u32,
    /// When the bounding spheres touch and part, from the present on.
    window: [f64; 2],
    /// When spheres with radii halfway between the inscribed and the bounding ones would touch: an estimate of which contact is first.
    estimate: f64,
}

/// The body whose next event is predicted, at the present time.
#[derive(Debug, Clone, Copy)]
struct Subject<'a> {
    i: usize,
    t: f64,
    trajectory: Trajectory,
    /// Its centre.
    here: Vector3<f64>,
    /// Its circumradius at the start.
    radius: f64,
    /// The scale of all sizes, and its rate.
    scale: f64,
    growth: f64,
    parted: &'a [Parted],
}

/// Displacement bounds are reduced by this share of the lengths involved, so that rounding does not matter.
const BOUND_MARGIN: f64 = 1e-6;

impl Overlay<'_> {
    /// A body's next event. Neighbours in `parted` have just been touched and part. `None` if the body cannot collide.
    pub fn next_event(
        &self,
        i: usize,
        t: f64,
        parted: &[Parted],
        findings: &mut Findings,
    ) -> Option<NextEvent> {
        if !self.particles.class(i).can_collide {
            return None;
        }
        Some(match (self.particles.nonspherical, self.settings.growth != 0.0) {
            (false, false) => self.next_event_as::<false, false>(i, t, parted, findings),
            (false, true) => self.next_event_as::<false, true>(i, t, parted, findings),
            (true, false) => self.next_event_as::<true, false>(i, t, parted, findings),
            (true, true) => self.next_event_as::<true, true>(i, t, parted, findings),
        })
    }

    #[inline]
    fn next_event_as<const NONSPHERICAL: bool, const GROWS: bool>(
        &self,
        i: usize,
        t: f64,
        parted: &[Parted],
        findings: &mut Findings,
    ) -> NextEvent {
        let trajectory = self.kinematics(i).trajectory;
        let (scale, growth) = if GROWS { (self.scale_at(t), self.settings.growth) } else { (1.0, 0.0) };
        let (here, radius) = (trajectory.at(t), self.particles.radius(i));
        let subject = Subject { i, t, trajectory, here, radius, scale, growth, parted };
        let mut best = NextEvent::leave(self.exit_time(i, t));
        findings.candidates.clear();
        let mut selection = Selection::new(self.neighbours(i));
        loop {
            let select = |neighbours: &[Neighbour], first| {
                if NONSPHERICAL && !GROWS { self.select(i, t, best.time, neighbours, first) } else { !0 }
            };
            let Some((entry, neighbour)) = selection.next(select) else { break };
            if neighbour.partner >= PLANE {
                self.look_at_plane::<NONSPHERICAL>(&subject, entry, neighbour, &mut best, findings);
            } else {
                self.look_at_body::<NONSPHERICAL, GROWS>(&subject, entry, neighbour, &mut best, findings);
            }
        }
        if NONSPHERICAL && !findings.candidates.is_empty() {
            best = self.search_candidates(&subject, best, findings);
        }
        best
    }

    /// A plane: its contact with a sphere in closed form, or a candidate for a search.
    #[inline(always)]
    fn look_at_plane<const NONSPHERICAL: bool>(
        &self,
        subject: &Subject,
        entry: usize,
        neighbour: &Neighbour,
        best: &mut NextEvent,
        findings: &mut Findings,
    ) {
        let Subject { t, radius, scale, .. } = *subject;
        let Neighbour { partner, image, .. } = *neighbour;
        let plane = &self.world.planes[(partner - PLANE) as usize];
        let height = plane.height(&subject.here) - radius * scale;
        let speed = plane.normal.dot(&subject.trajectory.velocity) - radius * subject.growth;
        if NONSPHERICAL && neighbour.needs_search() {
            let wait = if height <= 0.0 {
                0.0
            } else if speed < 0.0 {
                (height / -speed) * (1.0 - 1e-9)
            } else {
                f64::INFINITY
            };
            if t + wait < best.time {
                let window = [wait, f64::INFINITY];
                let entry = index(entry);
                findings.candidates.push(Candidate { partner, image, entry, window, estimate: wait });
            }
            return;
        }
        if has_parted(subject.parted, neighbour) {
            return;
        }
        if height <= CLOSE * radius * scale {
            findings.close.push((index(subject.i), partner, image));
        }
        if speed < 0.0 {
            let time = t + height.max(0.0) / -speed;
            if time < best.time {
                *best = NextEvent { time, partner, image, sinks: false };
            }
        }
    }

    /// A body: the contact of two spheres in closed form, or a candidate for a search.
    #[inline(always)]
    fn look_at_body<const NONSPHERICAL: bool, const GROWS: bool>(
        &self,
        subject: &Subject,
        entry: usize,
        neighbour: &Neighbour,
        best: &mut NextEvent,
        findings: &mut Findings,
    ) {
        let Subject { i, t, scale, .. } = *subject;
        let Neighbour { partner, image, .. } = *neighbour;
        let k = partner as usize;
        let theirs = self.kinematics(k);
        let radii = subject.radius + self.particles.radius(k);
        let x = theirs.trajectory.at(t) + self.shift(image) - subject.here;
        let v = theirs.trajectory.velocity - subject.trajectory.velocity;
        let sum = radii * scale;
        let rate = if GROWS { radii * subject.growth } else { 0.0 };
        if NONSPHERICAL && neighbour.needs_search() {
            let limit = best.time.min(theirs.event_time);
            // The surfaces cannot have moved far enough by then.
            let path_length = self.surface_path(i).at(limit) + self.surface_path(k).at(limit);
            if !GROWS && path_length < displacement_bound(self.displacement_bounds(i), entry) {
                return;
            }
            let Some(window) = spheres::contact_window(&x, &v, sum, rate) else { return };
            if t + window[0] >= limit {
                return;
            }
            let inradii: f64 = [i, k].iter().map(|&body| self.particles.class(body).inradius()).sum();
            let middle = 0.5 * (sum + inradii * scale);
            let clearance = x.norm_squared() - middle * middle;
            let estimate =
                if clearance > 0.0 { spheres::contact_time(&x, &v, clearance, middle, rate) } else { 0.0 };
            findings.candidates.push(Candidate { partner, image, entry: index(entry), window, estimate });
            return;
        }
        let clearance = x.norm_squared() - sum * sum;
        if clearance <= CLOSE * sum * sum && !has_parted(subject.parted, neighbour) {
            findings.close.push((index(i), partner, image));
        }
        if !GROWS && spheres::touch_later(x.dot(&v), v.norm_squared(), clearance, best.time - t) {
            return;
        }
        let time = t + spheres::contact_time(&x, &v, clearance, sum, rate);
        if time < best.time && time < theirs.event_time && !has_parted(subject.parted, neighbour) {
            *best = NextEvent { time, partner, image, sinks: false };
        }
    }

    /// Which of some neighbours, the first of which has the place `first` in the list, may have to be looked at: bits. Left out are those
    /// that need a search but, up to the time `until` and up to the neighbour's own event, either have not moved far enough or whose
    /// bounding spheres do not touch. Two at a time, and without branches that are hard to predict.
    fn select(&self, i: usize, t: f64, until: f64, neighbours: &[Neighbour], first: usize) -> u64 {
        let particles = &self.particles;
        let own = self.kinematics(i).trajectory;
        let own_path = self.surface_path(i);
        let own_radius = particles.radius(i);
        let bounds = self.displacement_bounds(i);
        let both = f64x2::splat;
        let (now, latest) = (both(t), both(until));
        let [here, velocity] = [own.at(t), own.velocity].map(|x| [0, 1, 2].map(|k| both(x[k])));
        let mut selected = 0;
        let mut look = |at: [usize; 2]| {
            let two = at.map(|at| neighbours[at]);
            // Planes are always looked at; any body will do in their place.
            let bodies = two.map(|other| if other.partner < PLANE { other.partner as usize } else { i });
            let [one_may, other_may] =
                two.map(|other| u32::from(other.needs_search() && other.partner < PLANE));
            let shifts = two.map(|other| self.shift(other.image));
            let relative =
                RelativeMotions::new(bodies.map(|k| &particles.kinematics[k]), shifts, now, &here, &velocity);
            let [x_dot_v, v_squared, x_squared] = relative.products();
            let sum =
                (both(own_radius) + f64x2::new(bodies.map(|k| particles.radius(k)))) * both(spheres::MARGIN);
            let clearance = x_squared - sum * sum;
            let limit = latest.fast_min(relative.event_time);
            let later = spheres::pairs_touch_later(x_dot_v, v_squared, clearance, limit - now);
            let paths = bodies.map(|k| particles.surface_paths[k]);
            let of = |of: fn(&SurfacePath) -> f64| f64x2::new([of(&paths[0]), of(&paths[1])]);
            let theirs = of(|path| path.length) + of(|path| path.rate) * (limit - of(|path| path.since));
            let path_length =
                both(own_path.length) + both(own_path.rate) * (limit - both(own_path.since)) + theirs;
            let bound = f64x2::new(at.map(|at| displacement_bound(bounds, first + at)));
            let left_out = (later & clearance.simd_gt(f64x2::ZERO)) | path_length.simd_lt(bound);
            let may = one_may | other_may << 1;
            selected |= u64::from(!(left_out.to_bitmask() & may) & 0b11) << at[0];
        };
        for at in (0..neighbours.len()).step_by(2) {
            // The last of an odd number is looked at twice.
            look([at, (at + 1).min(neighbours.len() - 1)]);
        }
        // What was just left out may have been changed by the event.
        for changed in self.changed() {
            for (at, neighbour) in neighbours.iter().enumerate() {
                selected |= u64::from(neighbour.partner == changed.body) << at;
            }
        }
        selected
    }

    /// Searches the candidates, in the order of the estimated times of contact and no farther than the earliest event known.
    fn search_candidates(&self, subject: &Subject, best: NextEvent, findings: &mut Findings) -> NextEvent {
        let Subject { i, t, here, parted, .. } = *subject;
        let mut best = best;
        for candidate in findings.candidates.iter().filter(|candidate| candidate.partner < PLANE) {
            self.particles.rotations.prefetch(candidate.partner as usize);
        }
        findings.candidates.sort_unstable_by(|a, b| {
            a.estimate.total_cmp(&b.estimate).then((a.partner, a.image).cmp(&(b.partner, b.image)))
        });
        let motion = self.motion(i, t, &here, true);
        let form = quadratic_form(self.particles.class(i), &motion);
        for k in 0..findings.candidates.len() {
            let candidate = findings.candidates[k];
            let is_plane = candidate.partner >= PLANE;
            let partner_time =
                if is_plane { f64::INFINITY } else { self.kinematics(candidate.partner as usize).event_time };
            let mut until = (best.time.min(partner_time) - t).min(candidate.window[1]);
            if until.is_infinite() {
                until = self.clock.length;
                best = NextEvent::repredict(t + until);
            }
            let from = candidate.window[0];
            if until <= from {
                continue;
            }
            let parting =
                parted.iter().find(|&p| (p.partner, p.image) == (candidate.partner, candidate.image));
            let start = if parting.is_some() { Start::Parting } else { Start::Anywhere };
            let window = Window { from, until, start };
            let search = if is_plane {
                Some(self.search_plane(subject, &motion, candidate.partner, window))
            } else {
                self.search_body(subject, (&motion, &form), &candidate, window, parting, findings)
            };
            let Some(search) = search else { continue };
            self.keep_findings(subject, &candidate, &search, parting.is_some(), findings);
            take_result(subject, &candidate, &search, partner_time, &mut best, findings);
        }
        best
    }

    fn search_plane(&self, subject: &Subject, motion: &BodyMotion, partner: u32, window: Window) -> Search {
        let plane = &self.world.planes[(partner - PLANE) as usize];
        // Relative to a point on it the plane stays where it is, whatever the scale.
        let centre = subject.here - plane.nearest(&subject.here);
        let motion = BodyMotion { centre, ..*motion };
        let plane = HalfSpace { offset: 0.0, ..*plane };
        first_contact_with_plane(Moving::new(self.particles.class(subject.i), &motion), &plane, window)
    }

    /// `None` if a separating direction shows at once that the two do not touch in the window; that gives a displacement bound.
    fn search_body(
        &self,
        subject: &Subject,
        (own, own_form): (&BodyMotion, &Matrix3<f64>),
        candidate: &Candidate,
        window: Window,
        parting: Option<&Parted>,
        findings: &mut Findings,
    ) -> Option<Search> {
        let Subject { i, t, here, .. } = *subject;
        let k = candidate.partner as usize;
        let starts_now = window.from == 0.0;
        let other = self.motion(k, t, &(here - self.shift(candidate.image)), starts_now);
        let [own_class, their_class] = [i, k].map(|body| self.particles.class(body));
        let normal = match parting {
            Some(parted) => parted.normal,
            None => {
                let forms = own_form + quadratic_form(their_class, &other);
                likely_normal(&forms, &(other.centre - own.centre))
            }
        };
        if starts_now && parting.is_none() && own.growth == 0.0 {
            // Along any direction this is a lower bound of the gap, and rotation can reduce it only so fast.
            let apart = separation((own_class, own), (their_class, &other), &normal);
            let closing = (other.velocity - own.velocity).dot(&normal);
            let turning =
                self.rotation(i).speed() * own_class.lever + self.rotation(k).speed() * their_class.lever;
            let least = apart.min(apart + (closing - turning) * window.until);
            if least > BOUND_MARGIN * self.particles.radius(i) {
                let path_length = self.surface_path(i).at(t) + self.surface_path(k).at(t) + apart;
                findings.displacement_bounds.push(self.displacement_bound(i, candidate.entry, path_length));
                return None;
            }
        }
        let normal = starts_now.then_some(normal);
        Some(first_contact_near(
            Moving::new(own_class, own),
            Moving::new(their_class, &other),
            window,
            normal,
        ))
    }

    /// Keeps what a search found besides the contact.
    fn keep_findings(
        &self,
        subject: &Subject,
        candidate: &Candidate,
        search: &Search,
        parts: bool,
        findings: &mut Findings,
    ) {
        let Subject { i, t, .. } = *subject;
        let k = candidate.partner as usize;
        let is_plane = candidate.partner >= PLANE;
        findings.searches += 1;
        findings.gaps += u64::from(search.evaluations);
        if !is_plane && search.at_start.is_finite() {
            let from = t + candidate.window[0];
            let path_length = self.surface_path(i).at(from) + self.surface_path(k).at(from);
            findings.displacement_bounds.push(self.displacement_bound(
                i,
                candidate.entry,
                path_length + search.at_start,
            ));
        }
        let size = self.particles.radius(i) + if is_plane { 0.0 } else { self.particles.radius(k) };
        if !parts && search.at_start <= CLOSE * size {
            findings.close.push((index(i), candidate.partner, candidate.image));
        }
    }

    /// How a body moves from a time on, relative to a point; `with_rotation` if the search starts at that time.
    fn motion(&self, i: usize, t: f64, from: &Vector3<f64>, with_rotation: bool) -> BodyMotion<'_> {
        let trajectory = &self.kinematics(i).trajectory;
        let rotation = match self.rotation(i) {
            RotationRef::Sphere(_) => None,
            RotationRef::Free(rotation) => Some((&rotation.flight, t - rotation.since)),
        };
        let present_rotation = match self.rotation(i) {
            RotationRef::Free(rotation) if with_rotation => rotation.at(t),
            _ => (nalgebra::UnitQuaternion::identity(), Vector3::zeros()),
        };
        BodyMotion {
            centre: trajectory.at(t) - from,
            velocity: trajectory.velocity,
            rotation,
            present_rotation,
            scale: self.scale_at(t),
            growth: self.settings.growth,
        }
    }

    /// A displacement bound for an entry of a body's list, a little less than the path length.
    fn displacement_bound(&self, i: usize, entry: u32, path_length: f64) -> DisplacementBound {
        let margin = BOUND_MARGIN * (path_length.abs() + self.particles.radius(i));
        #[expect(clippy::cast_possible_truncation, reason = "the margin is larger than the rounding")]
        let path_length = (path_length - margin) as f32;
        DisplacementBound { body: index(i), entry, path_length }
    }
}

/// The displacement bound of an entry; a new list has none.
#[inline(always)]
fn displacement_bound(bounds: Option<&[f32]>, entry: usize) -> f64 {
    bounds.map_or(f64::NEG_INFINITY, |bounds| f64::from(bounds[entry]))
}

/// Makes what a search found the next event, if it is earlier.
fn take_result(
    subject: &Subject,
    candidate: &Candidate,
    search: &Search,
    partner_time: f64,
    best: &mut NextEvent,
    findings: &mut Findings,
) {
    let t = subject.t;
    let Candidate { partner, image, .. } = *candidate;
    match search.meeting {
        Meeting::At(contact) => {
            let time = t + contact.time;
            if time < best.time && time < partner_time {
                *best = NextEvent { time, partner, image, sinks: contact.touch == Touch::Sinking };
            }
        }
        Meeting::Apart => {}
        Meeting::Undecided(reached) if reached > 0.0 && t + reached > t => {
            if t + reached < best.time {
                *best = NextEvent::repredict(t + reached);
            }
        }
        Meeting::Undecided(_) => {
            findings.failed.get_or_insert((index(subject.i), partner, image));
        }
        Meeting::Overlapping(depth) => {
            findings.deepest_overlap = findings.deepest_overlap.max(depth);
            *best = NextEvent { time: t, partner, image, sinks: false };
        }
    }
}

/// The selected neighbours of a list, whose bits are computed one word at a time.
struct Selection<'a> {
    neighbours: &'a [Neighbour],
    /// Where the next word begins, and the bits left of this one.
    next: usize,
    bits: u64,
}

impl<'a> Selection<'a> {
    fn new(neighbours: &'a [Neighbour]) -> Self {
        Self { neighbours, next: 0, bits: 0 }
    }

    /// The next selected neighbour, with its place. `select` gives the bits of some neighbours, the first of which has a place.
    #[inline(always)]
    fn next(&mut self, select: impl Fn(&[Neighbour], usize) -> u64) -> Option<(usize, &'a Neighbour)> {
        while self.bits == 0 {
            if self.next >= self.neighbours.len() {
                return None;
            }
            let word = &self.neighbours[self.next..self.neighbours.len().min(self.next + WORD)];
            self.bits = select(word, self.next) & (!0 >> (WORD - word.len()));
            self.next += WORD;
        }
        let at = self.next - WORD + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some((at, &self.neighbours[at]))
    }
}

/// A direction along which the separation is nearly the gap. For ellipsoids with quadratic forms A and B in world axes it would be that
/// of (A + B)⁻¹ d, with d from centre to centre.
fn likely_normal(sum: &Matrix3<f64>, between: &Vector3<f64>) -> Vector3<f64> {
    // By cofactors: the sum is symmetric and positive definite, and only the direction matters.
    let (a, b, c) = (sum.column(0), sum.column(1), sum.column(2));
    let solved = Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)]).tr_mul(between);
    unit(&solved)
}

/// The quadratic form of the ellipsoid with a body's semi-axes, at present.
fn quadratic_form(class: &ShapeClass, motion: &BodyMotion) -> Matrix3<f64> {
    let axes = motion.present_rotation.0.to_rotation_matrix().into_inner();
    axes * Matrix3::from_diagonal(&class.squared_semi_axes) * axes.transpose()
}

/// The separation of two bodies along a direction at present, a lower bound of the gap.
fn separation(
    (class, motion): (&ShapeClass, &BodyMotion),
    (other, their_motion): (&ShapeClass, &BodyMotion),
    normal: &Vector3<f64>,
) -> f64 {
    let in_body_axes =
        |motion: &BodyMotion, n: &Vector3<f64>| motion.present_rotation.0.inverse_transform_vector(n);
    let support = class.support_height(&in_body_axes(motion, normal))
        + other.support_height(&in_body_axes(their_motion, &-normal));
    normal.dot(&(their_motion.centre - motion.centre)) - support
}
