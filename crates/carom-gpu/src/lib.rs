//! Scatterings on an NVIDIA GPU, with the same bits as on the CPU.
//!
//! The kernels are the library's own sources, compiled to PTX by `cargo xtask ptx` and kept in `ptx/`; the driver compiles them for its GPU at the
//! first use, and keeps the result. Nothing but the driver has to be installed, and it is looked for when it is asked for.
//!
//! **How.** All samples of a batch are taken through the same steps at once: `begin` draws their beams, `open` prepares the flights of those that
//! are to be searched for a contact, `turn` evaluates the gap of each search once, `close` resolves the impacts of those that have found one. Who goes on is
//! listed, so that every step has a thread for each that needs it and none that waits. The few samples for which the brief search gives up, and
//! the last few of a batch, are followed by the CPU; then the GPU adds everything up in the order of the samples.
//!
//! **Same bits.** Additions and multiplications are not contracted, roots and quotients are rounded correctly, all other functions are `libm`'s own
//! code. What each sample comes to is therefore the same to the bit; and so are the sums, which are made in the same order.

mod driver;
mod program;
mod scattering;

use std::fmt;

pub use driver::Gpu;
pub use scattering::{Scatterer, unsuited};

/// Why there is no GPU to work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// The driver's library is not installed.
    NoDriver,
    /// The driver sees no GPU.
    NoGpu,
    /// The driver cannot compile the kernels.
    OldDriver(String),
    /// The driver reports this.
    Other(String),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoDriver => write!(f, "no NVIDIA driver is installed (libcuda is missing)"),
            Self::NoGpu => write!(f, "the NVIDIA driver finds no GPU"),
            Self::OldDriver(what) => {
                write!(
                    f,
                    "the NVIDIA driver cannot compile the kernels ({what}): it may be too old, or the GPU (sm_70 is needed)"
                )
            }
            Self::Other(what) => write!(f, "the NVIDIA driver fails: {what}"),
        }
    }
}

impl std::error::Error for Unavailable {}
