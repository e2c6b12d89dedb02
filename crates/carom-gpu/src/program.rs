//! The programs: PTX, compressed, one for each kind of body.

use carom::shape::Shape;

use crate::Unavailable;

/// A program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two ellipsoids.
    Ellipsoids,
    /// Two superellipsoids of exponents above two.
    Superellipsoids,
}

impl Kind {
    /// The program for two bodies, if there is one.
    pub fn of(shapes: [&Shape; 2]) -> Option<Self> {
        let kind = |shape: &Shape| match *shape {
            Shape::Ellipsoid { .. } => Some(Self::Ellipsoids),
            Shape::Superellipsoid { exponent, .. } if exponent <= 2.0 => Some(Self::Ellipsoids),
            Shape::Superellipsoid { .. } => Some(Self::Superellipsoids),
            _ => None,
        };
        let [first, second] = shapes.map(kind);
        first.filter(|first| second == Some(*first))
    }

    /// Its text.
    pub fn ptx(self) -> Result<String, Unavailable> {
        let packed: &[u8] = match self {
            Self::Ellipsoids => include_bytes!("../ptx/ellipsoids.ptx.z"),
            Self::Superellipsoids => include_bytes!("../ptx/superellipsoids.ptx.z"),
        };
        let damaged = || Unavailable::Other("the kernels in the program are damaged".to_string());
        let bytes = miniz_oxide::inflate::decompress_to_vec_zlib(packed).map_err(|_| damaged())?;
        String::from_utf8(bytes).map_err(|_| damaged())
    }
}
