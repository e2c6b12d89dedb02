//! The kernels: the library's own sources, compiled for a GPU.
//!
//! Every module below is a file of `crates/carom`; nothing of the physics is written here. A kernel takes one sample for each thread.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
#![allow(dead_code, unused_imports, missing_docs, unexpected_cfgs)]

#[path = "../../../carom/src/body.rs"]
mod body;
#[path = "../../../carom/src/gap/mod.rs"]
mod gap;
#[path = "../../../carom/src/motion/mod.rs"]
mod motion;
#[path = "../../../carom/src/shape/mod.rs"]
mod shape;
#[path = "../../../carom/src/toi/mod.rs"]
mod toi;

#[path = "../../../carom/src/audit"]
mod audit {
    pub const AUDIT_TOLERANCE: f64 = 1e-9;
    #[path = "event.rs"]
    pub mod event;
}

#[path = "../../../carom/src/contact"]
mod contact {
    #[path = "side.rs"]
    mod side;
    pub use side::{Side, Surface};
}

#[path = "../../../carom/src/fill"]
mod fill {
    #[path = "chacha.rs"]
    mod chacha;
    #[path = "freedom.rs"]
    pub mod freedom;
    #[path = "random.rs"]
    pub mod random;
}

#[path = "../../../carom/src/impact"]
mod impact {
    #[path = "pair.rs"]
    pub mod pair;
}

#[path = "../../../carom/src/scene"]
mod scene {
    #[path = "beam.rs"]
    pub mod model;
}

#[path = "../../../carom/src/scatter"]
mod scatter {
    #[path = "beam.rs"]
    mod beam;
    #[path = "brief.rs"]
    mod brief;
    #[path = "encounter.rs"]
    mod encounter;
    #[path = "moments.rs"]
    pub mod moments;
    #[path = "sample.rs"]
    mod sample;
    #[path = "setup.rs"]
    mod setup;
    #[path = "smooth.rs"]
    mod smooth;
    #[path = "totals.rs"]
    pub mod totals;
    #[path = "words.rs"]
    pub mod words;
    #[path = "worth.rs"]
    pub mod worth;
    pub use encounter::{Encounter, Step};
    pub use sample::Sample;
    pub use setup::Setup;
}

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};
use core::sync::atomic::{AtomicU32, Ordering};

use motion::Flight;
use scatter::moments::Moments;
use scatter::totals::Totals;
use scatter::words::{MOMENTS_AT, MOMENTS_WORDS, TOTALS_WORDS};
use scatter::worth::{QUANTITIES, Worth};
use scatter::{Encounter, Sample, Setup, Step};
use shape::single::Single;
use toi::{Meeting, Moving, Progress, Walk};

#[cfg(feature = "ellipsoids")]
type Kind = shape::single::Ellipsoid;
#[cfg(feature = "superellipsoids")]
type Kind = shape::single::Superellipsoid;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

fn thread() -> u32 {
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as u32 }
}

/// A sample under way.
pub struct Slot {
    encounter: Encounter,
    flights: [Flight; 2],
    walk: Walk,
    /// Whether its chord is looked for.
    chord: bool,
}

/// The bytes of a slot, which only the compiler knows: to be asked for before any memory is taken.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn slot_size(out: *mut u64) {
    unsafe { *out = size_of::<Slot>() as u64 };
}

/// A list of slots that grows.
struct List {
    count: *mut u32,
    entries: *mut u32,
}

impl List {
    fn push(&self, slot: u32) {
        unsafe {
            let place = AtomicU32::from_ptr(self.count).fetch_add(1, Ordering::Relaxed);
            *self.entries.add(place as usize) = slot;
        }
    }
}

fn setup(words: *const u64) -> (Setup, [Option<Kind>; 2]) {
    let (setup, sizes) = Setup::of_words(|k| unsafe { *words.add(k) });
    let kinds = [0, 1].map(|k| Kind::of(&setup.bodies[k].shape, sizes[k]));
    (setup, kinds)
}

/// The beams of samples `from` to `from + count`, all of which are then to be opened.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn begin(
    words: *const u64,
    from: u64,
    count: u32,
    slots: *mut Slot,
    opened: *mut u32,
) {
    let i = thread();
    if i >= count {
        return;
    }
    let (setup, _) = setup(words);
    let slot = unsafe { slots.add(i as usize) };
    unsafe {
        (&raw mut (*slot).encounter).write(setup.begin(from + u64::from(i)));
        (&raw mut (*slot).chord).write(false);
        *opened.add(i as usize) = i;
    }
}

/// Prepares the flights and the search of the slots listed: those that have to be searched go to `active`, the others have ended.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn open(
    words: *const u64,
    slots: *mut Slot,
    opened: *const u32,
    opened_count: *const u32,
    active: *mut u32,
    active_count: *mut u32,
    done: *mut u32,
    done_count: *mut u32,
    left: *mut u32,
    left_count: *mut u32,
) {
    let i = thread();
    if i >= unsafe { *opened_count } {
        return;
    }
    let place = unsafe { *opened.add(i as usize) };
    let slot = unsafe { &mut *slots.add(place as usize) };
    let (setup, kinds) = setup(words);
    let left = List { count: left_count, entries: left };
    let (Some(first), Some(second)) = (kinds[0], kinds[1]) else { return left.push(place) };
    let sample = &slot.encounter.sample;
    let states = if slot.chord { sample.without_spin() } else { sample.after };
    let parting = sample.impacts > 0 && !slot.chord;
    let Some(window) = setup.window(&states, parting, slot.encounter.speed) else { return left.push(place) };
    slot.flights = setup.flights(&states);
    slot.walk = Walk::new(window);
    let moving = (Moving::new(&first, &slot.flights[0]), Moving::new(&second, &slot.flights[1]));
    match slot.walk.begin(moving.0, moving.1) {
        Progress::On => List { count: active_count, entries: active }.push(place),
        Progress::Over(meeting) => {
            slot.walk.end(meeting);
            List { count: done_count, entries: done }.push(place);
        }
        Progress::Left => left.push(place),
    }
}

/// One evaluation of the gap for each of the slots listed: those that go on go to `next`.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn turn(
    words: *const u64,
    slots: *mut Slot,
    active: *const u32,
    active_count: *const u32,
    next: *mut u32,
    next_count: *mut u32,
    done: *mut u32,
    done_count: *mut u32,
    left: *mut u32,
    left_count: *mut u32,
) {
    let i = thread();
    if i >= unsafe { *active_count } {
        return;
    }
    let place = unsafe { *active.add(i as usize) };
    let slot = unsafe { &mut *slots.add(place as usize) };
    let (_, kinds) = setup(words);
    let (Some(first), Some(second)) = (kinds[0], kinds[1]) else { return };
    let moving = (Moving::new(&first, &slot.flights[0]), Moving::new(&second, &slot.flights[1]));
    match slot.walk.turn(moving.0, moving.1) {
        Progress::On => List { count: next_count, entries: next }.push(place),
        Progress::Over(meeting) => {
            slot.walk.end(meeting);
            List { count: done_count, entries: done }.push(place);
        }
        Progress::Left => List { count: left_count, entries: left }.push(place),
    }
}

/// What follows from the searches that have ended: impacts, after which the slots are to be opened again, or the end, where what the
/// samples add goes to `worths`, word k of the i-th at `worths[k count + i]`, and the samples themselves to `samples`, if that is not null.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn close(
    words: *const u64,
    slots: *mut Slot,
    done: *const u32,
    done_count: *const u32,
    opened: *mut u32,
    opened_count: *mut u32,
    left: *mut u32,
    left_count: *mut u32,
    worths: *mut u64,
    samples: *mut u64,
    count: u32,
) {
    let i = thread();
    if i >= unsafe { *done_count } {
        return;
    }
    let place = unsafe { *done.add(i as usize) };
    let slot = unsafe { &mut *slots.add(place as usize) };
    let (setup, _) = setup(words);
    let opened = List { count: opened_count, entries: opened };
    let Slot { encounter, flights, walk, chord } = slot;
    let meeting = walk.ended();
    if *chord {
        encounter.sample.chord = Some(match meeting {
            Some(Meeting::At(contact)) => setup.ahead(encounter.speed, contact.time),
            _ => 0.0,
        });
    } else {
        let step = match meeting {
            Some(Meeting::At(contact)) => {
                encounter.time += contact.time;
                let states = [flights[0].at(contact.time), flights[1].at(contact.time)];
                setup.meet(encounter, &contact, states, &|_, _, _| None)
            }
            _ => Setup::part(encounter),
        };
        match step {
            Step::Impact(_) => return opened.push(place),
            Step::Left => return List { count: left_count, entries: left }.push(place),
            Step::Over => {}
        }
        if setup.wants_chord(encounter.sample.number) {
            *chord = true;
            return opened.push(place);
        }
        encounter.sample.chord = setup.plain_chord(encounter);
    }
    let sample = &encounter.sample;
    setup.worth(sample).write(|k, word| unsafe { *worths.add(k * count as usize + place as usize) = word });
    if !samples.is_null() {
        sample.write(|k, word| unsafe { *samples.add(k * count as usize + place as usize) = word });
    }
}

/// Puts the words that the CPU has found for some samples among the others: `width` for each, those of the i-th for the slot `at[i]`.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn place(
    words: *const u64,
    width: u32,
    at: *const u32,
    number: u32,
    out: *mut u64,
    count: u32,
) {
    let i = thread();
    if i >= number {
        return;
    }
    let width = width as usize;
    for k in 0..width {
        unsafe {
            *out.add(k * count as usize + *at.add(i as usize) as usize) = *words.add(i as usize * width + k);
        }
    }
}

/// Sums every `block` samples one after another. Every quantity has a thread of its own, and what is counted has another.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sum(from: u64, count: u32, worths: *const u64, block: u32, out: *mut u64) {
    let (b, quantity) = (thread() / THREADS, (thread() % THREADS) as usize);
    let start = b * block;
    if start >= count || quantity > QUANTITIES {
        return;
    }
    let samples = start..count.min(start + block);
    let get = |i: u32| move |k: usize| unsafe { *worths.add(k * count as usize + i as usize) };
    let put = |k: usize, word: u64| unsafe { *out.add(b as usize * TOTALS_WORDS + k) = word };
    let moments_at = MOMENTS_AT + MOMENTS_WORDS * quantity;
    if quantity < QUANTITIES {
        let mut moments = Moments::default();
        for i in samples {
            moments.add_some(Worth::read_pair(quantity, get(i)));
        }
        moments.write(|k, word| put(moments_at + k, word));
    } else {
        let mut totals = Totals::new();
        for i in samples {
            totals.count(&Worth::read(from + u64::from(i), get(i)));
        }
        totals.write(|k, word| {
            if !(MOMENTS_AT..moments_at).contains(&k) {
                put(k, word);
            }
        });
    }
}

/// The threads of a block of samples in a sum: one for each quantity, one for what is counted, and some that do nothing.
const THREADS: u32 = 16;
