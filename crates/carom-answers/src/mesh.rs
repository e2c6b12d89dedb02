//! The points of meshes: Wavefront OBJ, and STL in both of its forms.
//!
//! A body is the convex hull of its mesh, so that of a file only the points count: of an OBJ those that its faces use, or all where it has
//! none; of an STL the corners of its triangles.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use carom::hull::MOST_POINTS;
use carom::scene::Format;
use carom::scene::meshes::{Meshes, wanted};

/// The file that keeps the points of meshes beside a scene whose folder is not that of the meshes.
pub(crate) const KEPT: &str = "meshes.json";

/// The longest mesh read, in bytes.
const LONGEST: u64 = 1 << 30;

/// What is wrong, and what would be right.
type Wrong = [String; 2];

fn wrong(message: impl Into<String>, expected: &str) -> Wrong {
    [message.into(), expected.to_string()]
}

/// The meshes that a text names, from a folder. Those that a run has kept there come first.
pub(crate) fn of_text(text: &str, format: Format, folder: &Path) -> Meshes {
    let names = wanted(text, format);
    if names.is_empty() {
        return Meshes::default();
    }
    let mut meshes =
        std::fs::read(folder.join(KEPT)).map_or_else(|_| Meshes::default(), |bytes| kept(&bytes));
    for name in names {
        if meshes.get(&name).is_err() {
            meshes.insert(&name, read(&folder.join(&name)));
        }
    }
    meshes
}

/// What [`document`] wrote; nothing of what it could not have written.
pub(crate) fn kept(bytes: &[u8]) -> Meshes {
    let mut meshes = Meshes::default();
    let found: Result<std::collections::BTreeMap<String, Vec<[f64; 3]>>, _> = serde_json::from_slice(bytes);
    for (name, points) in found.unwrap_or_default() {
        meshes.insert(&name, Ok(points));
    }
    meshes
}

/// The meshes as a file beside a scene; nothing where there are none.
pub(crate) fn document(meshes: &Meshes) -> Option<Vec<u8>> {
    if meshes.is_empty() {
        return None;
    }
    let table: std::collections::BTreeMap<&str, &[[f64; 3]]> = meshes.iter().collect();
    serde_json::to_vec(&table).ok()
}

/// The points of a file.
pub fn read(path: &Path) -> Result<Vec<[f64; 3]>, Wrong> {
    const EXPECTED: &str = "a mesh in OBJ or STL; its path is from the scene's folder";
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let parse = match extension.as_deref() {
        Some("obj") => of_obj,
        Some("stl") => of_stl,
        _ => return Err(wrong("is neither an .obj nor an .stl file", EXPECTED)),
    };
    let unreadable =
        |error: std::io::Error| wrong(format!("cannot be read from {}: {error}", path.display()), EXPECTED);
    if path.is_dir() {
        return Err(wrong(format!("is a directory: {}", path.display()), EXPECTED));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > LONGEST {
        return Err(wrong(format!("is longer than {LONGEST} bytes"), "a coarser mesh"));
    }
    let points = parse(&bytes)?;
    if points.is_empty() {
        return Err(wrong("has no points", EXPECTED));
    }
    if points.len() > MOST_POINTS {
        return Err(wrong(format!("has {} points", points.len()), "at most ten million: a coarser mesh"));
    }
    Ok(points)
}

/// Three coordinates after a keyword.
fn point<'a>(mut words: impl Iterator<Item = &'a str>, line: usize, word: &str) -> Result<[f64; 3], Wrong> {
    let mut point = [0.0; 3];
    for coordinate in &mut point {
        let read = words.next().and_then(|word| word.parse::<f64>().ok()).filter(|x| x.is_finite());
        let Some(read) = read else {
            let message = format!("has a point in line {line} that is not three finite numbers");
            return Err(wrong(message, &format!("`{word} x y z`")));
        };
        *coordinate = read;
    }
    Ok(point)
}

fn text(bytes: &[u8]) -> Result<&str, Wrong> {
    std::str::from_utf8(bytes).map_err(|error| {
        wrong(format!("is not a text in UTF-8 (byte {} is not)", error.valid_up_to()), "a mesh in OBJ or STL")
    })
}

fn of_obj(bytes: &[u8]) -> Result<Vec<[f64; 3]>, Wrong> {
    let mut points = Vec::new();
    let mut used = Vec::new();
    for (number, line) in text(bytes)?.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                points.push(point(words, number + 1, "v")?);
                used.push(false);
            }
            Some("f") => {
                for word in words {
                    // Of v/vt/vn the first, from 1; from the end where it is negative.
                    let index = word.split('/').next().and_then(|index| index.parse::<i64>().ok());
                    let place = index.and_then(|index| {
                        let from_end = usize::try_from(index.unsigned_abs()).ok()?;
                        if index > 0 { from_end.checked_sub(1) } else { points.len().checked_sub(from_end) }
                    });
                    match place.and_then(|place| used.get_mut(place)) {
                        Some(used) => *used = true,
                        None => {
                            let message = format!(
                                "has a face in line {} with the point `{word}`, which is not there",
                                number + 1
                            );
                            return Err(wrong(message, "numbers of points above it, from 1"));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    if used.iter().any(|used| *used) {
        let mut flags = used.iter();
        points.retain(|_| flags.next() == Some(&true));
    }
    Ok(points)
}

fn of_stl(bytes: &[u8]) -> Result<Vec<[f64; 3]>, Wrong> {
    const HEAD: usize = 84;
    const TRIANGLE: usize = 50;
    let count = bytes.get(80..HEAD).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    let length =
        count.and_then(|count| usize::try_from(count).ok()?.checked_mul(TRIANGLE)?.checked_add(HEAD));
    // A text may begin with `solid` and so may the head of the other form: the length tells.
    if length == Some(bytes.len()) {
        let mut points = Vec::new();
        for triangle in bytes[HEAD..].chunks_exact(TRIANGLE) {
            for corner in triangle[12..48].chunks_exact(12) {
                let mut point = [0.0; 3];
                for (x, four) in point.iter_mut().zip(corner.chunks_exact(4)) {
                    *x = f64::from(f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
                }
                if !point.iter().all(|x| x.is_finite()) {
                    return Err(wrong("has a point that is not finite", "finite numbers"));
                }
                points.push(point);
            }
        }
        return Ok(points);
    }
    if !bytes.trim_ascii_start().starts_with(b"solid") {
        return Err(wrong(
            "is no STL: neither a text that begins with `solid` nor as long as its number of triangles says",
            "a mesh in OBJ or STL",
        ));
    }
    let mut points = Vec::new();
    for (number, line) in text(bytes)?.lines().enumerate() {
        let mut words = line.split_whitespace();
        if words.next() == Some("vertex") {
            points.push(point(words, number + 1, "vertex")?);
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use carom::scene::Format;
    use carom::scene::meshes::Meshes;

    use super::{KEPT, document, of_obj, of_stl, of_text};

    #[test]
    fn points_of_faces_are_read() {
        let text = b"# a corner\nv 0 0 0\nv 1 0 0 1\nv 0 1e0 0\nv 0 0 1\nv 9 9 9\nvn 0 0 1\nf 1 2/1 3//1\nf 1 -4 4/2/3\n";
        let points = of_obj(text).unwrap();
        assert_eq!(points, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(of_obj(b"v 1 2 3\n").unwrap(), [[1.0, 2.0, 3.0]]);
        assert!(of_obj(b"v 1 2\n").unwrap_err()[0].contains("line 1"));
        assert!(of_obj(b"v 1 2 nan\n").unwrap_err()[0].contains("line 1"));
        assert!(of_obj(b"v 1 2 3\nf 1 2 3\n").unwrap_err()[0].contains("line 2"));
        assert!(of_obj(b"\xff").is_err());
    }

    /// What a run keeps beside its scene comes before the file, whose path may lead nowhere from there.
    #[test]
    fn kept_meshes_need_no_file() {
        let scene = "carom = 1\n[[body]]\nname = \"it\"\nmass = 1\nshape = { polyhedron = { file = \"../part.obj\" } }\n";
        let corners = [[0.1, 0.2, 0.3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut meshes = Meshes::default();
        meshes.insert("../part.obj", Ok(corners.iter().chain(&[[0.3, 0.3, 0.3]]).copied().collect()));
        let folder = std::env::temp_dir().join(format!("carom-kept-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(KEPT), document(&meshes).unwrap()).unwrap();
        let read = of_text(scene, Format::Toml, &folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(read, meshes);
        assert_eq!(read.get("../part.obj").unwrap().len(), 4);
        let input = |meshes| crate::Input { meshes, ..crate::Input::of_text("it", scene.to_string(), None) };
        assert_eq!(input(read).hash(), input(meshes.clone()).hash());
        assert_ne!(input(meshes.clone()).hash(), input(Meshes::default()).hash());
        assert!(input(meshes).scene().is_ok() && input(Meshes::default()).scene().is_err());
        assert!(document(&Meshes::default()).is_none());
    }

    #[test]
    fn both_forms_of_stl_are_read() {
        let corners = [[0.0_f32, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.5, -2.0]];
        let mut bytes = b"solid in name only".to_vec();
        bytes.resize(80, b' ');
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend([0; 12]);
        corners.iter().flatten().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes.extend([0; 2]);
        let expected = corners.map(|x| x.map(f64::from));
        assert_eq!(of_stl(&bytes).unwrap(), expected);
        let text = b"solid it\n facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 1 2.5\n endloop\n";
        assert_eq!(of_stl(text).unwrap()[2], [0.0, 1.0, 2.5]);
        bytes.pop();
        bytes[0] = b'x';
        assert!(of_stl(&bytes).unwrap_err()[0].contains("no STL"));
    }
}
