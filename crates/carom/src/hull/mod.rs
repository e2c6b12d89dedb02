//! Convex polyhedra from points: the hull, its faces, and its mass properties.
//!
//! The triangles of the hull come from exact predicates (`triangles`), so that they are right whatever the points are. Those that lie
//! in one plane but for rounding make a face, and what is left are its corners (`facets`). Volume, centre of mass and inertia of the
//! body grown by a ball are sums in closed form over its tetrahedra, faces, edges and corners (`moments`). The body is then given about
//! its centre of mass, in the axes of the points if these are principal, else in its principal axes.
//!
//! What is made here is kept for the rest of the program, so that a [`Polyhedron`] is copied like any other shape and the hot path
//! needs no memory; equal polyhedra are kept once.

mod facets;
mod moments;
#[cfg(test)]
mod tests;
mod triangles;

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::shape::{Edge, Face, Hull, Polyhedron};
use facets::{Facets, facets};
use moments::{Moments, moments};

/// The most corners of a polyhedron. Every search goes through all of them.
pub const MOST_CORNERS: usize = 4096;

/// The most points that a hull is made of.
pub const MOST_POINTS: usize = 10_000_000;

/// A hull less thick than this share of its extent is flat.
pub const FLATTEST: f64 = 1e-10;

/// The sizes that a polyhedron may have: fifth powers of them are numbers.
pub const SIZES: core::ops::RangeInclusive<f64> = 1e-50..=1e50;

/// Products of inertia below this share of the moments are rounding.
const DIAGONAL: f64 = 1e-14;

/// Why points make no polyhedron.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Defect {
    /// Fewer than four points that differ.
    #[error("has {0} points that differ")]
    TooFew(usize),
    /// More than [`MOST_POINTS`].
    #[error("has {0} points")]
    TooMany(usize),
    /// A point that is not finite.
    #[error("has a point that is not finite, number {0} from 0")]
    NotFinite(usize),
    /// Beyond [`SIZES`].
    #[error("has the extent {0:e}")]
    Size(f64),
    /// All points are on a line.
    #[error("has all its points on a line")]
    Straight,
    /// All points are in a plane.
    #[error("has all its points in a plane: its hull is {thickness:e} thick and {extent:e} wide")]
    Flat {
        /// How thick it is.
        thickness: f64,
        /// How wide.
        extent: f64,
    },
    /// More than [`MOST_CORNERS`].
    #[error("has a hull of {0} corners")]
    TooManyCorners(usize),
    /// Faces whose planes are not told apart.
    #[error("has a hull whose faces cannot be told apart in 64-bit floats")]
    Unresolved,
}

impl Defect {
    /// What would be right.
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::TooFew(_) => "at least four points that are not in one plane".to_string(),
            Self::TooMany(_) => format!("at most {MOST_POINTS}"),
            Self::NotFinite(_) => "finite numbers".to_string(),
            Self::Size(_) => format!("from {:e} to {:e}", SIZES.start(), SIZES.end()),
            Self::Straight | Self::Flat { .. } => {
                "points that are not in one plane; a flat body is a `disc`, or a thin `box` or `cylinder`"
                    .to_string()
            }
            Self::TooManyCorners(_) => format!("at most {MOST_CORNERS} corners: a coarser mesh"),
            Self::Unresolved => "a mesh without slivers thinner than rounding".to_string(),
        }
    }
}

/// In which axes a polyhedron is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axes {
    /// Those of its points, if they are principal, else its principal axes.
    Principal,
    /// Those of its points, principal or not: for bodies that do not turn, or whose inertia is given.
    Given,
}

impl Polyhedron {
    /// The convex hull of points, grown by a ball of radius `rounding` ≥ 0, about its centre of mass.
    ///
    /// # Errors
    /// Why the points make none.
    pub fn new(points: &[Vector3<f64>], rounding: f64, axes: Axes) -> Result<Self, Defect> {
        let (scaled, scale) = scaled(points)?;
        let triangles = triangles::triangles(&scaled)?;
        let Facets { corners, outlines, edges } = facets(&scaled, &triangles)?;
        if corners.len() > MOST_CORNERS {
            return Err(Defect::TooManyCorners(corners.len()));
        }
        let corners: Vec<Vector3<f64>> = corners.into_iter().map(|k| scaled[k]).collect();
        Ok(Self::of(kept(&Shell { corners, outlines, edges }, rounding / scale, scale, axes)?))
    }

    /// The polyhedron of a [number](Polyhedron::number).
    #[must_use]
    pub fn numbered(number: u32) -> Option<Self> {
        let all = known().lock().unwrap_or_else(PoisonError::into_inner);
        all.list.get(usize::try_from(number).ok()?).copied().map(Self::of)
    }
}

/// The numbers of the points that are corners of the hull of all.
///
/// # Errors
/// Why the points make no polyhedron.
pub fn corners(points: &[Vector3<f64>]) -> Result<Vec<usize>, Defect> {
    let (scaled, _) = scaled(points)?;
    let found = facets(&scaled, &triangles::triangles(&scaled)?)?.corners;
    if found.len() > MOST_CORNERS { Err(Defect::TooManyCorners(found.len())) } else { Ok(found) }
}

/// Checked points in units of a power of two near their extent.
fn scaled(points: &[Vector3<f64>]) -> Result<(Vec<Vector3<f64>>, f64), Defect> {
    if points.len() > MOST_POINTS {
        return Err(Defect::TooMany(points.len()));
    }
    if let Some(bad) = points.iter().position(|x| !x.iter().all(|x| x.is_finite())) {
        return Err(Defect::NotFinite(bad));
    }
    let Some(first) = points.first() else { return Err(Defect::TooFew(0)) };
    let (mut low, mut high) = (*first, *first);
    for x in points {
        (low, high) = (low.inf(x), high.sup(x));
    }
    let extent = (high - low).amax();
    if extent == 0.0 {
        return Err(Defect::TooFew(1));
    }
    if !SIZES.contains(&extent) || !SIZES.contains(&low.amax().max(high.amax())) {
        return Err(Defect::Size(extent));
    }
    let (_, exponent) = libm::frexp(extent);
    let scale = libm::ldexp(1.0, exponent - 1);
    Ok((points.iter().map(|x| x / scale).collect(), scale))
}

/// Corners, faces as lists of them, and edges with the numbers of their two faces.
struct Shell {
    corners: Vec<Vector3<f64>>,
    outlines: Vec<Vec<u32>>,
    edges: Vec<([u32; 2], [u32; 2])>,
}

impl Shell {
    /// The outward unit normal of a face: the sum over its outline (Newell), about its first corner.
    fn normal(&self, outline: &[u32]) -> Vector3<f64> {
        let from = self.corners[outline[0] as usize];
        let corner = |k: usize| self.corners[outline[k] as usize] - from;
        let sum: Vector3<f64> = (1..outline.len() - 1).map(|k| corner(k).cross(&corner(k + 1))).sum();
        sum.normalize()
    }

    fn moments(&self, rounding: f64) -> Moments {
        let normals: Vec<Vector3<f64>> = self.outlines.iter().map(|outline| self.normal(outline)).collect();
        moments(self, &normals, rounding)
    }
}

/// A shell about its centre of mass, kept for ever.
fn kept(shell: &Shell, rounding: f64, scale: f64, axes: Axes) -> Result<&'static Hull, Defect> {
    let found = shell.moments(rounding);
    let turn = match axes {
        Axes::Principal => principal(&found.unit_inertia),
        Axes::Given => Matrix3::identity(),
    };
    let to_own = turn.transpose();
    let corners: Vec<Vector3<f64>> =
        shell.corners.iter().map(|x| to_own * (x - found.centre) * scale).collect();
    let own = Shell { corners, outlines: shell.outlines.clone(), edges: shell.edges.clone() };
    let mut faces = Vec::with_capacity(own.outlines.len());
    let mut outlines = Vec::new();
    for outline in &own.outlines {
        let normal = own.normal(outline);
        // The mean over the corners, which are in one plane but for rounding.
        let count = f64::from(number(outline.len()));
        let height = outline.iter().map(|&k| normal.dot(&own.corners[k as usize])).sum::<f64>() / count;
        if !(height > 0.0 && height.is_finite()) {
            return Err(Defect::Unresolved);
        }
        faces.push(Face { normal, height, outline: [number(outlines.len()), number(outline.len())] });
        outlines.extend_from_slice(outline);
    }
    let edge = |&(ends, sides): &([u32; 2], [u32; 2])| {
        let [p, q] = ends.map(|k| own.corners[k as usize]);
        Edge { ends, axis: (q - p).normalize(), normals: sides.map(|k| faces[k as usize].normal) }
    };
    let edges: Vec<Edge> = own.edges.iter().map(edge).collect();
    let inertia = to_own * found.unit_inertia * turn;
    let made = Made {
        circumradius: own.corners.iter().map(Vector3::norm).fold(0.0, f64::max),
        inradius: faces.iter().map(|face| face.height).fold(f64::INFINITY, f64::min),
        rounding: rounding * scale,
        volume: found.volume * scale * scale * scale,
        unit_inertia: inertia.diagonal() * (scale * scale),
        centre: found.centre * scale,
        turn: UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn)),
        corners: own.corners,
        faces,
        outlines,
        edges,
    };
    Ok(made.keep())
}

/// A count below 2³².
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The principal axes of a tensor as the columns of a rotation, each next to the axis it is nearest to; the identity where the tensor is
/// diagonal but for rounding.
fn principal(tensor: &Matrix3<f64>) -> Matrix3<f64> {
    let off = [(0, 1), (1, 2), (2, 0)].into_iter().map(|(i, j)| tensor[(i, j)].abs()).fold(0.0, f64::max);
    if off <= DIAGONAL * tensor.trace() {
        return Matrix3::identity();
    }
    let vectors = tensor.symmetric_eigen().eigenvectors;
    // Of the six orders the one with the largest components on the diagonal.
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let mut best = (f64::NEG_INFINITY, orders[0]);
    for order in orders {
        let sum: f64 = (0..3).map(|i| vectors[(i, order[i])].abs()).sum();
        if sum > best.0 {
            best = (sum, order);
        }
    }
    let column = |i: usize| {
        let column = vectors.column(best.1[i]).into_owned();
        if column[i] < 0.0 { -column } else { column }
    };
    let (x, y) = (column(0), column(1));
    let z = x.cross(&y).normalize();
    Matrix3::from_columns(&[x, z.cross(&x).normalize(), z])
}

/// A hull before it is kept.
struct Made {
    corners: Vec<Vector3<f64>>,
    faces: Vec<Face>,
    outlines: Vec<u32>,
    edges: Vec<Edge>,
    circumradius: f64,
    inradius: f64,
    rounding: f64,
    volume: f64,
    unit_inertia: Vector3<f64>,
    centre: Vector3<f64>,
    turn: UnitQuaternion<f64>,
}

/// All hulls of the program.
#[derive(Default)]
struct Known {
    list: Vec<&'static Hull>,
    by_hash: HashMap<u64, Vec<u32>>,
}

fn known() -> &'static Mutex<Known> {
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

impl Made {
    /// The corners with the rounding, the centre and the turn say the rest.
    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for corner in self.corners.iter().chain([&self.centre]) {
            corner.iter().for_each(|x| x.to_bits().hash(&mut hasher));
        }
        self.rounding.to_bits().hash(&mut hasher);
        hasher.finish()
    }

    fn is(&self, hull: &Hull) -> bool {
        hull.corners == self.corners
            && hull.faces == self.faces
            && hull.outlines == self.outlines
            && hull.edges == self.edges
            && hull.rounding.to_bits() == self.rounding.to_bits()
            && hull.centre == self.centre
            && hull.turn == self.turn
    }

    /// Where there is an equal one already, that is returned.
    fn keep(self) -> &'static Hull {
        let mut known = known().lock().unwrap_or_else(PoisonError::into_inner);
        let hash = self.hash();
        let Known { list, by_hash } = &mut *known;
        let same = by_hash.entry(hash).or_default();
        if let Some(&found) = same.iter().find(|&&k| self.is(list[k as usize])) {
            return list[found as usize];
        }
        let number = number(list.len());
        let hull: &'static Hull = Box::leak(Box::new(Hull {
            number,
            corners: self.corners.leak(),
            faces: self.faces.leak(),
            outlines: self.outlines.leak(),
            edges: self.edges.leak(),
            circumradius: self.circumradius,
            inradius: self.inradius,
            rounding: self.rounding,
            volume: self.volume,
            unit_inertia: self.unit_inertia,
            centre: self.centre,
            turn: self.turn,
        }));
        same.push(number);
        list.push(hull);
        hull
    }
}
