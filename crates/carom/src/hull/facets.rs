//! Faces from triangles: those that lie in one plane but for rounding are one face, and a point that fewer than three faces meet at is no
//! corner.

use std::collections::{HashMap, HashSet};

use nalgebra::Vector3;

use super::{Defect, number};

/// How far from the plane of a face, in units of the size, its triangles may reach.
const LEVEL: f64 = 2e-14;

/// How often a face is grown about its plane, which then is taken anew.
const ROUNDS: u32 = 4;

/// What is left of a hull of triangles.
pub(super) struct Facets {
    /// The numbers of the points that are corners.
    pub corners: Vec<usize>,
    /// The corners of each face, by their place among all, counterclockwise seen from outside.
    pub outlines: Vec<Vec<u32>>,
    /// The ends of each edge, and its two faces.
    pub edges: Vec<([u32; 2], [u32; 2])>,
}

type Triangles<'a> = &'a [[usize; 3]];

pub(super) fn facets(points: &[Vector3<f64>], triangles: Triangles) -> Result<Facets, Defect> {
    let neighbours = neighbours(triangles)?;
    let face_of = group(points, triangles, &neighbours);
    let faces = face_of.iter().max().map_or(0, |last| last + 1);

    // The directed edges between faces, by face.
    let mut borders: Vec<HashMap<usize, usize>> = vec![HashMap::new(); faces];
    let mut meeting: HashMap<usize, HashSet<usize>> = HashMap::new();
    for (k, corners) in triangles.iter().enumerate() {
        for side in 0..3 {
            let (from, to) = (corners[side], corners[(side + 1) % 3]);
            meeting.entry(from).or_default().insert(face_of[k]);
            if face_of[neighbours[k][side]] != face_of[k] && borders[face_of[k]].insert(from, to).is_some() {
                return Err(Defect::Unresolved);
            }
        }
    }
    let mut corners: Vec<usize> =
        meeting.iter().filter(|(_, faces)| faces.len() > 2).map(|(&point, _)| point).collect();
    corners.sort_unstable();
    let place: HashMap<usize, u32> =
        corners.iter().enumerate().map(|(k, &point)| (point, number(k))).collect();

    let mut outlines = Vec::with_capacity(faces);
    let mut sides: HashMap<[u32; 2], u32> = HashMap::new();
    for (face, border) in borders.iter().enumerate() {
        let outline = outline(border, &place)?;
        for (k, &from) in outline.iter().enumerate() {
            if sides.insert([from, outline[(k + 1) % outline.len()]], number(face)).is_some() {
                return Err(Defect::Unresolved);
            }
        }
        outlines.push(outline);
    }
    let mut edges = Vec::with_capacity(sides.len() / 2);
    for (&[from, to], &face) in &sides {
        let Some(&other) = sides.get(&[to, from]) else { return Err(Defect::Unresolved) };
        if from < to {
            edges.push(([from, to], [face, other]));
        }
    }
    // The order of the table is not the same every time.
    edges.sort_unstable();
    // Euler.
    if corners.len() + outlines.len() != edges.len() + 2 {
        return Err(Defect::Unresolved);
    }
    Ok(Facets { corners, outlines, edges })
}

/// The triangle beyond each side.
fn neighbours(triangles: Triangles) -> Result<Vec<[usize; 3]>, Defect> {
    let mut owner = HashMap::with_capacity(3 * triangles.len());
    for (k, corners) in triangles.iter().enumerate() {
        for side in 0..3 {
            owner.insert((corners[side], corners[(side + 1) % 3]), k);
        }
    }
    let beyond = |corners: &[usize; 3], side: usize| {
        owner.get(&(corners[(side + 1) % 3], corners[side])).copied().ok_or(Defect::Unresolved)
    };
    triangles
        .iter()
        .map(|corners| Ok([beyond(corners, 0)?, beyond(corners, 1)?, beyond(corners, 2)?]))
        .collect()
}

/// The face of each triangle: the largest triangle that has none yet begins one, and takes in its neighbours as far as they lie in
/// its plane.
fn group(points: &[Vector3<f64>], triangles: Triangles, neighbours: &[[usize; 3]]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    // Twice the area along the normal, about the first corner.
    let area = |k: usize| {
        let [a, b, c] = triangles[k].map(|corner| points[corner]);
        (b - a).cross(&(c - a))
    };
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| area(j).norm_squared().total_cmp(&area(i).norm_squared()).then(i.cmp(&j)));
    let mut face_of = vec![NONE; triangles.len()];
    let mut faces = 0;
    for first in order {
        if face_of[first] != NONE {
            continue;
        }
        let mut members = vec![first];
        for _ in 0..ROUNDS {
            let sum: Vector3<f64> = members.iter().map(|&k| area(k)).sum();
            let normal = sum.normalize();
            let from = points[triangles[first][0]];
            let height = |corner: usize| normal.dot(&(points[corner] - from));
            let count: f64 = members.iter().map(|_| 3.0).sum();
            let mean = members.iter().flat_map(|&k| triangles[k]).map(height).sum::<f64>() / count;
            let level = |k: usize| triangles[k].iter().all(|&corner| (height(corner) - mean).abs() <= LEVEL);
            let mut grown = vec![first];
            let mut inside = HashSet::from([first]);
            let mut next = 0;
            while next < grown.len() {
                let k = grown[next];
                next += 1;
                for beyond in neighbours[k] {
                    if face_of[beyond] == NONE && level(beyond) && inside.insert(beyond) {
                        grown.push(beyond);
                    }
                }
            }
            let is_same = grown.len() == members.len();
            members = grown;
            if is_same {
                break;
            }
        }
        for k in members {
            face_of[k] = faces;
        }
        faces += 1;
    }
    face_of
}

/// The corners along a border, which must be one cycle of at least three.
fn outline(border: &HashMap<usize, usize>, place: &HashMap<usize, u32>) -> Result<Vec<u32>, Defect> {
    let start = *border.keys().min().ok_or(Defect::Unresolved)?;
    let (mut at, mut steps) = (start, 0);
    let mut outline = Vec::new();
    loop {
        outline.extend(place.get(&at));
        at = *border.get(&at).ok_or(Defect::Unresolved)?;
        steps += 1;
        if at == start {
            break;
        }
        if steps > border.len() {
            return Err(Defect::Unresolved);
        }
    }
    if steps != border.len() || outline.len() < 3 { Err(Defect::Unresolved) } else { Ok(outline) }
}
