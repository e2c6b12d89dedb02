//! The stream cipher ChaCha with eight rounds (Bernstein 2008) as a source of random numbers, with a 64-bit counter of blocks and a 64-bit
//! number of the stream.
//!
//! The same words as `rand_chacha`'s, which a test holds it to; written out because it has to run where there is no more than `core`.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

/// "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Two rounds at a time: the columns, then the diagonals.
const DOUBLE_ROUNDS: u32 = 4;

/// The numbers of 64 bits in a block.
const NUMBERS: usize = 8;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    key: [u32; 8],
    stream: u64,
    /// The block that comes after this one.
    next_block: u64,
    block: [u64; NUMBERS],
    used: usize,
}

impl Stream {
    /// One of the streams of a key, from its beginning.
    pub fn new(key: &[u32; 8], stream: u64) -> Self {
        Self { key: *key, stream, next_block: 0, block: [0; NUMBERS], used: NUMBERS }
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        if self.used == NUMBERS {
            self.block = block(&self.key, self.next_block, self.stream);
            self.next_block = self.next_block.wrapping_add(1);
            self.used = 0;
        }
        let number = self.block[self.used];
        self.used += 1;
        number
    }
}

/// A block.
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn block(key: &[u32; 8], number: u64, stream: u64) -> [u64; NUMBERS] {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&CONSTANTS);
    start[4..12].copy_from_slice(key);
    start[12..].copy_from_slice(&[
        number as u32,
        (number >> 32) as u32,
        stream as u32,
        (stream >> 32) as u32,
    ]);
    let mut x = start;
    for _ in 0..DOUBLE_ROUNDS {
        // Written out: places known to the compiler stay in registers.
        quarter(&mut x, [0, 4, 8, 12]);
        quarter(&mut x, [1, 5, 9, 13]);
        quarter(&mut x, [2, 6, 10, 14]);
        quarter(&mut x, [3, 7, 11, 15]);
        quarter(&mut x, [0, 5, 10, 15]);
        quarter(&mut x, [1, 6, 11, 12]);
        quarter(&mut x, [2, 7, 8, 13]);
        quarter(&mut x, [3, 4, 9, 14]);
    }
    let word = |i: usize| u64::from(x[i].wrapping_add(start[i]));
    core::array::from_fn(|i| word(2 * i) | word(2 * i + 1) << 32)
}

#[inline(always)]
fn quarter(x: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(16);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(12);
    x[a] = x[a].wrapping_add(x[b]);
    x[d] = (x[d] ^ x[a]).rotate_left(8);
    x[c] = x[c].wrapping_add(x[d]);
    x[b] = (x[b] ^ x[c]).rotate_left(7);
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::Stream;
    use crate::fill::seed::key;

    /// This stream / that of `rand_chacha`.
    #[test]
    fn the_words_are_those_of_rand_chacha() {
        for seed in [0, 1, 42, u64::MAX] {
            for stream in [0, 7, 1 << 40, u64::MAX] {
                let mut wanted = ChaCha8Rng::seed_from_u64(seed);
                wanted.set_stream(stream);
                let mut found = Stream::new(&key(seed), stream);
                for _ in 0..1000 {
                    assert_eq!(found.next(), wanted.next_u64());
                }
            }
        }
    }
}
