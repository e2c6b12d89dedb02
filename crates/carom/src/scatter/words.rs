//! A setup, a sample, what it adds and sums over samples as words of 64 bits, which are the same for whatever compiler and processor: so they go to a GPU and back.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::moments::Moments;
use super::sample::{End, Sample};
use super::setup::Setup;
use super::totals::{Audit, BINS, Totals};
use super::worth::{QUANTITIES, Worth};
use crate::body::{Body, State};
use crate::contact::Surface;
use crate::scene::model::{Spin, Translation};
use crate::shape::Shape;
use crate::shape::single::Sizes;

/// The words of a setup.
pub const SETUP_WORDS: usize = 44;

/// The words of a sample.
pub const SAMPLE_WORDS: usize = 61;

/// The words of sums over samples.
pub const TOTALS_WORDS: usize = MOMENTS_AT + QUANTITIES * MOMENTS_WORDS + BINS;

/// The words of what a sample adds to them.
pub const WORTH_WORDS: usize = 6 + 2 * QUANTITIES;

/// Where the moments are in the words of sums, and the words of each.
pub const MOMENTS_AT: usize = 13;
/// See [`MOMENTS_AT`].
pub const MOMENTS_WORDS: usize = 6;

/// The first word of a sample that was not followed to its end.
pub const LEFT: u64 = 0xff;

const PARTED: u64 = 1;
const UNRESOLVED: u64 = 2;
const HIT: u64 = 1 << 8;
const HAS_CHORD: u64 = 1 << 9;
const CONTINUED: u64 = 1 << 10;
const IMPACTS: u32 = 32;

/// Words one after another.
struct Reader<R> {
    get: R,
    next: usize,
}

impl<R: Fn(usize) -> u64> Reader<R> {
    fn word(&mut self) -> u64 {
        self.next += 1;
        (self.get)(self.next - 1)
    }

    fn number(&mut self) -> f64 {
        f64::from_bits(self.word())
    }

    fn vector(&mut self) -> Vector3<f64> {
        let [x, y, z] = [0; 3].map(|_| self.number());
        Vector3::new(x, y, z)
    }

    fn moments(&mut self) -> Moments {
        let [count, x, y, xx, xy, yy] = [0; 6].map(|_| self.number());
        Moments { count, mean: [x, y], spread: [xx, xy, yy] }
    }

    fn maybe(&mut self) -> Option<u64> {
        let (is, word) = (self.word(), self.word());
        (is != 0).then_some(word)
    }

    fn state(&mut self) -> State {
        let position = self.vector();
        let [i, j, k, w] = [0; 4].map(|_| self.number());
        let orientation = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
        State { position, orientation, velocity: self.vector(), angular_velocity: self.vector() }
    }
}

struct Writer<W> {
    put: W,
    next: usize,
}

impl<W: FnMut(usize, u64)> Writer<W> {
    fn word(&mut self, word: u64) {
        (self.put)(self.next, word);
        self.next += 1;
    }

    fn number(&mut self, x: f64) {
        self.word(x.to_bits());
    }

    fn vector(&mut self, v: &Vector3<f64>) {
        for x in [v.x, v.y, v.z] {
            self.number(x);
        }
    }

    fn moments(&mut self, Moments { count, mean, spread }: &Moments) {
        self.number(*count);
        for x in mean.iter().chain(spread) {
            self.number(*x);
        }
    }

    fn maybe(&mut self, word: Option<u64>) {
        self.word(u64::from(word.is_some()));
        self.word(word.unwrap_or(0));
    }

    fn state(&mut self, state: &State) {
        self.vector(&state.position);
        let q = state.orientation;
        for x in [q.i, q.j, q.k, q.w] {
            self.number(x);
        }
        self.vector(&state.velocity);
        self.vector(&state.angular_velocity);
    }
}

impl Setup {
    /// Its words; none if a body is not an ellipsoid or a superellipsoid, or if the surface is not smooth.
    #[must_use]
    pub fn words(&self) -> Option<[u64; SETUP_WORDS]> {
        if self.surface != Surface::Smooth {
            return None;
        }
        let mut words = [0; SETUP_WORDS];
        let mut writer = Writer { put: |k: usize, word| words[k] = word, next: 0 };
        for body in &self.bodies {
            let (axes, exponent) = match body.shape {
                Shape::Ellipsoid { semi_axes } => (semi_axes, 2.0),
                Shape::Superellipsoid { semi_axes, exponent } => (semi_axes, exponent),
                _ => return None,
            };
            for a in axes {
                writer.number(a);
            }
            writer.number(exponent);
            writer.number(body.mass);
            writer.vector(&body.inertia);
            writer.word(u64::from(body.fixed));
            let Sizes { circumradius, inradius, rolling_radius, lever, size } = Sizes::of(&body.shape);
            for x in [circumradius, inradius, rolling_radius, lever, size] {
                writer.number(x);
            }
        }
        let (hot, x) = match self.translation {
            Translation::Speed(x) => (0, x),
            Translation::Temperature(x) => (1, x),
        };
        writer.word(hot);
        writer.number(x);
        let (hot, x) = match self.spin {
            Spin::Speed(x) => (0, x),
            Spin::Temperature(x) => (1, x),
        };
        writer.word(hot);
        writer.number(x);
        for word in self.key {
            writer.word(u64::from(word));
        }
        writer.number(self.restitution);
        writer.word(u64::from(self.unilateral));
        writer.number(self.reach);
        writer.number(self.reduced_mass);
        (writer.next <= SETUP_WORDS).then_some(words)
    }

    /// The setup of such words, and the sizes of its bodies.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "words of 32 bits each")]
    pub fn of_words(get: impl Fn(usize) -> u64) -> (Self, [Sizes; 2]) {
        let mut reader = Reader { get, next: 0 };
        let parts = [0; 2].map(|_| {
            let semi_axes = [0; 3].map(|_| reader.number());
            let exponent = reader.number();
            let shape = if exponent <= 2.0 {
                Shape::Ellipsoid { semi_axes }
            } else {
                Shape::Superellipsoid { semi_axes, exponent }
            };
            let (mass, inertia, fixed) = (reader.number(), reader.vector(), reader.word() != 0);
            let [circumradius, inradius, rolling_radius, lever, size] = [0; 5].map(|_| reader.number());
            let sizes = Sizes { circumradius, inradius, rolling_radius, lever, size };
            (Body { shape, mass, inertia, fixed }, sizes)
        });
        let translation = match (reader.word(), reader.number()) {
            (0, speed) => Translation::Speed(speed),
            (_, temperature) => Translation::Temperature(temperature),
        };
        let spin = match (reader.word(), reader.number()) {
            (0, speed) => Spin::Speed(speed),
            (_, temperature) => Spin::Temperature(temperature),
        };
        let setup = Self {
            bodies: parts.map(|part| part.0),
            translation,
            spin,
            key: [0; 8].map(|_| reader.word() as u32),
            surface: Surface::Smooth,
            restitution: reader.number(),
            unilateral: reader.word() != 0,
            reach: reader.number(),
            reduced_mass: reader.number(),
        };
        (setup, parts.map(|part| part.1))
    }
}

impl Sample {
    /// Hands its words on, each with its place.
    pub fn write(&self, put: impl FnMut(usize, u64)) {
        let mut writer = Writer { put, next: 0 };
        let end = match self.end {
            End::Missed => 0,
            End::Parted => PARTED,
            End::Unresolved => UNRESOLVED,
        };
        let flag = |is: bool, bit: u64| if is { bit } else { 0 };
        writer.word(
            end | flag(self.is_hit(), HIT)
                | flag(self.chord.is_some(), HAS_CHORD)
                | flag(self.continued, CONTINUED)
                | u64::from(self.impacts) << IMPACTS,
        );
        for x in self.offset {
            writer.number(x);
        }
        for state in self.before.iter().chain(&self.after) {
            writer.state(state);
        }
        let numbers = [
            self.contact_time.unwrap_or(0.0),
            self.ahead,
            self.chord.unwrap_or(0.0),
            self.virial,
            self.work,
            self.audit_error,
        ];
        for x in numbers {
            writer.number(x);
        }
    }

    /// The sample of this number from its words; none if it was [`LEFT`].
    #[must_use]
    pub fn read(number: u64, get: impl Fn(usize) -> u64) -> Option<Self> {
        let mut reader = Reader { get, next: 0 };
        let head = reader.word();
        if head == LEFT {
            return None;
        }
        let offset = [0; 2].map(|_| reader.number());
        let before = [0; 2].map(|_| reader.state());
        let after = [0; 2].map(|_| reader.state());
        let [time, ahead, chord, virial, work, audit_error] = [0; 6].map(|_| reader.number());
        Some(Self {
            number,
            end: match head & 0xff {
                PARTED => End::Parted,
                UNRESOLVED => End::Unresolved,
                _ => End::Missed,
            },
            impacts: (head >> IMPACTS) as u32,
            offset,
            before,
            after,
            contact_time: (head & HIT != 0).then_some(time),
            ahead,
            chord: (head & HAS_CHORD != 0).then_some(chord),
            virial,
            work,
            audit_error,
            continued: head & CONTINUED != 0,
        })
    }
}

impl Totals {
    /// Hands its words on, each with its place.
    pub fn write(&self, put: impl FnMut(usize, u64)) {
        let mut writer = Writer { put, next: 0 };
        for count in [self.samples, self.hits, self.unresolved, self.continued] {
            writer.word(count);
        }
        writer.maybe(self.first_unresolved);
        writer.word(self.hash);
        let Audit { energy_error_max, linear_error_max, angular_error_max, impact_error_max, worst_sample } =
            self.audit;
        for error in [energy_error_max, linear_error_max, angular_error_max, impact_error_max] {
            writer.number(error);
        }
        writer.maybe(worst_sample);
        for moments in &self.moments {
            writer.moments(moments);
        }
        for count in self.bins {
            writer.word(count);
        }
    }

    /// The sums of such words.
    #[must_use]
    pub fn read(get: impl Fn(usize) -> u64) -> Self {
        let mut reader = Reader { get, next: 0 };
        let [samples, hits, unresolved, continued] = [0; 4].map(|_| reader.word());
        let (first_unresolved, hash) = (reader.maybe(), reader.word());
        let [energy_error_max, linear_error_max, angular_error_max, impact_error_max] =
            [0; 4].map(|_| reader.number());
        let worst_sample = reader.maybe();
        let audit =
            Audit { energy_error_max, linear_error_max, angular_error_max, impact_error_max, worst_sample };
        Self {
            samples,
            hits,
            unresolved,
            continued,
            first_unresolved,
            hash,
            audit,
            moments: [0; QUANTITIES].map(|_| reader.moments()),
            bins: [0; BINS].map(|_| reader.word()),
        }
    }
}

impl Moments {
    /// Hands its words on, each with its place among the [`MOMENTS_WORDS`].
    pub fn write(&self, put: impl FnMut(usize, u64)) {
        Writer { put, next: 0 }.moments(self);
    }
}

/// The bits of the first word of a [`Worth`] from which on there is one for each quantity, and the bin.
const QUANTITY_BITS: u32 = 16;
const BIN_BITS: u32 = 40;
const HAS_BIN: u64 = 1 << 11;

impl Worth {
    /// Hands its words on, each with its place.
    pub fn write(&self, put: impl FnMut(usize, u64)) {
        let mut writer = Writer { put, next: 0 };
        let end = match self.end {
            End::Missed => 0,
            End::Parted => PARTED,
            End::Unresolved => UNRESOLVED,
        };
        let flag = |is: bool, bit: u64| if is { bit } else { 0 };
        let mut head = end | flag(self.hit, HIT) | flag(self.continued, CONTINUED);
        if let Some(bin) = self.bin {
            head |= HAS_BIN | (bin as u64) << BIN_BITS;
        }
        for (k, pair) in self.pairs.iter().enumerate() {
            head |= flag(pair.is_some(), 1 << QUANTITY_BITS << k);
        }
        writer.word(head);
        writer.word(self.hash);
        let Audit { energy_error_max, linear_error_max, angular_error_max, impact_error_max, .. } =
            self.audit;
        for error in [energy_error_max, linear_error_max, angular_error_max, impact_error_max] {
            writer.number(error);
        }
        for pair in self.pairs {
            let [x, y] = pair.unwrap_or([0.0; 2]);
            writer.number(x);
            writer.number(y);
        }
    }

    /// From such words, without the pairs.
    #[must_use]
    pub fn read(number: u64, get: impl Fn(usize) -> u64) -> Self {
        let mut reader = Reader { get, next: 0 };
        let (head, hash) = (reader.word(), reader.word());
        let [energy_error_max, linear_error_max, angular_error_max, impact_error_max] =
            [0; 4].map(|_| reader.number());
        Self {
            number,
            end: match head & 0xff {
                PARTED => End::Parted,
                UNRESOLVED => End::Unresolved,
                _ => End::Missed,
            },
            hit: head & HIT != 0,
            continued: head & CONTINUED != 0,
            hash,
            bin: (head & HAS_BIN != 0).then_some((head >> BIN_BITS) as usize),
            audit: Audit {
                energy_error_max,
                linear_error_max,
                angular_error_max,
                impact_error_max,
                worst_sample: Some(number),
            },
            pairs: [None; QUANTITIES],
        }
    }

    /// One of the pairs from such words.
    #[must_use]
    pub fn read_pair(quantity: usize, get: impl Fn(usize) -> u64) -> Option<[f64; 2]> {
        let is = get(0) >> QUANTITY_BITS >> quantity & 1 != 0;
        is.then(|| [0, 1].map(|k| f64::from_bits(get(6 + 2 * quantity + k))))
    }
}
