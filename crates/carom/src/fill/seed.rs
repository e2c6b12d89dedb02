//! From the seed that a scene names to the key of its streams.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::random::Random;

/// The key of a seed, as `rand_chacha` makes it.
#[must_use]
pub fn key(seed: u64) -> [u32; 8] {
    let bytes = ChaCha8Rng::seed_from_u64(seed).get_seed();
    core::array::from_fn(|i| u32::from_le_bytes(core::array::from_fn(|k| bytes[4 * i + k])))
}

impl Random {
    /// One of the streams of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self::keyed(&key(seed), stream)
    }
}
