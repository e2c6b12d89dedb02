//! Long arrays on huge pages.
//!
//! Consecutive events lie anywhere in space, so the memory of a large system is read at random. With pages of ordinary size most reads miss
//! the translation look-aside buffer, and such a read takes twice as long. Operating systems grant huge pages on request. Short arrays are
//! ordinary vectors.

use core::fmt;
use core::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Arrays of at least this many bytes, a few huge pages, are mapped.
const MAPPED_FROM: usize = 1 << 23;

/// An array of plain records.
pub(super) struct HugePageArray<T> {
    storage: Storage<T>,
}

enum Storage<T> {
    Heap(Vec<T>),
    /// The map, and the number of records in use.
    Mapped(MmapMut, usize),
}

impl<T: Pod> HugePageArray<T> {
    /// An empty array with room for `capacity` records.
    pub fn with_capacity(capacity: usize) -> Self {
        let bytes = capacity.saturating_mul(size_of::<T>());
        if bytes >= MAPPED_FROM
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            // Only advice: no result depends on whether the system follows it.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            return Self { storage: Storage::Mapped(map, 0) };
        }
        Self { storage: Storage::Heap(Vec::with_capacity(capacity)) }
    }

    /// `len` copies of a record.
    pub fn filled(record: T, len: usize) -> Self {
        let mut array = Self::with_capacity(len);
        array.extend_to(len, record);
        array
    }

    /// The records of an iterator, which must know its length.
    pub fn collect(records: impl ExactSizeIterator<Item = T>) -> Self {
        let mut array = Self::with_capacity(records.len());
        match &mut array.storage {
            Storage::Heap(list) => list.extend(records),
            Storage::Mapped(map, used) => {
                let slots = bytemuck::cast_slice_mut::<u8, T>(map);
                for (slot, record) in slots.iter_mut().zip(records) {
                    *slot = record;
                    *used += 1;
                }
            }
        }
        array
    }

    /// Appends copies of a record until the array has `len` of them; a longer array stays as it is.
    pub fn extend_to(&mut self, len: usize, record: T) {
        if len > self.capacity() {
            self.grow(len);
        }
        match &mut self.storage {
            Storage::Heap(list) => list.resize(len.max(list.len()), record),
            Storage::Mapped(map, used) => {
                let slots = bytemuck::cast_slice_mut::<u8, T>(map);
                if len > *used {
                    slots[*used..len].fill(record);
                    *used = len;
                }
            }
        }
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        let mut larger = Self::with_capacity(len.max(self.capacity() + self.capacity() / 2));
        match &mut larger.storage {
            Storage::Heap(list) => list.extend_from_slice(self),
            Storage::Mapped(map, used) => {
                bytemuck::cast_slice_mut::<u8, T>(map)[..self.len()].copy_from_slice(self);
                *used = self.len();
            }
        }
        *self = larger;
    }

    fn capacity(&self) -> usize {
        match &self.storage {
            Storage::Heap(list) => list.capacity(),
            Storage::Mapped(map, _) => map.len() / size_of::<T>(),
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T: Pod> Deref for HugePageArray<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.storage {
            Storage::Heap(list) => list,
            Storage::Mapped(map, used) => &bytemuck::cast_slice(map)[..*used],
        }
    }
}

impl<T: Pod> DerefMut for HugePageArray<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.storage {
            Storage::Heap(list) => list,
            Storage::Mapped(map, used) => &mut bytemuck::cast_slice_mut(map)[..*used],
        }
    }
}

impl<T: Pod> Default for HugePageArray<T> {
    fn default() -> Self {
        Self { storage: Storage::Heap(Vec::new()) }
    }
}

impl<T: Pod> Clone for HugePageArray<T> {
    fn clone(&self) -> Self {
        Self::collect(self.iter().copied())
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for HugePageArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the heap, mapped, and growing from one to the other.
    #[test]
    fn arrays_hold_what_they_are_given() {
        for count in [0, 10, MAPPED_FROM / 8 - 1, MAPPED_FROM / 8 + 1000] {
            let numbers = (0..count).map(|k| k as u64);
            let mut array = HugePageArray::collect(numbers.clone());
            assert!(array.iter().copied().eq(numbers));
            assert!(array.bytes() >= 8 * count);
            array.extend_to(3 * count + 5, 7);
            assert_eq!(array.len(), 3 * count + 5);
            assert!(array[..count].iter().enumerate().all(|(k, &number)| number == k as u64));
            assert!(array[count..].iter().all(|&number| number == 7));
            array[count] = 1;
            let copy = array.clone();
            assert!(copy[count] == 1 && copy[..] == array[..]);
            assert!(HugePageArray::filled(3_u64, count).iter().all(|&number| number == 3));
        }
    }
}
