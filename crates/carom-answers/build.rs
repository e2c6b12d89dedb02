//! Tells the answers which commit they were built from.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Sources unpacked inside a foreign checkout are not that checkout's commit.
    let tracked = git(&["ls-files", "--error-unmatch", "build.rs"]).is_some();
    let commit = tracked.then(|| git(&["rev-parse", "--short", "HEAD"])).flatten();
    println!("cargo::rustc-env=CAROM_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    // `--git-path` knows where these lie in a linked worktree. The log changes with every commit, also when the
    // branch itself is packed away.
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD", "logs/HEAD"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string()).filter(|text| !text.is_empty())
}
