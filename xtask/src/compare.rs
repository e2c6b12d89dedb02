//! `cargo xtask compare-engines`: carom beside other engines on the same probes.
//!
//! Installs the engines into `target/compare`, asks each for every probe in `comparison/probes`, and writes the answers to
//! `comparison/results.json` and the tables of the book's chapter from them. An engine that cannot be had on this machine is named, and
//! what it answered before stays, with its date. Then times heaps and chains, which goes to `comparison/contacts.json`. Tests run none
//! of this: they check that the tables are those of the results, and that carom still gives what is written there.

mod figure;
mod measure;
mod scene;
mod table;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Failure, announce, cargo_command, examples, step};
use measure::{Errors, Final};
use scene::Request;

const RESULTS: &str = "comparison/results.json";
const CHAPTER: &str = "book/src/comparison.md";
const FIGURE: &str = "book/src/comparison.svg";

/// What heaps and chains cost, as `contacts.py` writes it.
const CONTACTS: &str = "comparison/contacts.json";

/// The probes, in the chapter's order.
const PROBES: [&str; 6] = ["tumbling", "falling", "dzhanibekov", "superball", "corner", "cradle"];

/// Every step of the ladder divides the time of every probe.
const STEPS: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];

/// How far carom may be from what it answered before and from the exact answer, in the units of [`Errors`].
const ROUNDING: f64 = 1e-14;

/// An engine's program: it reads a request and prints an answer.
struct Program {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    /// A file in `comparison/engines`, for the Python that `comparison/requirements.txt` is installed for.
    Python(&'static str),
    /// A file there, for the Python that the system's packages are made for, and what must be importable with the package that has it.
    SystemPython { file: &'static str, module: &'static str, package: &'static str },
    /// The Rust package in this folder of `comparison`.
    Rust(&'static str),
}

const ENGINES: [Program; 6] = [
    Program {
        name: "Siconos",
        kind: Kind::SystemPython {
            file: "siconos_engine.py",
            module: "siconos.kernel",
            package: "python3-siconos",
        },
    },
    Program { name: "Drake", kind: Kind::Python("drake_engine.py") },
    Program { name: "MuJoCo", kind: Kind::Python("mujoco_engine.py") },
    Program { name: "DART", kind: Kind::Python("dart_engine.py") },
    Program { name: "Rapier", kind: Kind::Rust("rapier") },
    Program { name: "PyBullet", kind: Kind::Python("bullet_engine.py") },
];

/// What is in `results.json`.
#[derive(Deserialize, Serialize)]
struct Results {
    exact: Engine,
    /// carom first.
    engines: Vec<Engine>,
}

/// An engine's answers to all probes.
#[derive(Clone, Deserialize, Serialize)]
struct Engine {
    engine: String,
    version: String,
    settings: String,
    date: String,
    machine: String,
    answers: BTreeMap<String, Answer>,
}

/// An answer to a probe: the reason why it cannot be asked, or runs, the finest last.
#[derive(Clone, Deserialize, Serialize)]
struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cannot: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    runs: Vec<Run>,
}

#[derive(Clone, Deserialize, Serialize)]
struct Run {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    choice: String,
    r#final: Final,
    /// Known of the exact answer alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    impacts: Vec<f64>,
    wall_s: f64,
}

/// An answer as a program prints it.
#[derive(Deserialize)]
struct Printed {
    engine: String,
    version: String,
    settings: String,
    #[serde(flatten)]
    answer: Answer,
}

/// Runs every engine that can be had, and writes results, tables and figure.
pub fn run(root: &Path) -> Result<(), Failure> {
    let requests = requests(root)?;
    let program = examples::dist(root)?;
    let venv = venv(root)?;
    let exact = ask_all(&requests, || python(&venv, root, "exact.py"), None)?;
    let before = read(root).map(|results| results.engines).unwrap_or_default();
    let mut engines = vec![carom(&program, root, &requests)?];
    let mut absent = Vec::new();
    for engine in &ENGINES {
        let command = prepare(engine, root, &venv);
        let answers = command.and_then(|command| ask_all(&requests, command, Some(&exact)));
        let (row, failure) = row(engine.name, answers, &before);
        engines.extend(row);
        absent.extend(failure);
    }
    let results = Results { exact, engines };
    let text = serde_json::to_string_pretty(&results).map_err(|error| error.to_string())? + "\n";
    write(&root.join(RESULTS), &text)?;
    show(root, &requests, &results)?;
    let mut contacts = python(&venv, root, "contacts.py");
    absent.extend(step(contacts.arg(&program).arg("--out").arg(root.join(CONTACTS))).err());
    for failure in absent {
        println!("\n{failure}");
    }
    Ok(())
}

/// An engine's answers; or those that it gave before, and why there are no new ones.
fn row(name: &str, answers: Result<Engine, Failure>, before: &[Engine]) -> (Option<Engine>, Option<Failure>) {
    match answers {
        Ok(engine) => (Some(engine), None),
        Err(failure) => {
            let earlier = before.iter().find(|earlier| earlier.engine == name).cloned();
            let kept = match &earlier {
                Some(earlier) => format!("what it answered on {} is kept", earlier.date),
                None => "it is left out".to_string(),
            };
            (earlier, Some(format!("{name} cannot be run here, {kept}: {failure}")))
        }
    }
}

/// Checks that the chapter shows the results, and that carom gives what they say. With `CAROM_BLESS` the chapter is made to.
pub fn check(root: &Path, program: &Path) -> Result<(), Failure> {
    let (requests, results) = (requests(root)?, read(root)?);
    if env::var_os("CAROM_BLESS").is_some() {
        show(root, &requests, &results)?;
    }
    check_shown(root, &requests, &results)?;
    let now = carom(program, root, &requests)?;
    let before = results.engines.iter().find(|engine| engine.engine == now.engine);
    let before = before.ok_or_else(|| format!("{RESULTS} has no answer of carom"))?;
    for request in &requests {
        let runs = |engine: &Engine| {
            let answer = engine.answers.get(&request.probe).cloned();
            answer
                .map(|answer| answer.runs)
                .ok_or_else(|| format!("no answer of {} to {}", engine.engine, request.probe))
        };
        let (now, before, exact) = (runs(&now)?, runs(before)?, runs(&results.exact)?);
        if now.len() != before.len() || now.len() != exact.len() {
            return Err(format!("{RESULTS} has not as many answers to {} as carom gives", request.probe));
        }
        for (number, run) in now.iter().enumerate() {
            for (other, what) in
                [(&before[number], "its earlier answer"), (&exact[number], "the exact answer")]
            {
                let errors = errors(request, other, run)?;
                let all = [errors.motion, errors.energy, errors.momentum, errors.spin, errors.attitude];
                // So asked, it is not passed by what is no number.
                if !all.iter().all(|error| *error <= ROUNDING) {
                    return Err(format!("{}: carom is off {what}: {all:?}", request.probe));
                }
            }
        }
    }
    println!("\n{CHAPTER}: the tables of {} engines; carom as it was", results.engines.len());
    Ok(())
}

/// Writes tables and figure as the results have them.
fn show(root: &Path, requests: &[Request], results: &Results) -> Result<(), Failure> {
    let chapter = text_of(&root.join(CHAPTER))?;
    write(&root.join(CHAPTER), &table::fill(&chapter, requests, results)?)?;
    write(&root.join(FIGURE), &figure::draw(requests, results)?)
}

/// Checks that tables and figure are those of the results.
fn check_shown(root: &Path, requests: &[Request], results: &Results) -> Result<(), Failure> {
    let chapter = text_of(&root.join(CHAPTER))?;
    if table::fill(&chapter, requests, results)? != chapter {
        return Err(format!("the tables of {CHAPTER} are not those of {RESULTS}"));
    }
    if figure::draw(requests, results)? != text_of(&root.join(FIGURE))? {
        return Err(format!("{FIGURE} does not show {RESULTS}"));
    }
    Ok(())
}

fn requests(root: &Path) -> Result<Vec<Request>, Failure> {
    let folder = root.join("comparison/probes");
    let read = |probe: &&str| {
        // Two million steps of free rotation are long enough to wait for.
        let steps = if *probe == "dzhanibekov" { &STEPS[..3] } else { &STEPS[..] };
        scene::read(&folder.join(probe).with_extension("toml"), probe, steps)
    };
    PROBES.iter().map(read).collect()
}

fn read(root: &Path) -> Result<Results, Failure> {
    serde_json::from_str(&text_of(&root.join(RESULTS))?).map_err(|error| format!("{RESULTS}: {error}"))
}

fn errors(request: &Request, exact: &Run, run: &Run) -> Result<Errors, Failure> {
    measure::errors(request, &exact.r#final, &run.r#final)
        .ok_or_else(|| format!("an answer to {} lacks a body", request.probe))
}

/// How far a run is from the nearest of the exact answers.
fn distance(request: &Request, exact: &Answer, run: &Run) -> Result<f64, Failure> {
    let distances = exact.runs.iter().map(|exact| errors(request, exact, run).map(|errors| errors.motion));
    Ok(distances.collect::<Result<Vec<f64>, Failure>>()?.into_iter().fold(f64::INFINITY, f64::min))
}

/// Asks a program for every probe. Of the runs at one step the one is kept that errs the least.
fn ask_all(
    requests: &[Request],
    command: impl Fn() -> Command,
    exact: Option<&Engine>,
) -> Result<Engine, Failure> {
    let mut engine: Option<Engine> = None;
    for request in requests {
        let asked = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        let printed: Printed = ask(command(), &asked)?;
        let mut answer = printed.answer;
        if let Some(exact) = exact.and_then(|exact| exact.answers.get(&request.probe)) {
            answer.runs = best(request, exact, answer.runs)?;
        }
        let engine = engine.get_or_insert_with(|| Engine {
            engine: printed.engine,
            version: printed.version,
            settings: printed.settings,
            date: today(),
            machine: machine(),
            answers: BTreeMap::new(),
        });
        engine.answers.insert(request.probe.clone(), answer);
    }
    engine.ok_or_else(|| "there are no probes".to_string())
}

fn best(request: &Request, exact: &Answer, runs: Vec<Run>) -> Result<Vec<Run>, Failure> {
    let mut kept: Vec<(Run, f64)> = Vec::new();
    for run in runs {
        let error = distance(request, exact, &run)?;
        match kept.last_mut() {
            Some((last, least)) if last.step == run.step && last.accuracy == run.accuracy => {
                if error < *least {
                    (*last, *least) = (run, error);
                }
            }
            _ => kept.push((run, error)),
        }
    }
    Ok(kept.into_iter().map(|(run, _)| run).collect())
}

/// Gives a program its input and reads the document that it prints.
fn ask<Document: DeserializeOwned>(mut command: Command, input: &[u8]) -> Result<Document, Failure> {
    let words = announce(&command);
    let start = Instant::now();
    let failed = |error: std::io::Error| format!("{words}: {error}");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let written = child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(input));
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.trim_end().lines().last().unwrap_or_default();
        return Err(format!("{words}: {}: {last}", output.status));
    }
    written.map_err(failed)?;
    println!("   took {:.1?}", start.elapsed());
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{words}: {error}"))
}

/// carom's own answers: one to each probe, and to balls that touch a second one, the contacts one at a time.
fn carom(program: &Path, root: &Path, requests: &[Request]) -> Result<Engine, Failure> {
    #[derive(Deserialize)]
    struct Document {
        version: String,
        r#final: Final,
        performance: Performance,
    }
    #[derive(Deserialize)]
    struct Performance {
        wall_s: f64,
    }
    let mut version = String::new();
    let mut answers = BTreeMap::new();
    for request in requests {
        let path = root.join("comparison/probes").join(&request.probe).with_extension("toml");
        let mut laws = vec![("newton_lcp", "at once")];
        if request.bodies.len() > 1 {
            laws.push(("sequential", "one at a time"));
        }
        let mut runs = Vec::new();
        for (law, choice) in laws {
            let text = text_of(&path)? + &format!("\n[impact]\nlaw = \"{law}\"\n");
            let once = || {
                let mut command = Command::new(program);
                command.current_dir(root).args(["run", "-", "--json"]);
                ask::<Document>(command, text.as_bytes())
            };
            let document = once()?;
            version = document.version;
            // The least of three, as for the short runs of the others.
            let mut wall_s = document.performance.wall_s;
            for _ in 0..2 {
                wall_s = wall_s.min(once()?.performance.wall_s);
            }
            let (choice, impacts) = (choice.to_string(), Vec::new());
            runs.push(Run { step: None, accuracy: None, choice, r#final: document.r#final, impacts, wall_s });
        }
        answers.insert(request.probe.clone(), Answer { cannot: None, runs });
    }
    // The commit that a build may name is not the version.
    let version = version.split(' ').next().unwrap_or_default().to_string();
    let settings =
        "event by event, no step; the law newton_lcp, and for the cradle sequential as well".to_string();
    Ok(Engine { engine: "carom".to_string(), version, settings, date: today(), machine: machine(), answers })
}

/// The command of an engine that is ready to be asked.
fn prepare(engine: &Program, root: &Path, venv: &Path) -> Result<Box<dyn Fn() -> Command>, Failure> {
    let engines = root.join("comparison/engines");
    match engine.kind {
        Kind::Python(file) => {
            let (venv, root) = (venv.to_path_buf(), root.to_path_buf());
            Ok(Box::new(move || python(&venv, &root, file)))
        }
        Kind::SystemPython { file, module, package } => {
            let system = PathBuf::from("/usr/bin/python3");
            let found = || {
                let import = Command::new(&system).arg("-c").arg(format!("import {module}")).output();
                import.is_ok_and(|output| output.status.success())
            };
            if !found() {
                step(Command::new("apt-get").args(["update", "--quiet"]))?;
                let mut install = Command::new("apt-get");
                install.args(["install", "--yes", "--quiet", "--no-install-recommends", package]);
                step(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
            }
            Ok(Box::new(move || {
                let mut command = Command::new(&system);
                command.current_dir(&engines).arg("-B").arg(file);
                command
            }))
        }
        Kind::Rust(folder) => {
            let target = folder_of(root).join(folder);
            let mut build = cargo_command(&root.join("comparison").join(folder));
            step(build.args(["build", "--release", "--locked"]).env("CARGO_TARGET_DIR", &target))?;
            let program = target.join("release").join(format!("compare-{folder}{}", env::consts::EXE_SUFFIX));
            Ok(Box::new(move || Command::new(&program)))
        }
    }
}

fn python(venv: &Path, root: &Path, file: &str) -> Command {
    let mut command = Command::new(venv.join("bin/python"));
    command.current_dir(root.join("comparison/engines")).arg("-B").arg(file);
    command
}

/// A Python of its own, with what `comparison/requirements.txt` lists. What cannot be installed is missed by its engine.
fn venv(root: &Path) -> Result<PathBuf, Failure> {
    let venv = folder_of(root).join("venv");
    if !venv.join("bin/python").is_file() {
        step(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    let requirements = text_of(&root.join("comparison/requirements.txt"))?;
    for requirement in requirements.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut install = Command::new(venv.join("bin/python"));
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]);
        if let Err(failure) = step(&mut install) {
            eprintln!("{failure}");
        }
    }
    Ok(venv)
}

fn folder_of(root: &Path) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    root.join(target).join("compare")
}

/// The processor, and how many of its cores there are.
fn machine() -> String {
    let list = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = list.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or(env::consts::ARCH, |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores of {model}, {}", env::consts::OS)
}

fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86400)
}

/// The date of a day counted from 1 January 1970, in the calendar of Gregory.
fn date(day: u64) -> String {
    // Years that begin in March end with their leap day; 400 of them have 146097 days.
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year)
}

fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn the_chapter_shows_the_results() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let (requests, mut results) = (requests(root).unwrap(), read(root).unwrap());
        assert_eq!(check_shown(root, &requests, &results), Ok(()));
        // One digit of one speed is enough to be noticed.
        let answer = results.engines[1].answers.get_mut("tumbling").unwrap();
        answer.runs[0].r#final.get_mut("ellipsoid").unwrap().velocity[2] *= 1.1;
        assert!(check_shown(root, &requests, &results).is_err());
    }

    #[test]
    fn an_engine_that_cannot_be_had_keeps_its_row() {
        let earlier = Engine {
            engine: "Old".to_string(),
            version: String::new(),
            settings: String::new(),
            date: "2020-02-02".to_string(),
            machine: String::new(),
            answers: BTreeMap::new(),
        };
        let (kept, failure) = row("Old", Err("no such thing".to_string()), std::slice::from_ref(&earlier));
        assert_eq!(kept.map(|engine| engine.date).as_deref(), Some("2020-02-02"));
        assert_eq!(
            failure.as_deref(),
            Some("Old cannot be run here, what it answered on 2020-02-02 is kept: no such thing")
        );
        let (none, failure) = row("New", Err("no such thing".to_string()), std::slice::from_ref(&earlier));
        assert!(none.is_none() && failure.unwrap().contains("left out"));
        assert!(row("New", Ok(earlier), &[]).1.is_none());
    }

    #[test]
    fn days_have_their_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(20_818), "2026-12-31");
    }
}
