//! Long arrays on large pages.
//!
//! Events that follow one another lie anywhere in space, so a large crowd's memory is read all over, and where pages are
//! small most reads have to look up first where their page is: on our machine such a read takes twice as long. Systems give
//! large pages to those who ask. Short arrays are ordinary ones.

use core::fmt;
use core::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Bytes from which an array is long: some large pages.
const LONG: usize = 1 << 23;

/// An array of plain records.
pub(super) struct HugePageArray<T> {
    kept: Kept<T>,
}

enum Kept<T> {
    Short(Vec<T>),
    /// The map, and how many records of it are used.
    Long(MmapMut, usize),
}

impl<T: Pod> HugePageArray<T> {
    /// An empty one, with room for so many.
    pub fn with_room(room: usize) -> Self {
        let bytes = room.saturating_mul(size_of::<T>());
        if bytes >= LONG
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            // Advice: what the system makes of it changes no result.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            return Self { kept: Kept::Long(map, 0) };
        }
        Self { kept: Kept::Short(Vec::with_capacity(room)) }
    }

    /// The same record so many times.
    pub fn filled(record: T, count: usize) -> Self {
        let mut field = Self::with_room(count);
        field.fill_up(record, count);
        field
    }

    /// As many records as an iterator says that it has.
    pub fn collect(records: impl ExactSizeIterator<Item = T>) -> Self {
        let mut field = Self::with_room(records.len());
        match &mut field.kept {
            Kept::Short(list) => list.extend(records),
            Kept::Long(map, used) => {
                let places = bytemuck::cast_slice_mut::<u8, T>(map);
                for (place, record) in places.iter_mut().zip(records) {
                    *place = record;
                    *used += 1;
                }
            }
        }
        field
    }

    /// Adds copies of a record, until there are so many.
    pub fn fill_up(&mut self, record: T, count: usize) {
        if count > self.room() {
            self.enlarge(count);
        }
        match &mut self.kept {
            Kept::Short(list) => list.resize(count.max(list.len()), record),
            Kept::Long(map, used) => {
                let places = bytemuck::cast_slice_mut::<u8, T>(map);
                if count > *used {
                    places[*used..count].fill(record);
                    *used = count;
                }
            }
        }
    }

    #[cold]
    fn enlarge(&mut self, count: usize) {
        let mut larger = Self::with_room(count.max(self.room() + self.room() / 2));
        match &mut larger.kept {
            Kept::Short(list) => list.extend_from_slice(self),
            Kept::Long(map, used) => {
                bytemuck::cast_slice_mut::<u8, T>(map)[..self.len()].copy_from_slice(self);
                *used = self.len();
            }
        }
        *self = larger;
    }

    fn room(&self) -> usize {
        match &self.kept {
            Kept::Short(list) => list.capacity(),
            Kept::Long(map, _) => map.len() / size_of::<T>(),
        }
    }

    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.room() * size_of::<T>()
    }
}

impl<T: Pod> Deref for HugePageArray<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.kept {
            Kept::Short(list) => list,
            Kept::Long(map, used) => &bytemuck::cast_slice(map)[..*used],
        }
    }
}

impl<T: Pod> DerefMut for HugePageArray<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.kept {
            Kept::Short(list) => list,
            Kept::Long(map, used) => &mut bytemuck::cast_slice_mut(map)[..*used],
        }
    }
}

impl<T: Pod> Default for HugePageArray<T> {
    fn default() -> Self {
        Self { kept: Kept::Short(Vec::new()) }
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

    /// Short and long ones, and those that become long, hold what was put into them.
    #[test]
    fn fields_hold_what_they_are_given() {
        for count in [0, 10, LONG / 8 - 1, LONG / 8 + 1000] {
            let numbers = (0..count).map(|k| k as u64);
            let mut field = HugePageArray::collect(numbers.clone());
            assert!(field.iter().copied().eq(numbers));
            assert!(field.bytes() >= 8 * count);
            field.fill_up(7, 3 * count + 5);
            assert_eq!(field.len(), 3 * count + 5);
            assert!(field[..count].iter().enumerate().all(|(k, &number)| number == k as u64));
            assert!(field[count..].iter().all(|&number| number == 7));
            field[count] = 1;
            let copy = field.clone();
            assert!(copy[count] == 1 && copy[..] == field[..]);
            assert!(HugePageArray::filled(3_u64, count).iter().all(|&number| number == 3));
        }
    }
}
