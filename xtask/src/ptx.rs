//! The kernels of `crates/carom-gpu`: from the library's sources to PTX.
//!
//! The nightly compiler makes bitcode of the kernels, of what they use and of `core`; its own llvm-link, opt and llc make PTX of that, as the
//! linker for this target is not shipped. `libm` is compiled with the processor's square root, which is rounded as its own is, and without
//! recursion, which would keep the driver from knowing how much stack a thread needs.

mod bitcode;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, step};

/// The programs, whether all of their own functions are inlined, and the registers of a thread: as measured.
const KINDS: [(&str, bool, u32); 2] = [("ellipsoids", true, 168), ("superellipsoids", false, 128)];

const KERNELS: &str = "begin,open,turn,close,place,sum,slot_size";

const TARGET: &str = "nvptx64-nvidia-cuda";

/// The oldest GPUs that the compiler knows.
const PROCESSOR: &str = "sm_70";

/// Builds all of them into `crates/carom-gpu/ptx`.
pub fn build(root: &Path) -> Result<(), Failure> {
    let tools = tools()?;
    let work = root.join("target/ptx");
    let libm = patched_libm(root, &work)?;
    let kernels = root.join("crates/carom-gpu/kernels");
    let ptx = root.join("crates/carom-gpu/ptx");
    fs::create_dir_all(&ptx).map_err(|error| error.to_string())?;
    for (kind, all, registers) in KINDS {
        // Each from its own folder, so that no program is made of another's parts.
        let target = work.join(kind);
        remove_kernels(&target.join(TARGET).join("release/deps"));
        let patch = format!("patch.crates-io.libm.path={:?}", libm.display().to_string());
        let mut command = Command::new("cargo");
        command
            .current_dir(&kernels)
            .args(["+nightly", "build", "--release", "--target", TARGET, "-Z", "build-std=core"])
            .args(["--features", kind, "--config", &patch, "--target-dir"])
            .arg(&target)
            .env_remove("RUSTUP_TOOLCHAIN")
            .env_remove("RUSTC")
            .env("RUSTFLAGS", format!("-C target-cpu={PROCESSOR} -C linker-plugin-lto -A warnings"));
        step(&mut command)?;
        let folder = work.join(format!("{kind}.parts"));
        let text = link(&tools, &target.join(TARGET).join("release/deps"), &folder, all)?;
        let packed =
            miniz_oxide::deflate::compress_to_vec_zlib(bitcode::limited(&text, registers).as_bytes(), 9);
        write(&ptx.join(format!("{kind}.ptx.z")), &packed)?;
        println!("{kind}: {} bytes of PTX, {} packed", text.len(), packed.len());
    }
    let hash = sources::hash(root).map_err(|error| error.to_string())?;
    write(&ptx.join("sources.txt"), format!("{hash}\n").as_bytes())
}

/// Takes away the kernels that were built before, perhaps with other flags.
fn remove_kernels(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("libcarom_kernels") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The folder of the nightly compiler's LLVM tools, which are installed if they are missing.
fn tools() -> Result<PathBuf, Failure> {
    let said = |arguments: &[&str]| -> Result<String, Failure> {
        let output =
            Command::new("rustc").arg("+nightly").args(arguments).env_remove("RUSTUP_TOOLCHAIN").output();
        let output = output.map_err(|error| format!("rustc +nightly: {error}"))?;
        if !output.status.success() {
            return Err("the kernels need a nightly toolchain: rustup toolchain install nightly".to_string());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let version = said(&["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("").to_string();
    let root = PathBuf::from(said(&["--print", "sysroot"])?).join("lib/rustlib");
    let tools = root.join(host).join("bin");
    if !tools.join("llc").exists() || !root.join("src/rust/library/core").exists() {
        let mut command = Command::new("rustup");
        command.args(["component", "add", "--toolchain", "nightly", "rust-src", "llvm-tools"]);
        step(&mut command)?;
    }
    Ok(tools)
}

/// A copy of `libm`, as the workspace has it, changed for this target.
fn patched_libm(root: &Path, work: &Path) -> Result<PathBuf, Failure> {
    let output = Command::new("cargo")
        .current_dir(root)
        .args(["metadata", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|all| all.iter().find(|package| package["name"] == "libm"))
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("the workspace has no libm")?;
    let (from, to) = (Path::new(manifest).parent().unwrap_or(root), work.join("libm"));
    let _ = fs::remove_dir_all(&to);
    copy(from, &to)?;
    let changes = [
        (
            "src/lib.rs",
            "#![no_std]\n",
            "#![no_std]\n#![feature(core_intrinsics)]\n#![allow(internal_features)]\n",
        ),
        (
            "src/math/frexp.rs",
            "            let (x, e) = frexp(x * x1p64);\n            return (x, e - 64);\n",
            "            let mut y = (x * x1p64).to_bits();\n            let e = ((y >> 52) & 0x7ff) as i32 - 0x3fe;\n            \
             y &= 0x800fffffffffffff;\n            y |= 0x3fe0000000000000;\n            return (f64::from_bits(y), e - 64);\n",
        ),
    ];
    for (file, old, new) in changes {
        let path = to.join(file);
        let text = read(&path)?;
        if !text.contains(old) {
            return Err(format!("{} is not as expected", path.display()));
        }
        write(&path, text.replacen(old, new, 1).as_bytes())?;
    }
    // Of f64: the second but last function of the file.
    let path = to.join("src/math/sqrt.rs");
    let text = read(&path)?;
    let body = "    super::generic::sqrt(x)\n";
    let at = text.find("pub fn sqrt(x: f64)").and_then(|start| Some(start + text[start..].find(body)?));
    let at = at.ok_or_else(|| format!("{} is not as expected", path.display()))?;
    let (head, tail) = (&text[..at], &text[at + body.len()..]);
    write(&path, format!("{head}    core::intrinsics::sqrtf64(x)\n{tail}").as_bytes())?;
    Ok(to)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, name) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &name)?;
        } else {
            fs::copy(&path, &name).map_err(failed)?;
        }
    }
    Ok(())
}

/// The bitcode in a folder of libraries as PTX.
fn link(tools: &Path, libraries: &Path, folder: &Path, all: bool) -> Result<String, Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", libraries.display());
    let _ = fs::remove_dir_all(folder);
    let mut objects = Vec::new();
    for entry in fs::read_dir(libraries).map_err(failed)? {
        let library = entry.map_err(failed)?.path();
        if library.extension().is_none_or(|kind| kind != "rlib") {
            continue;
        }
        let parts = folder.join(library.file_stem().unwrap_or_default());
        fs::create_dir_all(&parts).map_err(failed)?;
        step(Command::new(tools.join("llvm-ar")).current_dir(&parts).arg("x").arg(&library))?;
        for part in fs::read_dir(&parts).map_err(failed)? {
            let part = part.map_err(failed)?.path();
            if part.extension().is_some_and(|kind| kind == "o") {
                objects.push(part);
            }
        }
    }
    // The kernels first: of the others only what they need is taken.
    objects.sort_by_key(|path| (!path.to_string_lossy().contains("libcarom_kernels"), path.clone()));
    let place = |name: &str| folder.join(name);
    let mut command = Command::new(tools.join("llvm-link"));
    step(command.args(["--only-needed", "-S", "-o"]).arg(place("linked.ll")).args(&objects))?;
    write(&place("inlined.ll"), bitcode::inlined(&read(&place("linked.ll"))?, all).as_bytes())?;
    let optimise = |passes: &str, from: &str, to: &str| {
        let mut command = Command::new(tools.join("opt"));
        command.arg(format!("-passes={passes}")).arg(format!("-internalize-public-api-list={KERNELS}"));
        step(command.args(["-S", "-o"]).arg(place(to)).arg(place(from)))
    };
    optimise("internalize,globaldce,default<O3>,globaldce", "inlined.ll", "optimised.ll")?;
    write(&place("copied.ll"), bitcode::copied(&read(&place("optimised.ll"))?).as_bytes())?;
    let passes = "function(sroa,early-cse<memssa>,gvn,dse,instcombine,simplifycfg),globaldce";
    optimise(passes, "copied.ll", "last.ll")?;
    let mut command = Command::new(tools.join("llc"));
    step(
        command
            .args(["-O3", &format!("-mcpu={PROCESSOR}"), "-o"])
            .arg(place("kernels.ptx"))
            .arg(place("last.ll")),
    )?;
    read(&place("kernels.ptx"))
}
