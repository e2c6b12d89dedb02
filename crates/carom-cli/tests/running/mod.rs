//! Running the program on scenes given as text, in folders that go away again.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The program.
pub fn carom() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    // The width of whoever runs the tests.
    command.env_remove("COLUMNS");
    command
}

/// A folder for a test's files, removed at its end.
pub struct Place(PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("carom-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file there.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a run of the program left.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }

    #[track_caller]
    pub fn well(self) -> Self {
        // A document may be long; how it ended stands at its end.
        let end: String = self.out.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect();
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{end}");
        self
    }
}

/// `carom run` on a file.
pub fn run(scene: &Path, options: &[&str]) -> Ran {
    carom().arg("run").arg(scene).args(options).output().unwrap().into()
}

/// `carom run --json` on a scene given as text.
pub fn run_text(name: &str, scene: &str, options: &[&str]) -> Ran {
    let place = Place::new(name);
    run(&place.file("scene.toml", scene), options)
}

/// Starts `carom run` with its output dropped.
pub fn start(arguments: &[&str]) -> Child {
    let mut command = carom();
    command.arg("run").args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}
