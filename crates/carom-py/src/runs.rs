//! A run: stepped without Python's lock, with looks at signals and words to `progress` in between; Ctrl-C ends it with what was
//! reached, as it does in the program.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carom::fill;
use carom::observe::BlockMeans;
use carom::record::Memory;
use carom::scene::Format;
use carom::scene::model::{OnParadox, Scene, SceneBody, ScenePlane};
use carom::shape::Shape;
use carom_answers::run::{Changes, EventEntry, Loop, ReactionEntry, Rows, Running, SampleEntry, replicas};
use carom_answers::tables::file::{file, of_arrow};
use carom_answers::tables::{self, JointRow};
use carom_answers::{Input, Refusal, VERSION, Verdict};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;

use crate::forces::{Forces, Raised, put_into};
use crate::questions::{Text, ask, named};
use crate::refusals::{exception, unwritten};
use crate::sections::{Sections, cut, cut_text};
use crate::tables::Table;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Recorded>()?;
    module.add_function(wrap_pyfunction!(describe, module)?)?;
    module.add_function(wrap_pyfunction!(reopen, module)?)?;
    module.add_function(wrap_pyfunction!(ask_run, module)?)
}

/// How long a run goes on between two looks at signals.
const LOOK: Duration = Duration::from_millis(40);

/// What a run left behind.
#[pyclass(frozen, module = "carom._carom")]
pub struct Recorded {
    /// The document without events and samples.
    #[pyo3(get)]
    document: Sections,
    /// Empty: no violation.
    #[pyo3(get)]
    verdict: &'static str,
    /// What is worth a word about the scene.
    #[pyo3(get)]
    warnings: Vec<String>,
    scene: Arc<Scene>,
    memory: Memory,
    folder: Files,
}

/// The files of a run's folder, by name.
enum Files {
    /// Written when they are asked for.
    Made {
        /// The scene's text.
        input: Input,
        /// The document, with the rows of the tables.
        result: String,
        /// The averages of a gas.
        blocks: Option<Vec<BlockMeans>>,
    },
    /// As they were read.
    Read(HashMap<String, Vec<u8>>),
}

/// Events, and samples and reactions where they are wanted, as the program's document has them.
#[derive(Serialize)]
struct Entries<'a> {
    events: Vec<EventEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Vec<SampleEntry<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reactions: Vec<ReactionEntry<'a>>,
}

#[pymethods]
impl Recorded {
    /// The events as a table.
    fn events(&self) -> PyResult<Table> {
        Table::of(tables::events(&self.scene, &self.memory.events, &[]))
    }

    /// The samples as a table.
    fn samples(&self) -> PyResult<Table> {
        Table::of(tables::samples(&self.scene, &self.memory.samples, &[]))
    }

    /// What joints carried in impacts, as a table.
    fn joint_impulses(&self) -> PyResult<Table> {
        Table::of(tables::joint_impulses(&self.scene, &JointRow::of(&self.memory.events), &[]))
    }

    /// What joints exerted at samples, as a table.
    fn reactions(&self) -> PyResult<Table> {
        Table::of(tables::reactions(&self.scene, &self.memory.reactions, &[]))
    }

    /// The part of the document that holds events, and samples where they are wanted.
    fn entries(&self, samples: bool) -> PyResult<String> {
        let scene = &*self.scene;
        let reactions = if samples { self.memory.reactions.as_slice() } else { &[] };
        let entries = Entries {
            events: self.memory.events.iter().map(|event| EventEntry::of(scene, event)).collect(),
            samples: samples
                .then(|| self.memory.samples.iter().map(|sample| SampleEntry::of(scene, sample)).collect()),
            reactions: reactions.iter().map(|reaction| ReactionEntry::of(scene, reaction)).collect(),
        };
        serde_json::to_string(&entries).map_err(|error| unwritten(&error))
    }

    /// The files that `carom run -o` writes, by name.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        match &self.folder {
            Files::Read(read) => {
                for (name, bytes) in read {
                    files.set_item(name, PyBytes::new(py, bytes))?;
                }
            }
            Files::Made { input, result, blocks } => {
                let made = py.detach(|| self.parquet(input, blocks.as_deref()))?;
                files.set_item(scene_file(input.format), PyBytes::new(py, input.text.as_bytes()))?;
                for (name, bytes) in made {
                    files.set_item(format!("{name}.parquet"), PyBytes::new(py, &bytes))?;
                }
                files.set_item(RESULT, PyBytes::new(py, result.as_bytes()))?;
            }
        }
        Ok(files)
    }

    /// What the scene's bodies and planes are.
    fn described(&self) -> Described {
        described(&self.scene)
    }
}

impl Recorded {
    /// The tables as files.
    fn parquet(
        &self,
        input: &Input,
        blocks: Option<&[BlockMeans]>,
    ) -> io::Result<Vec<(&'static str, Vec<u8>)>> {
        let (scene, memory) = (&*self.scene, &self.memory);
        let title = scene.title.clone().unwrap_or_default();
        let about = [("version", VERSION.to_string()), ("scene", input.hash()), ("title", title)];
        let mut made = vec![
            ("events", tables::events(scene, &memory.events, &about)),
            ("samples", tables::samples(scene, &memory.samples, &about)),
        ];
        if !scene.joints.is_empty() {
            let impulses = JointRow::of(&memory.events);
            made.push(("joint_impulses", tables::joint_impulses(scene, &impulses, &about)));
            made.push(("reactions", tables::reactions(scene, &memory.reactions, &about)));
        }
        made.extend(blocks.map(|blocks| ("observables", tables::observables(scene, blocks, &about))));
        made.into_iter().map(|(name, rows)| Ok((name, file(&rows.map_err(of_arrow)?)?))).collect()
    }
}

/// The file of the result.
const RESULT: &str = "run.json";

/// The file of the scene.
const fn scene_file(format: Format) -> &'static str {
    match format {
        Format::Toml => "scene.toml",
        Format::Json => "scene.json",
    }
}

/// A run again from the files of its folder.
#[pyfunction]
fn reopen(py: Python<'_>, files: HashMap<String, Vec<u8>>) -> PyResult<Recorded> {
    let text = |name: &str| files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let missing = |what: &str| PyValueError::new_err(format!("the folder holds no run: there is no {what}"));
    let scene = [Format::Toml, Format::Json]
        .into_iter()
        .find_map(|format| text(scene_file(format)).map(|text| (format, text)));
    let (format, scene) = scene.ok_or_else(|| missing("scene.toml or scene.json"))?;
    let document = text(RESULT).ok_or_else(|| missing(RESULT))?;
    let document = cut_text(&document)
        .map_err(|error| PyValueError::new_err(format!("{RESULT}: not the document of a run: {error}")))?;
    let subject = ask(py, || Ok(Input::of_text(scene_file(format), scene, Some(format)).scene()?))?;
    let scene = fill::populate(&subject.scene);
    let memory = py
        .detach(|| tables::read::memory(&scene, |name| files.get(name).cloned()))
        .map_err(PyValueError::new_err)?;
    let (verdict, warnings) = (named(Verdict::Done), Vec::new());
    Ok(Recorded { document, verdict, warnings, scene: Arc::new(scene), memory, folder: Files::Read(files) })
}

/// A body: name, kind of shape, semi-axes, exponent, mass, moments, whether it is fixed.
type DescribedBody = (String, &'static str, [f64; 3], f64, f64, [f64; 3], bool);

/// Bodies, planes (name, normal, offset), and gravity.
type Described = (Vec<DescribedBody>, Vec<(String, [f64; 3], f64)>, [f64; 3]);

/// What pictures are drawn from.
fn described(scene: &Scene) -> Described {
    let body = |body: &SceneBody| {
        let constants = &body.body;
        let (kind, axes, exponent) = match constants.shape {
            Shape::Point => ("point", [0.0; 3], 2.0),
            Shape::Sphere { radius } => ("sphere", [radius; 3], 2.0),
            Shape::Ellipsoid { semi_axes } => ("ellipsoid", semi_axes, 2.0),
            Shape::Superellipsoid { semi_axes, exponent } => ("superellipsoid", semi_axes, exponent),
        };
        let (mass, inertia) = (constants.mass, constants.inertia.into());
        (body.name.clone(), kind, axes, exponent, mass, inertia, constants.fixed)
    };
    let plane =
        |plane: &ScenePlane| (plane.name.clone(), (*plane.half_space.normal).into(), plane.half_space.offset);
    let (bodies, planes) = (scene.bodies.iter().map(body), scene.planes.iter().map(plane));
    (bodies.collect(), planes.collect(), scene.gravity.into())
}

/// What the bodies and planes of a scene are; those of fills too, wherever they will be.
#[pyfunction]
fn describe(py: Python<'_>, text: Text) -> PyResult<Described> {
    ask(py, || Ok(described(&fill::populate(&text.subject()?.scene))))
}

/// What a run is to do otherwise than its scene says, as Python gives it.
#[derive(FromPyObject)]
pub struct ChangeOptions {
    until: Option<f64>,
    max_events: Option<usize>,
    sample: Option<f64>,
    on_paradox: Option<String>,
    r#loop: Option<String>,
    threads: Option<usize>,
    replica: u64,
    project: bool,
    strict: bool,
}

impl ChangeOptions {
    /// The same in the library's words.
    pub fn changes(&self) -> Result<Changes, Refusal> {
        let on_paradox = self.on_paradox.as_deref().map(|name| {
            let found = OnParadox::ALL.into_iter().find(|listed| listed.name() == name);
            let expected = OnParadox::ALL.map(OnParadox::name).join(", ");
            found.ok_or_else(|| Refusal::of_value("on_paradox", name, &expected))
        });
        let which = self.r#loop.as_deref().map(|name| {
            let found = Loop::ALL.into_iter().find(|listed| listed.name() == name);
            let expected = Loop::ALL.map(Loop::name).join(", ");
            found.ok_or_else(|| Refusal::of_value("loop", name, &expected))
        });
        Ok(Changes {
            until: self.until,
            max_events: self.max_events,
            sample: self.sample,
            on_paradox: on_paradox.transpose()?,
            which: which.transpose()?,
            threads: self.threads,
            replica: self.replica,
            project: self.project,
            strict: self.strict,
        })
    }
}

/// Runs a scene.
#[pyfunction]
#[pyo3(signature = (text, changes, forces, progress=None))]
fn ask_run(
    py: Python<'_>,
    text: Text,
    changes: ChangeOptions,
    forces: Forces,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Recorded> {
    let start = Instant::now();
    let raised = Raised::default();
    let mut running = begin(py, text, &changes, forces, &raised)?;
    let mut memory = Memory::default();
    loop {
        let more = py.detach(|| {
            let since = Instant::now();
            let mut more = running.step(&mut memory);
            while more && since.elapsed() < LOOK {
                more = running.step(&mut memory);
            }
            more
        });
        // Ctrl-C comes here, in a force, or while progress is told.
        let looked = raised.take().map_or_else(|| py.check_signals(), Err).and_then(|()| match &progress {
            Some(progress) => progress.call1((running.engine.time(), running.engine.until())).map(drop),
            None => Ok(()),
        });
        match looked {
            Ok(()) => {}
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => running.interrupt(),
            Err(error) => return Err(error),
        }
        if !more || running.end().is_some() {
            break;
        }
    }
    let mut whole = running.document(VERSION, start.elapsed().as_secs_f64(), running.notes());
    let document = cut(&whole).map_err(|error| unwritten(&error))?;
    whole.set_rows(rows_of(&running.scene, &memory));
    let result = serde_json::to_string(&whole).map_err(|error| unwritten(&error))?;
    let blocks = running.engine.observer.as_ref().map(|observer| observer.blocks());
    let verdict = named(running.end().map_or(Verdict::Done, carom_answers::run::End::verdict));
    let name = &running.input.name;
    let say = |d: &carom::scene::Diagnostic| {
        format!("{name}:{}:{}: {} {}", d.line, d.column, d.field.as_deref().unwrap_or_default(), d.message)
    };
    let warnings = running.scene.warnings.iter().chain(&running.warnings).map(say).collect();
    let folder = Files::Made { input: running.input, result, blocks };
    Ok(Recorded { document, verdict, warnings, scene: running.scene, memory, folder })
}

/// The rows of the tables.
fn rows_of(scene: &Scene, memory: &Memory) -> Rows {
    let joints = !scene.joints.is_empty();
    Rows {
        events: memory.events.len() as u64,
        samples: memory.samples.len() as u64,
        joint_impulses: joints.then(|| JointRow::of(&memory.events).len() as u64),
        reactions: joints.then_some(memory.reactions.len() as u64),
    }
}

/// Prepares the run. Placing a fill takes long: Ctrl-C ends that too, and there is nothing to show for it.
fn begin(
    py: Python<'_>,
    text: Text,
    changes: &ChangeOptions,
    forces: Forces,
    raised: &Raised,
) -> PyResult<Running> {
    let mut changes = changes.changes().map_err(|refusal| exception(py, &refusal))?;
    if !forces.is_empty() {
        // A crowd knows no forces.
        changes.which = changes.which.or(Some(Loop::Simulation));
    }
    let mut interrupt = None;
    let mut last = Instant::now();
    let begun = ask(py, || {
        let placing = |_| {
            if last.elapsed() >= LOOK {
                last = Instant::now();
                interrupt = Python::attach(|py| py.check_signals().err());
            }
            interrupt.is_none()
        };
        let make = |scene: &Scene, world| put_into(scene, world, forces, raised);
        let subject = text.subject()?;
        if changes.replica > 0 {
            replicas::check(&subject)?;
        }
        Ok(Running::begin_in(subject, changes, placing, make)?)
    });
    match interrupt {
        Some(interrupt) => Err(interrupt),
        None => begun,
    }
}
