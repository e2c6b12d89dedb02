//! Bodies in a periodic box: of all the images of a body, the nearest, and the first that is met.
//!
//! A box of lengths L repeats a body at c + (k₁L₁, k₂L₂, k₃L₃) for all integers k; a length of zero is an open
//! direction. An image matters only where the balls about the bodies come within reach, which their centres tell:
//! every gap is at least the centres' distance less the circumradii.
//!
//! The first contact is searched for in pieces of time in which the centres move by at most half a box against each
//! other. In each piece the images within reach are listed, those whose balls do not meet are left out, and the others are
//! searched. So the work grows with the boxes crossed, not with all those in range of the whole flight.

use nalgebra::{Isometry3, Vector3};

use super::bound::first_root;
use super::pair::clear_of;
use super::{Meeting, Moving, Search, Start, Window, first_contact};
use crate::gap::{Gap, gap};
use crate::motion::Motion;
use crate::shape::{Convex, length};

/// A periodic box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodic {
    /// Its lengths; zero for a direction that is open.
    pub lengths: Vector3<f64>,
}

/// The most images within reach at a time, and the most pieces of time. Beyond them a search is undecided.
const MOST_IMAGES: f64 = 100_000.0;
const MOST_PIECES: u32 = 10_000_000;

impl Periodic {
    /// The least gap of a body and the images of another, with the displacement of the nearest image. `None` between two
    /// points, and where a box is so small that more than 10⁵ images are in question.
    #[must_use]
    pub fn nearest<A: Convex, B: Convex>(
        &self,
        first: (&A, &Isometry3<f64>),
        second: (&B, &Isometry3<f64>),
    ) -> Option<(Gap, Vector3<f64>)> {
        let apart = second.1.translation.vector - first.1.translation.vector;
        self.nearest_of(first, second, &apart, |_| true)
    }

    /// The least gap of a body and its own images; `None` where nothing repeats, too.
    #[must_use]
    pub fn nearest_own<S: Convex>(&self, body: (&S, &Isometry3<f64>)) -> Option<(Gap, Vector3<f64>)> {
        self.nearest_of(body, body, &Vector3::zeros(), is_ahead)
    }

    fn nearest_of<A: Convex, B: Convex>(
        &self,
        first: (&A, &Isometry3<f64>),
        second: (&B, &Isometry3<f64>),
        apart: &Vector3<f64>,
        counts: impl Fn(&Vector3<f64>) -> bool,
    ) -> Option<(Gap, Vector3<f64>)> {
        let size = first.0.circumradius() + second.0.circumradius();
        let measure = |image: &Vector3<f64>| {
            let mut pose = *second.1;
            pose.translation.vector += image;
            gap(first, (second.0, &pose)).map(|found| (found, *image))
        };
        // The image with the nearest centre sets how far to look.
        let start = self.first_guess(apart, &counts)?;
        let mut best = measure(&start)?;
        let reach = best.0.gap + size;
        if self.count(apart, reach) > MOST_IMAGES {
            return None;
        }
        self.each(apart, reach, |image| {
            let far = length(&(apart + image)) - size;
            if image != start
                && counts(&image)
                && far < best.0.gap
                && let Some(found) = measure(&image)
                && found.0.gap < best.0.gap
            {
                best = found;
            }
        });
        Some(best)
    }

    /// The image with the nearest centre, of those that count.
    fn first_guess(
        &self,
        apart: &Vector3<f64>,
        counts: &impl Fn(&Vector3<f64>) -> bool,
    ) -> Option<Vector3<f64>> {
        let nearest = self.nearest_centre(apart);
        if counts(&nearest) {
            return Some(nearest);
        }
        // Its own images: the shortest length.
        let shortest = (0..3)
            .filter(|&i| self.lengths[i] > 0.0)
            .reduce(|a, b| if self.lengths[b] < self.lengths[a] { b } else { a })?;
        let mut image = Vector3::zeros();
        image[shortest] = self.lengths[shortest];
        Some(image)
    }

    /// The displacement by whole boxes that brings a centre at `apart` nearest to the origin.
    #[must_use]
    pub fn nearest_centre(&self, apart: &Vector3<f64>) -> Vector3<f64> {
        apart.zip_map(&self.lengths, |x, l| if l > 0.0 { -libm::round(x / l) * l } else { 0.0 })
    }

    /// The first contact of a body with another or any image of it.
    #[must_use]
    pub fn first_contact<A: Convex, M: Motion, B: Convex, N: Motion>(
        &self,
        first: Moving<A, M>,
        second: Moving<B, N>,
        window: Window,
    ) -> Search {
        let size = first.shape.circumradius() + second.shape.circumradius();
        let pull = second.motion.acceleration() - first.motion.acceleration();
        let acceleration_bound = first.motion.acceleration_bound() + second.motion.acceleration_bound();
        let mut course = Course { evaluations: 0, best: None, at_start: f64::INFINITY };
        if window.until <= window.from {
            return course.end(window.until, window.until);
        }
        let mut piece = window;
        let half_box = 0.5 * self.shortest();
        for _ in 0..MOST_PIECES {
            let (one, two) = (first.motion.at(piece.from), second.motion.at(piece.from));
            let apart = two.position + second.image - one.position - first.image;
            let speed = two.velocity - one.velocity;
            let sum = apart + speed + pull;
            if !(sum.x + sum.y + sum.z + window.until).is_finite() {
                return course.undecided(piece.from);
            }
            // In an open world there is one image, and the piece is all.
            let (mut span, mut reach) = (f64::INFINITY, f64::INFINITY);
            if half_box.is_finite() {
                let bend = -0.5 * (length(&pull) + acceleration_bound);
                span = first_root(half_box, -length(&speed), bend);
                reach = (size + half_box) * (1.0 + 1e-12);
            }
            piece.until = if span < window.until - piece.from { piece.from + span } else { window.until };
            if self.count(&apart, reach) > MOST_IMAGES || piece.until <= piece.from {
                return course.undecided(piece.from);
            }
            let span = piece.until - piece.from;
            self.each(&apart, reach, |image| {
                if clear_of(&(apart + image), &speed, &pull, acceleration_bound, size, span) < span {
                    let until = course.time().min(piece.until);
                    let found = first_contact(
                        first,
                        second.displaced(second.image + image),
                        Window { until, ..piece },
                    );
                    course.take(&found, image);
                }
            });
            if course.best.is_some() || piece.until >= window.until {
                break;
            }
            piece = Window { from: piece.until, until: window.until, start: Start::Anywhere };
        }
        course.end(window.until, piece.until)
    }

    /// The first contact of a body with its own images.
    #[must_use]
    pub fn first_contact_with_own<S: Convex, M: Motion>(&self, body: Moving<S, M>, window: Window) -> Search {
        let mut course = Course { evaluations: 0, best: None, at_start: f64::INFINITY };
        let (nowhere, size) = (Vector3::zeros(), 2.0 * body.shape.circumradius());
        if self.count(&nowhere, size) > MOST_IMAGES {
            return course.undecided(window.from);
        }
        self.each(&nowhere, size, |image| {
            // Where an image is ahead, another is behind, and they are met at once.
            if is_ahead(&image) {
                let until = course.time().min(window.until);
                let found =
                    first_contact(body, body.displaced(body.image + image), Window { until, ..window });
                course.take(&found, image);
            }
        });
        course.end(window.until, window.until)
    }

    /// Whether a body is long enough to meet its own images.
    #[must_use]
    pub fn is_spanned_by<S: Convex>(&self, shape: &S) -> bool {
        self.shortest() <= 2.0 * shape.circumradius()
    }

    fn shortest(&self) -> f64 {
        self.lengths.iter().copied().filter(|&l| l > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// The first and the last k of each direction within reach.
    fn range(&self, apart: &Vector3<f64>, reach: f64) -> [[f64; 2]; 3] {
        core::array::from_fn(|i| {
            let length = self.lengths[i];
            if length > 0.0 {
                [libm::ceil((-apart[i] - reach) / length), libm::floor((reach - apart[i]) / length)]
            } else {
                [0.0, 0.0]
            }
        })
    }

    /// How many images there are in a cube of the reach.
    fn count(&self, apart: &Vector3<f64>, reach: f64) -> f64 {
        self.range(apart, reach).iter().map(|[low, high]| (high - low + 1.0).max(0.0)).product()
    }

    /// Visits the images whose centres are in a cube of the reach about the origin.
    fn each(&self, apart: &Vector3<f64>, reach: f64, mut visit: impl FnMut(Vector3<f64>)) {
        let [xs, ys, zs] = self.range(apart, reach);
        let mut k = Vector3::new(xs[0], ys[0], zs[0]);
        while k.x <= xs[1] {
            k.y = ys[0];
            while k.y <= ys[1] {
                k.z = zs[0];
                while k.z <= zs[1] {
                    visit(k.component_mul(&self.lengths));
                    k.z += 1.0;
                }
                k.y += 1.0;
            }
            k.x += 1.0;
        }
    }
}

/// One of each image and its opposite.
fn is_ahead(image: &Vector3<f64>) -> bool {
    [image.x, image.y, image.z].into_iter().find(|&x| x != 0.0).is_some_and(|x| x > 0.0)
}

/// The first of what was found so far.
struct Course {
    evaluations: u32,
    /// The least gap seen at the beginning of a search.
    at_start: f64,
    best: Option<(Meeting, Vector3<f64>)>,
}

impl Course {
    /// Nothing later than this matters any more.
    fn time(&self) -> f64 {
        match self.best {
            Some((Meeting::At(contact), _)) => contact.time,
            Some((Meeting::Undecided(t), _)) => t,
            Some((Meeting::Overlapping(_), _)) => f64::NEG_INFINITY,
            Some((Meeting::Apart, _)) | None => f64::INFINITY,
        }
    }

    fn take(&mut self, found: &Search, image: Vector3<f64>) {
        self.evaluations = self.evaluations.saturating_add(found.evaluations);
        self.at_start = self.at_start.min(found.at_start);
        let time = match found.meeting {
            Meeting::At(contact) => contact.time,
            Meeting::Undecided(t) => t,
            Meeting::Overlapping(_) => f64::NEG_INFINITY,
            Meeting::Apart => return,
        };
        if time < self.time() {
            self.best = Some((found.meeting, image));
        }
    }

    fn undecided(self, t: f64) -> Search {
        Search {
            meeting: Meeting::Undecided(t),
            image: Vector3::zeros(),
            evaluations: self.evaluations,
            at_start: self.at_start,
        }
    }

    fn end(self, until: f64, reached: f64) -> Search {
        let (evaluations, at_start) = (self.evaluations, self.at_start);
        match self.best {
            Some((meeting, image)) => Search { meeting, image, evaluations, at_start },
            None if reached < until => self.undecided(reached),
            None => Search { meeting: Meeting::Apart, image: Vector3::zeros(), evaluations, at_start },
        }
    }
}
