//! Scenes that name meshes: where their paths lead from, and what is wrong with them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCENE: &str = "carom = 1
[[body]]
name = \"die\"
shape = { polyhedron = { file = \"parts/cube.obj\", scale = 0.2, rounding = 0.05 } }
density = 1000
position = [0, 0, 1]
[[plane]]
name = \"floor\"
normal = [0, 0, 1]
";

/// A folder with a scene and its mesh, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("carom-meshes-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("parts")).unwrap();
        let corner = |k: u32| {
            let [x, y, z] = [1, 2, 4].map(|bit| if k & bit == 0 { -0.5 } else { 0.5 });
            format!("v {x} {y} {z}\n")
        };
        fs::write(path.join("parts/cube.obj"), (0..8).map(corner).collect::<String>()).unwrap();
        fs::write(path.join("scene.toml"), SCENE).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Standard output and error of `carom gap`, with a text on standard input, run in a folder.
fn gap(scene: &str, text: Option<&str>, folder: &Path) -> (String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
        .args(["gap", scene, "--json"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.unwrap_or("").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).into()
}

#[test]
fn paths_are_from_the_scenes_folder() {
    let folder = Folder::new("paths");
    let elsewhere = std::env::temp_dir();
    for (scene, text, from) in
        [(folder.0.join("scene.toml"), None, &elsewhere), (PathBuf::from("-"), Some(SCENE), &folder.0)]
    {
        let (out, error) = gap(scene.to_str().unwrap(), text, from);
        let answer: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
        let found = answer["pairs"][0]["gap"].as_f64().unwrap();
        // A cube of half 0.1 with a skin of 0.05.
        assert!((found - 0.85).abs() < 1e-15, "{found}");
    }
}

#[test]
fn what_is_wrong_is_said_where_the_scene_names_it() {
    let folder = Folder::new("wrong");
    let said = |scene: &str| {
        let (out, error) = gap("-", Some(scene), &folder.0);
        format!("{out}{error}")
    };
    fs::write(folder.0.join("parts/bad.obj"), "v 1 2\n").unwrap();
    fs::write(folder.0.join("parts/flat.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n").unwrap();
    for (file, words) in [
        ("none.obj", ["cannot be read", "from the scene's folder"]),
        ("cube.ply", ["neither an .obj nor an .stl", "OBJ or STL"]),
        ("bad.obj", ["line 1", "v x y z"]),
        ("flat.obj", ["in a plane", "not in one plane"]),
    ] {
        let text = said(&SCENE.replace("cube.obj", file));
        for word in words.into_iter().chain(["body[0].shape.polyhedron.file", "\"line\":4"]) {
            assert!(
                text.replace(": ", ":").contains(&word.replace(": ", ":")),
                "{file}: no {word:?} in {text}"
            );
        }
    }
}
