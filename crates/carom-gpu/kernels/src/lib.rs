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
    pub const AUDIT_TOLERANCE: f64 = 1e-10;
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
    #[path = "sample.rs"]
    mod sample;
    #[path = "setup.rs"]
    mod setup;
    #[path = "smooth.rs"]
    mod smooth;
    #[path = "words.rs"]
    pub mod words;
    pub use setup::Setup;
}

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};

use scatter::Setup;
use scatter::words::LEFT;
use shape::single::{Ellipsoid, Single, Superellipsoid};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

/// Samples `from` to `from + count`, word k of the i-th at `out[k count + i]`.
unsafe fn samples<A: Single, B: Single>(words: *const u64, from: u64, count: u32, out: *mut u64) {
    let i = unsafe { _block_idx_x() * _block_dim_x() + _thread_idx_x() } as u32;
    if i >= count {
        return;
    }
    let (setup, sizes) = Setup::of_words(|k| unsafe { *words.add(k) });
    let number = from + u64::from(i);
    let shapes = (A::of(&setup.bodies[0].shape, sizes[0]), B::of(&setup.bodies[1].shape, sizes[1]));
    let put = |k: usize, word: u64| unsafe { *out.add(k * count as usize + i as usize) = word };
    let sample = match &shapes {
        (Some(first), Some(second)) => setup.sample_in_brief(number, first, second),
        _ => None,
    };
    match sample {
        Some(sample) => sample.write(put),
        None => put(0, LEFT),
    }
}

#[cfg(feature = "ellipsoids")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn scatter(words: *const u64, from: u64, count: u32, out: *mut u64) {
    unsafe { samples::<Ellipsoid, Ellipsoid>(words, from, count, out) }
}

#[cfg(feature = "superellipsoids")]
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn scatter(words: *const u64, from: u64, count: u32, out: *mut u64) {
    unsafe { samples::<Superellipsoid, Superellipsoid>(words, from, count, out) }
}
