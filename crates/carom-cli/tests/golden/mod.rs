//! Output that is compared with stored texts, `tests/golden/*.txt`; `CAROM_BLESS=1` rewrites them.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

/// What a run of the program left.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// The text is the one stored under this name.
#[track_caller]
pub fn check(name: &str, text: &str) {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("CAROM_BLESS").is_some() {
        fs::write(&stored, text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&stored).unwrap_or_default(), "{name}");
}
