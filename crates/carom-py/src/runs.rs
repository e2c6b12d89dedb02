//! A run: stepped without Python's lock, with looks at signals and words to `progress` in between; Ctrl-C ends it with what was
//! reached, as it does in the program.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use carom::fill;
use carom::observe::{BlockMeans, Observer};
use carom::record::Memory;
use carom::run::World;
use carom::scene::model::{Scene, SceneBody, ScenePlane};
use carom_answers::folder::{self, Files, RESULT};
use carom_answers::page::whole_stream;
use carom_answers::run::{
    Changes, Entries, Frames, Loop, Running, ShapeEntry, named_law, named_loop, on_paradox, replicas,
};
use carom_answers::tables::{self, JointRow};
use carom_answers::{Input, InputError, VERSION, Verdict};
use numpy::PyArray1;
use pyo3::exceptions::{PyFileExistsError, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::exceptions::{exception, unwritten};
use crate::forces::{Forces, Raised, put_into};
use crate::questions::{Text, ask, in_words, named};
use crate::sections::{Sections, cut, cut_text};
use crate::tables::Table;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Recorded>()?;
    module.add_function(wrap_pyfunction!(describe, module)?)?;
    module.add_function(wrap_pyfunction!(reopen, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
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
    source: Source,
}

/// Where the files of a run's folder come from.
enum Source {
    /// They are made when they are asked for.
    Run {
        /// The scene's text.
        input: Input,
        /// The document, with the rows of the tables.
        result: String,
        /// The averages of a gas.
        blocks: Option<Vec<BlockMeans>>,
        /// The file of the derivatives.
        derivatives: Option<Vec<u8>>,
    },
    /// They were read.
    Files(Files),
}

/// Times, and the energies then: kinetic, its part that is translation, potential, and its part that loads have.
type EnergyColumns<'py> = (Bound<'py, PyArray1<f64>>, [Bound<'py, PyArray1<f64>>; 4]);

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
        serde_json::to_string(&Entries::of(&self.scene, &self.memory, samples))
            .map_err(|error| unwritten(&error))
    }

    /// The energies of all bodies at the sampling interval.
    fn energies<'py>(&self, py: Python<'py>) -> EnergyColumns<'py> {
        let (mut times, mut columns) = (Vec::new(), [const { Vec::new() }; 4]);
        py.detach(|| {
            let (world, _) = World::of(&self.scene);
            let mut frames = Frames::new(self.scene.bodies.len());
            for frame in self.memory.samples.iter().filter_map(|sample| frames.take(sample)) {
                let energies = world.energies(&frame.states);
                let moving = world.bodies.iter().zip(&frame.states).filter(|(body, _)| !body.fixed);
                let translation: f64 =
                    moving.map(|(body, state)| 0.5 * body.mass * state.velocity.norm_squared()).sum();
                times.push(frame.time);
                let values = [energies.kinetic, translation, energies.potential(), energies.loads];
                for (column, energy) in columns.iter_mut().zip(values) {
                    column.push(energy);
                }
            }
        });
        (PyArray1::from_vec(py, times), columns.map(|column| PyArray1::from_vec(py, column)))
    }

    /// The stream that pictures in three dimensions are made of, as the page of `carom view` reads it.
    fn stream<'py>(&self, py: Python<'py>, stopped: &str) -> Bound<'py, PyBytes> {
        let stream = py.detach(|| whole_stream(&self.scene, self.text(), &self.memory, stopped));
        PyBytes::new(py, &stream)
    }

    /// The files that `carom run -o` writes, by name.
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for (name, bytes) in &py.detach(|| self.made())?.0 {
            files.set_item(name, PyBytes::new(py, bytes))?;
        }
        Ok(files)
    }

    /// Writes them to a folder; with `force` in the place of a run that is there.
    fn save(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<()> {
        let save = |folder: &Path| -> Result<bool, folder::Error> {
            let free = force || !Files::are_in(folder)?;
            if free {
                self.made()?.write(folder)?;
            }
            Ok(free)
        };
        match py.detach(|| save(&folder)) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let words = "holds a run already: `force=True` replaces it";
                Err(PyFileExistsError::new_err(format!("{} {words}", folder.display())))
            }
            Err(error) => Err(unusable(py, error)),
        }
    }

    /// What the scene's bodies and planes are.
    fn described(&self) -> Described {
        described(&self.scene)
    }
}

impl Recorded {
    /// The scene's text.
    fn text(&self) -> &str {
        match &self.source {
            Source::Run { input, .. } => &input.text,
            Source::Files(files) => files.scene_text(),
        }
    }

    /// The files of its folder.
    fn made(&self) -> io::Result<Files> {
        match &self.source {
            Source::Files(files) => Ok(files.clone()),
            Source::Run { input, result, blocks, derivatives } => {
                let mut files = Files::of(input, &self.scene, &self.memory, blocks.as_deref(), result)?;
                files.add_derivatives(derivatives.as_deref());
                Ok(files)
            }
        }
    }

    /// A run again from its files.
    fn of(py: Python<'_>, files: Files) -> PyResult<Self> {
        let contents = py.detach(|| files.open()).map_err(|error| unusable(py, error))?;
        let document = cut_text(&contents.document).map_err(|error| {
            PyValueError::new_err(format!("{RESULT}: not the document of a run: {error}"))
        })?;
        let (verdict, warnings) = (named(Verdict::Done), Vec::new());
        let (scene, memory) = (Arc::new(contents.scene), contents.memory);
        Ok(Self { document, verdict, warnings, scene, memory, source: Source::Files(files) })
    }
}

/// The exception of a folder that cannot be used.
fn unusable(py: Python<'_>, error: folder::Error) -> PyErr {
    match error {
        folder::Error::Input(error) => exception(py, &error),
        folder::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            PyValueError::new_err(error.to_string())
        }
        folder::Error::Io(error) => error.into(),
    }
}

/// A run again from the files of its folder, by name.
#[pyfunction]
fn reopen(py: Python<'_>, files: BTreeMap<String, Vec<u8>>) -> PyResult<Recorded> {
    Recorded::of(py, Files(files))
}

/// A run again from its folder.
#[pyfunction]
fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Recorded> {
    let files = py.detach(|| Files::read(&folder))?;
    Recorded::of(py, files)
}

/// A body: name, kind of shape, semi-axes, exponent, mass, moments, whether it is fixed.
type DescribedBody = (String, &'static str, [f64; 3], f64, f64, [f64; 3], bool);

/// Bodies, planes (name, normal, offset), and gravity.
type Described = (Vec<DescribedBody>, Vec<(String, [f64; 3], f64)>, [f64; 3]);

/// What pictures are drawn from.
fn described(scene: &Scene) -> Described {
    let body = |body: &SceneBody| {
        let constants = &body.body;
        let ShapeEntry { kind, semi_axes, exponent, .. } = ShapeEntry::of(&constants.shape);
        let (mass, inertia) = (constants.mass, constants.inertia.into());
        (body.name.clone(), kind, semi_axes, exponent, mass, inertia, constants.fixed)
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

/// What a run changes in its scene, as Python gives it.
#[derive(FromPyObject)]
pub struct ChangeOptions {
    until: Option<f64>,
    max_events: Option<usize>,
    sample: Option<f64>,
    on_paradox: Option<String>,
    law: Option<String>,
    r#loop: Option<String>,
    threads: Option<usize>,
    replica: u64,
    project: bool,
    strict: bool,
}

impl ChangeOptions {
    /// The same in the library's words.
    pub fn changes(&self) -> Result<Changes, InputError> {
        Ok(Changes {
            until: self.until,
            max_events: self.max_events,
            sample: self.sample,
            on_paradox: self.on_paradox.as_deref().map(on_paradox).transpose()?,
            law: self.law.as_deref().map(named_law).transpose()?,
            which: self.r#loop.as_deref().map(named_loop).transpose()?,
            threads: self.threads,
            replica: self.replica,
            project: self.project,
            strict: self.strict,
        })
    }
}

/// Runs a scene.
#[pyfunction]
#[pyo3(signature = (text, changes, derivatives, forces, progress=None))]
fn ask_run(
    py: Python<'_>,
    text: Text,
    changes: ChangeOptions,
    derivatives: Vec<String>,
    forces: Forces,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Recorded> {
    let start = Instant::now();
    let raised = Raised::default();
    let mut running = begin(py, text, &changes, &derivatives, forces, &raised)?;
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
    whole.set_rows(Files::rows(&running.scene, &memory));
    let result = serde_json::to_string(&whole).map_err(|error| unwritten(&error))?;
    let blocks = running.engine.observer.as_ref().map(Observer::blocks);
    let made = running.derivatives();
    let derivatives = made.map(|found| Files::derivatives(&running.input, &running.scene, &found));
    let derivatives = derivatives.transpose()?;
    let verdict = named(running.end().map_or(Verdict::Done, carom_answers::run::End::verdict));
    let warnings = in_words(&running.input, running.scene.warnings.iter().chain(&running.warnings));
    let source = Source::Run { input: running.input, result, blocks, derivatives };
    Ok(Recorded { document, verdict, warnings, scene: running.scene, memory, source })
}

/// Prepares the run. Placing a fill takes long: Ctrl-C ends that too, and there is nothing to show for it.
fn begin(
    py: Python<'_>,
    text: Text,
    changes: &ChangeOptions,
    derivatives: &[String],
    forces: Forces,
    raised: &Raised,
) -> PyResult<Running> {
    let mut changes = changes.changes().map_err(|error| exception(py, &error))?;
    if !forces.is_empty() && !derivatives.is_empty() {
        let message = "derivatives of motion under forces of yours are not computed";
        return Err(exception(py, &InputError::of_option(Some("derivatives"), message, Some("no `forces`"))));
    }
    // Derivatives are those of the general loop's runs.
    if !forces.is_empty() || !derivatives.is_empty() {
        // The many-body engine knows no forces.
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
        let mut running = Running::begin_in(subject, changes, placing, make)?;
        running.differentiate(derivatives)?;
        Ok(running)
    });
    match interrupt {
        Some(interrupt) => Err(interrupt),
        None => begun,
    }
}
