//! Periodic images: displacements by whole boxes, numbered in a table.

use nalgebra::Vector3;

/// The images in which a body can have neighbours.
#[derive(Debug, Clone)]
pub(super) struct Images {
    /// The number of boxes on either side, along each axis.
    extent: [i32; 3],
    shifts: Vec<Vector3<f64>>,
    lengths: Vector3<f64>,
}

/// The most boxes on either side.
const MAX_EXTENT: f64 = 15.0;

impl Images {
    /// For bodies that are neighbours up to a distance of their reference positions.
    pub fn new(periodic: Option<&Vector3<f64>>, distance: f64) -> Self {
        let lengths = periodic.copied().unwrap_or_else(Vector3::zeros);
        let extent = core::array::from_fn(|i| {
            if lengths[i] > 0.0 {
                #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
                let boxes = (distance / lengths[i]).ceil().clamp(1.0, MAX_EXTENT) as i32;
                boxes
            } else {
                0
            }
        });
        let mut images = Self { extent, shifts: Vec::new(), lengths };
        for x in -extent[0]..=extent[0] {
            for y in -extent[1]..=extent[1] {
                for z in -extent[2]..=extent[2] {
                    images.shifts.push(Vector3::from_fn(|i, _| {
                        let boxes = [x, y, z][i];
                        if boxes == 0 { 0.0 } else { f64::from(boxes) * lengths[i] }
                    }));
                }
            }
        }
        images
    }

    /// The largest distance of reference positions for which a table can be made.
    pub fn max_distance(periodic: Option<&Vector3<f64>>) -> f64 {
        periodic.map_or(f64::INFINITY, |lengths| {
            lengths.iter().filter(|&&l| l > 0.0).fold(f64::INFINITY, |least, &l| least.min(l * MAX_EXTENT))
        })
    }

    /// The number of images.
    pub fn count(&self) -> usize {
        self.shifts.len()
    }

    /// The displacement of an image.
    #[inline(always)]
    pub fn shift(&self, image: u16) -> &Vector3<f64> {
        &self.shifts[image as usize]
    }

    /// The image of the first body as seen from the second.
    #[inline(always)]
    pub fn opposite(&self, image: u16) -> u16 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 31³ images")]
        let last = (self.shifts.len() - 1) as u16;
        last - image
    }

    /// The number of the image displaced by whole boxes; `None` if it is beyond the table.
    pub fn number(&self, boxes: [i32; 3]) -> Option<u16> {
        let mut number = 0;
        for i in 0..3 {
            if boxes[i].abs() > self.extent[i] {
                return None;
            }
            number = number * (2 * self.extent[i] + 1) + boxes[i] + self.extent[i];
        }
        u16::try_from(number).ok()
    }

    /// By how many boxes an image is displaced.
    pub fn boxes(&self, image: u16) -> [i32; 3] {
        let mut number = i32::from(image);
        let mut boxes = [0; 3];
        for i in (0..3).rev() {
            let span = 2 * self.extent[i] + 1;
            boxes[i] = number % span - self.extent[i];
            number /= span;
        }
        boxes
    }

    /// By how many boxes a position is outside the box.
    pub fn boxes_outside(&self, x: &Vector3<f64>) -> [i32; 3] {
        core::array::from_fn(|i| {
            if self.lengths[i] > 0.0 {
                #[expect(clippy::cast_possible_truncation, reason = "saturates; bodies stay near the box")]
                let boxes = (x[i] / self.lengths[i]).floor() as i32;
                boxes
            } else {
                0
            }
        })
    }

    /// The displacement by any number of boxes.
    pub fn displacement(&self, boxes: [i32; 3]) -> Vector3<f64> {
        Vector3::from_fn(|i, _| if boxes[i] == 0 { 0.0 } else { f64::from(boxes[i]) * self.lengths[i] })
    }
}
