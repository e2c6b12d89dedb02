//! A scattering on a GPU, batch by batch.

use std::io;

use carom::body::Body;
use carom::contact::Surface;
use carom::scatter::words::{SAMPLE_WORDS, TOTALS_WORDS, WORTH_WORDS};
use carom::scatter::{BLOCK, Sample, Scattering, Totals};
use carom::shape::Shape;
use rayon::prelude::*;

use crate::Unavailable;
use crate::driver::{Argument, Gpu, Memory, Program, words};
use crate::program::Kind;

/// The most samples of a batch, and of one whose samples are wanted one by one; whole numbers of blocks.
const MOST: u64 = 1 << 22;
const MOST_WITH_ROWS: u64 = 1 << 19;

/// The share of the free memory that a batch may take.
const SHARE: u64 = 2;

/// When fewer than one in so many of a batch go on, the CPU takes them over: they no longer fill the GPU.
const LAST: u32 = 512;

/// The most rounds of a batch; the CPU follows what goes on after them.
const ROUNDS: usize = 250;

/// The threads that [`sum`](self) gives a block of samples.
const SUMMANDS: u32 = 16;

/// The counters of a round: of slots to be opened, of active ones, of those whose search has ended.
const COUNTERS: usize = 3;

/// Two bodies and their beam on a GPU.
#[derive(Debug)]
pub struct Scatterer<'a> {
    gpu: Gpu,
    scattering: &'a Scattering,
    program: Program,
    setup: Memory<u64>,
    slot_bytes: usize,
}

/// The memory of a batch.
struct Batch {
    size: u64,
    slots: Memory<u64>,
    worths: Memory<u64>,
    samples: Option<Memory<u64>>,
    sums: Memory<u64>,
    opened: Memory<u32>,
    active: [Memory<u32>; 2],
    done: Memory<u32>,
    left: Memory<u32>,
    left_count: Memory<u32>,
    counters: Memory<u32>,
}

/// A failure of the driver.
fn failed(error: cudarc::driver::DriverError) -> io::Error {
    io::Error::other(format!("the GPU failed: {}", words(error)))
}

/// Why two bodies cannot be scattered on a GPU, and which of them is at fault.
#[must_use]
pub fn unsuited(scattering: &Scattering) -> Option<(usize, &'static str)> {
    if scattering.surface() != Surface::Smooth {
        return Some((0, "has a surface that is not smooth, which is not for a GPU yet"));
    }
    let bodies = scattering.bodies();
    let smooth = |body: &Body| matches!(body.shape, Shape::Ellipsoid { .. } | Shape::Superellipsoid { .. });
    if let Some(body) = bodies.iter().position(|body| !smooth(body)) {
        return Some((body, "is neither an ellipsoid nor a superellipsoid, and not for a GPU yet"));
    }
    // Their flights take elliptic functions, whose kernel fails.
    let symmetric = |body: &Body| {
        let [a, b, c] = [body.inertia.x, body.inertia.y, body.inertia.z];
        body.fixed || a == b || b == c || c == a
    };
    if let Some(body) = bodies.iter().position(|body| !symmetric(body)) {
        return Some((body, "has three different moments of inertia, which is not for a GPU yet"));
    }
    if Kind::of(bodies.map(|body| &body.shape)).is_none() {
        return Some((
            1,
            "is not of the kind of the other: a GPU takes two ellipsoids or two superellipsoids",
        ));
    }
    None
}

impl<'a> Scatterer<'a> {
    /// Makes a scattering ready.
    ///
    /// # Errors
    /// If the driver cannot compile the kernels, or if the bodies are [not suited](unsuited).
    pub fn new(gpu: &Gpu, scattering: &'a Scattering) -> Result<Self, Unavailable> {
        if let Some((_, why)) = unsuited(scattering) {
            return Err(Unavailable::Other(format!("a body {why}")));
        }
        let [first, second] = scattering.bodies();
        let (Some(setup), Some(kind)) = (scattering.setup().words(), Kind::of([&first.shape, &second.shape]))
        else {
            return Err(Unavailable::Other("the bodies are not for a GPU".to_string()));
        };
        let program = gpu.load(&kind.ptx()?)?;
        let other = |error| Unavailable::Other(words(error));
        let mut memory = gpu.memory(setup.len()).map_err(other)?;
        memory.write(&setup).map_err(other)?;
        let size = gpu.memory::<u64>(1).map_err(other)?;
        start_slot_size(&program, &size).map_err(other)?;
        let mut slot = [0];
        size.read(&mut slot).map_err(other)?;
        let slot_bytes =
            usize::try_from(slot[0]).map_err(|_| Unavailable::Other("a slot has no size".to_string()))?;
        Ok(Self { gpu: gpu.clone(), scattering, program, setup: memory, slot_bytes })
    }

    /// All samples, in order: as [`Scattering::run`], with the same results to the bit.
    ///
    /// # Errors
    /// Those of the driver and of `rows`.
    pub fn run(
        &self,
        wanted: bool,
        mut rows: impl FnMut(&[Sample]) -> io::Result<()>,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> io::Result<Totals> {
        let samples = self.scattering.settings().samples;
        let mut totals = Totals::new();
        let mut batch = self.batch(samples, wanted)?;
        let mut from = 0;
        while from < samples {
            let until = samples.min(from.saturating_add(batch.size));
            self.take(&mut batch, from, until, &mut totals, &mut rows)?;
            from = until;
            if from < samples && !go_on(from) {
                break;
            }
        }
        Ok(totals)
    }

    /// Memory for as many samples as are wanted and fit.
    fn batch(&self, samples: u64, wanted: bool) -> io::Result<Batch> {
        let words = WORTH_WORDS + if wanted { SAMPLE_WORDS } else { 0 };
        let each = (self.slot_bytes + 8 * words + 5 * 4) as u64;
        let free = self.gpu.free_memory().map_err(failed)? as u64;
        let most = if wanted { MOST_WITH_ROWS } else { MOST };
        let fit = (free / SHARE / each).min(most).min(samples.next_multiple_of(BLOCK));
        let size = fit / BLOCK * BLOCK;
        let n = usize::try_from(size).map_err(io::Error::other)?;
        if n == 0 {
            return Err(io::Error::other("the GPU has too little free memory"));
        }
        let list = || self.gpu.memory::<u32>(n).map_err(failed);
        let long = |words: usize| self.gpu.memory::<u64>(words).map_err(failed);
        Ok(Batch {
            size,
            slots: long(n * self.slot_bytes.div_ceil(8))?,
            worths: long(n * WORTH_WORDS)?,
            samples: if wanted { Some(long(n * SAMPLE_WORDS)?) } else { None },
            sums: long(n.div_ceil(small(BLOCK)) * TOTALS_WORDS)?,
            opened: list()?,
            active: [list()?, list()?],
            done: list()?,
            left: list()?,
            left_count: self.gpu.memory(1).map_err(failed)?,
            counters: self.gpu.memory(COUNTERS * (ROUNDS + 2)).map_err(failed)?,
        })
    }

    /// Samples `from` to `until`.
    fn take(
        &self,
        batch: &mut Batch,
        from: u64,
        until: u64,
        totals: &mut Totals,
        rows: &mut impl FnMut(&[Sample]) -> io::Result<()>,
    ) -> io::Result<()> {
        let count = u32::try_from(until - from).map_err(io::Error::other)?;
        let left = self.follow(batch, from, count).map_err(failed)?;
        self.finish(batch, from, count, &left).map_err(failed)?;
        let n = count as usize;
        if let Some(memory) = &batch.samples {
            let mut words = vec![0; n * SAMPLE_WORDS];
            memory.read(&mut words).map_err(failed)?;
            let lost = || io::Error::other("the GPU returned no sample");
            let all: Vec<Sample> = (0..n)
                .into_par_iter()
                .map(|i| Sample::read(from + i as u64, |k| words[k * n + i]).ok_or_else(lost))
                .collect::<io::Result<_>>()?;
            for block in all.chunks(small(BLOCK)) {
                rows(block)?;
            }
        }
        let blocks = n.div_ceil(small(BLOCK));
        let mut words = vec![0; blocks * TOTALS_WORDS];
        batch.sums.read(&mut words).map_err(failed)?;
        for block in words.chunks(TOTALS_WORDS) {
            totals.merge(&Totals::read(|k| block[k]));
        }
        Ok(())
    }

    /// Follows a batch as far as the GPU does, and says which slots it leaves.
    fn follow(
        &self,
        batch: &mut Batch,
        from: u64,
        count: u32,
    ) -> Result<Vec<u32>, cudarc::driver::DriverError> {
        use Argument::{Long, Short};
        let (program, setup, slots) = (&self.program, self.setup.argument(), batch.slots.argument());
        let mut zeros = vec![0; COUNTERS * (ROUNDS + 2)];
        zeros[0] = count;
        batch.counters.write(&zeros)?;
        batch.left_count.write(&[0])?;
        let counter = |round: usize, which: usize| batch.counters.argument_at(COUNTERS * round + which);
        let (opened, done, left) = (batch.opened.argument(), batch.done.argument(), batch.left.argument());
        let left_count = batch.left_count.argument();
        let samples = batch.samples.as_ref().map_or(Long(0), Memory::argument);
        start(program, "begin", count, &[setup, Long(from), Short(count), slots, opened])?;
        let (mut to_open, mut to_turn, mut round) = (count, 0, 0);
        while to_open + to_turn > count / LAST && round < ROUNDS {
            let active = batch.active[round % 2].argument();
            let next = batch.active[(round + 1) % 2].argument();
            let [o, a, d] = [0, 1, 2].map(|which| counter(round, which));
            let [next_o, next_a] = [0, 1].map(|which| counter(round + 1, which));
            let open = [setup, slots, opened, o, active, a, done, d, left, left_count];
            start(program, "open", to_open, &open)?;
            let turn = [setup, slots, active, a, next, next_a, done, d, left, left_count];
            start(program, "turn", to_open + to_turn, &turn)?;
            let close = [setup, slots, done, d, opened, next_o, left, left_count];
            let results = [batch.worths.argument(), samples, Short(count)];
            start(program, "close", to_open + to_turn, &[&close[..], &results].concat())?;
            round += 1;
            let mut counts = vec![0; COUNTERS * (round + 1)];
            batch.counters.read(&mut counts)?;
            (to_open, to_turn) = (counts[COUNTERS * round], counts[COUNTERS * round + 1]);
        }
        let mut number = [0];
        batch.left_count.read(&mut number)?;
        let lists = [(&batch.left, number[0]), (&batch.opened, to_open), (&batch.active[round % 2], to_turn)];
        let mut all = Vec::new();
        for (list, length) in lists {
            let mut part = vec![0; length as usize];
            list.read(&mut part)?;
            all.extend(part);
        }
        Ok(all)
    }

    /// Follows the samples that are left, and sums up.
    fn finish(
        &self,
        batch: &mut Batch,
        from: u64,
        count: u32,
        left: &[u32],
    ) -> Result<(), cudarc::driver::DriverError> {
        use Argument::{Long, Short};
        if !left.is_empty() {
            let followed: Vec<Sample> =
                left.par_iter().map(|&slot| self.scattering.sample(from + u64::from(slot))).collect();
            let mut at = self.gpu.memory(left.len())?;
            at.write(left)?;
            let number = u32::try_from(left.len()).unwrap_or(count);
            let place = |width: usize, out: &Memory<u64>, words: &[u64]| {
                let mut memory = self.gpu.memory(words.len())?;
                memory.write(words)?;
                let width = u32::try_from(width).unwrap_or(u32::MAX);
                let arguments = [
                    memory.argument(),
                    Short(width),
                    at.argument(),
                    Short(number),
                    out.argument(),
                    Short(count),
                ];
                start(&self.program, "place", number, &arguments)?;
                self.gpu.synchronize()
            };
            let setup = self.scattering.setup();
            let worths = gathered(&followed, WORTH_WORDS, |sample, put| setup.worth(sample).write(put));
            place(WORTH_WORDS, &batch.worths, &worths)?;
            if let Some(samples) = &batch.samples {
                let words = gathered(&followed, SAMPLE_WORDS, |sample, put| sample.write(put));
                place(SAMPLE_WORDS, samples, &words)?;
            }
        }
        let blocks = count.div_ceil(u32::try_from(BLOCK).unwrap_or(1));
        let block = Short(u32::try_from(BLOCK).unwrap_or(1));
        let arguments = [Long(from), Short(count), batch.worths.argument(), block, batch.sums.argument()];
        start(&self.program, "sum", blocks * SUMMANDS, &arguments)
    }
}

/// The words of some samples one after another.
fn gathered(
    samples: &[Sample],
    width: usize,
    write: impl Fn(&Sample, &mut dyn FnMut(usize, u64)),
) -> Vec<u64> {
    let mut words = vec![0; samples.len() * width];
    for (sample, place) in samples.iter().zip(words.chunks_mut(width)) {
        write(sample, &mut |k, word| place[k] = word);
    }
    words
}

/// A small number as a length.
fn small(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[allow(unsafe_code, reason = "the kernels' arguments are put together here")]
fn start(
    program: &Program,
    kernel: &str,
    threads: u32,
    arguments: &[Argument],
) -> Result<(), cudarc::driver::DriverError> {
    // SAFETY: `follow` and `finish` hand every kernel what its source asks for, and lists and samples are as long as a batch.
    unsafe { program.start(kernel, threads, arguments) }
}

fn start_slot_size(program: &Program, size: &Memory<u64>) -> Result<(), cudarc::driver::DriverError> {
    start(program, "slot_size", 1, &[size.argument()])
}
