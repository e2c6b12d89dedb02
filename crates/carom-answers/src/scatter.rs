//! Two bodies thrown at each other many times: cross-sections and the collision kernel, or one encounter in detail.
//!
//! ```
//! use carom_answers::{Input, scatter};
//!
//! let text = "carom = 1
//! scatter = { samples = 2000, speed = 2 }
//! [[body]]
//! name = 'rod'
//! shape = { ellipsoid = { semi_axes = [2, 0.5, 0.5] } }
//! mass = 1
//! [[body]]
//! name = 'ball'
//! shape = { sphere = { radius = 0.5 } }
//! mass = 1
//! ";
//! let subject = Input::of_text("rod.toml", text.to_string(), None).scene()?;
//! let prepared = scatter::Prepared::of(subject, scatter::Changes::default())?;
//! let answer = prepared.run(|_| true).expect("no file is written");
//! assert_eq!(answer.kernel.samples, 2000);
//! // A quarter of both surfaces, and a term of their mean curvatures.
//! let [found, error] = [answer.kernel.cross_section.mean, answer.kernel.cross_section.error];
//! assert!((found - 6.877).abs() < 4.0 * error, "{found}");
//! # Ok::<(), carom_answers::InputError>(())
//! ```

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use carom::body::State;
use carom::contact::Surface;
use carom::scatter::{AngleBin, Audit, End, Estimate, Kernel, Sample, Scattering, Totals, Unsuited};
use carom::scene::model::{ScatterSettings, Spin, Translation};
use carom_gpu::{Gpu, Scatterer};
use serde::Serialize;

use crate::folder::atomic_file;
use crate::options::{Count, THREADS};
use crate::run::{LIMIT, StateEntry, cores};
use crate::tables::encounters::encounters;
use crate::tables::file::{Writer, of_arrow};
use crate::words::number;
use crate::{InputError, Subject, VERSION, Verdict};

/// How many samples.
pub const SAMPLES: Count = Count { most: 1 << 52 };

/// What is to be different from what the scene says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes {
    /// How many samples.
    pub samples: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// How many threads work; none: as many as there are cores. It changes no result.
    pub threads: Option<usize>,
    /// Where the samples are followed. It changes no result.
    pub device: Device,
}

/// Where samples are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// On the CPU.
    #[default]
    Cpu,
    /// On the first GPU.
    Gpu,
    /// On the first GPU, or on the CPU where there is none that can do it.
    Auto,
}

impl Device {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Gpu, Self::Auto];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Auto => "auto",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Result<Self, InputError> {
        let expected = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|device| device.name() == name)
            .ok_or_else(|| InputError::of_value("device", name, &expected()))
    }
}

/// A scattering ready to go.
#[derive(Debug)]
pub struct Prepared {
    /// The scene.
    pub subject: Subject,
    /// The bodies and the beam.
    pub scattering: Scattering,
    threads: usize,
    device: Device,
}

/// What the samples were followed on.
#[derive(Debug)]
struct Used {
    /// The name of the GPU; none for the CPU.
    gpu: Option<String>,
    /// Why it is the CPU, where a GPU would have been welcome.
    why: Option<String>,
}

/// What it came to.
#[derive(Debug)]
pub struct Answer<'a> {
    prepared: &'a Prepared,
    /// Cross-sections and means.
    pub kernel: Kernel,
    /// How long it took.
    pub wall_s: f64,
    used: Used,
}

impl Prepared {
    /// The scattering of a scene.
    pub fn of(mut subject: Subject, changes: Changes) -> Result<Self, InputError> {
        if let Some(samples) = changes.samples {
            SAMPLES.check("samples", samples)?;
        }
        THREADS.check_some("threads", changes.threads)?;
        let settings = &mut subject.scene.scatter;
        settings.samples = changes.samples.unwrap_or(settings.samples);
        settings.seed = changes.seed.unwrap_or(settings.seed);
        match Scattering::new(&subject.scene) {
            Ok(scattering) => {
                if changes.device == Device::Gpu
                    && let Some((body, why)) = carom_gpu::unsuited(&scattering)
                {
                    return Err(subject.error_at(
                        &format!("body[{body}].shape"),
                        why,
                        "`device` cpu or auto",
                    ));
                }
                let threads = changes.threads.unwrap_or_else(cores);
                Ok(Self { subject, scattering, threads, device: changes.device })
            }
            Err(why) => Err(unsuited(&subject, why)),
        }
    }

    /// Takes the samples; `go_on` hears how many are done, and says whether to go on.
    pub fn run(&self, go_on: impl FnMut(u64) -> bool + Send) -> io::Result<Answer<'_>> {
        let start = Instant::now();
        let (totals, used) = self.totals(false, |_| Ok(()), go_on)?;
        Ok(self.answer(&totals, used, start))
    }

    /// As above, and writes a row for every sample to a Parquet file, which is there whole or not at all.
    pub fn run_into(&self, path: &Path, go_on: impl FnMut(u64) -> bool + Send) -> io::Result<Answer<'_>> {
        let start = Instant::now();
        let schema = self.rows(&[])?.schema();
        let mut found = None;
        atomic_file::write(path, |out| {
            let mut writer = Writer::new(schema, out)?;
            found = Some(self.totals(true, |samples| writer.push(self.rows(samples)?), go_on)?);
            writer.finish()
        })?;
        let (totals, used) = found.ok_or_else(|| io::Error::other("nothing was written"))?;
        Ok(self.answer(&totals, used, start))
    }

    /// As above, with the rows in memory.
    pub fn run_with_rows(
        &self,
        go_on: impl FnMut(u64) -> bool + Send,
    ) -> io::Result<(Answer<'_>, Option<RecordBatch>)> {
        let start = Instant::now();
        let mut blocks = vec![self.rows(&[])?];
        let write = |samples: &[Sample]| {
            blocks.push(self.rows(samples)?);
            Ok(())
        };
        let (totals, used) = self.totals(true, write, go_on)?;
        let rows = concat_batches(&blocks[0].schema(), &blocks).map_err(of_arrow)?;
        Ok((self.answer(&totals, used, start), Some(rows)))
    }

    /// The sums over all samples, wherever they are followed.
    fn totals(
        &self,
        wanted: bool,
        rows: impl FnMut(&[Sample]) -> io::Result<()> + Send,
        go_on: impl FnMut(u64) -> bool + Send,
    ) -> io::Result<(Totals, Used)> {
        let (gpu, why) = match self.device {
            Device::Cpu => (None, None),
            Device::Gpu => (Some(self.gpu().map_err(io::Error::other)?), None),
            Device::Auto => match self.gpu() {
                Ok(gpu) => (Some(gpu), None),
                Err(why) => (None, Some(why)),
            },
        };
        match gpu {
            Some((gpu, scatterer)) => {
                let totals = self.on_threads(|| scatterer.run(wanted, rows, go_on))??;
                Ok((totals, Used { gpu: Some(gpu.name().to_string()), why }))
            }
            None => {
                let totals = self.on_threads(|| self.scattering.run(wanted, rows, go_on))??;
                Ok((totals, Used { gpu: None, why }))
            }
        }
    }

    /// The GPU with the scattering on it, or why there is none.
    fn gpu(&self) -> Result<(Gpu, Scatterer<'_>), String> {
        if let Some((_, why)) = carom_gpu::unsuited(&self.scattering) {
            return Err(why.to_string());
        }
        let words = |why: carom_gpu::Unavailable| format!("no GPU can be used: {why}");
        let gpu = Gpu::open().map_err(words)?;
        let scatterer = Scatterer::new(&gpu, &self.scattering).map_err(words)?;
        Ok((gpu, scatterer))
    }

    /// The rows of some samples.
    fn rows(&self, samples: &[Sample]) -> io::Result<RecordBatch> {
        let about = [("version", VERSION.to_string()), ("scene", self.subject.input.hash())];
        encounters(&self.scattering, samples, &about).map_err(of_arrow)
    }

    fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        Ok(pool.map_err(io::Error::other)?.install(work))
    }

    fn answer(&self, totals: &Totals, used: Used, start: Instant) -> Answer<'_> {
        let kernel = totals.kernel(&self.scattering);
        Answer { prepared: self, kernel, wall_s: start.elapsed().as_secs_f64(), used }
    }

    /// One sample in detail.
    pub fn encounter(&self, sample: u64) -> EncounterDocument<'_> {
        let (found, impacts) = self.scattering.impacts(sample);
        let impact = |impact: &carom::scatter::Impact| ImpactEntry {
            time: impact.time,
            point: impact.point.into(),
            normal: impact.normal.into(),
            gap: impact.gap,
            impulse: impact.impulse.into(),
            before: states_of(&impact.before),
            after: states_of(&impact.after),
            scattering_matrix: self
                .scattering
                .matrix_of(impact)
                .map(|m| (0..12).map(|i| m.row(i).iter().copied().collect()).collect()),
        };
        EncounterDocument {
            title: self.subject.scene.title.as_deref(),
            version: VERSION,
            scene: self.subject.input.hash(),
            bodies: self.names(),
            sample,
            end: found.end.name(),
            impacts: found.impacts,
            impact_parameter: found.offset,
            contact_time: found.contact_time,
            angle: found.is_hit().then(|| found.angle()),
            general: found.continued,
            before: states_of(&found.before),
            after: states_of(&found.after),
            sequence: impacts.iter().map(impact).collect(),
            hash: hex(found.hash()),
        }
    }

    /// The encounter as a scene to run, from its start until some time after its last impact.
    pub fn scene_of(&self, sample: u64) -> String {
        let found = self.scattering.sample(sample);
        let reach = self.scattering.reach();
        let speed = found.relative_velocities()[0].norm();
        let mut text = format!(
            "carom = 1\ntitle = \"Encounter {sample} of {}\"\n",
            self.subject.input.name.replace(['"', '\\'], "'")
        );
        let surface = match self.scattering.surface() {
            Surface::Smooth => "\"smooth\"".to_string(),
            Surface::Rough => "\"rough\"".to_string(),
            Surface::Coulomb(friction) => format!("{{ coulomb = {friction:?} }}"),
        };
        let scene = &self.subject.scene;
        let _ = writeln!(
            text,
            "surface = {{ restitution = {:?}, kind = {surface} }}",
            self.scattering.restitution()
        );
        let (law, end) = (scene.impact.law.name(), scene.impact.termination.name());
        let _ = writeln!(text, "impact = {{ law = \"{law}\", termination = \"{end}\" }}");
        let _ = writeln!(
            text,
            "run = {{ until = {:?}, sample = {:?} }}",
            6.0 * reach / speed,
            0.02 * reach / speed
        );
        for ((body, name), state) in scene.bodies.iter().zip(self.names()).zip(&found.before) {
            let list = |v: &[f64]| v.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ");
            let q = state.orientation;
            let shape = crate::paradox::inline_shape(&body.body.shape);
            let _ = writeln!(text, "\n[[body]]\nname = {}\nshape = {shape}", quoted(name));
            if body.body.fixed {
                let _ = writeln!(text, "fixed = true");
            } else {
                let _ = writeln!(
                    text,
                    "mass = {:?}\ninertia = [{}]",
                    body.body.mass,
                    list(body.body.inertia.as_slice())
                );
            }
            let _ = writeln!(text, "position = [{}]", list(state.position.as_slice()));
            let _ = writeln!(text, "orientation = [{}]", list(&[q.w, q.i, q.j, q.k]));
            let _ = writeln!(text, "velocity = [{}]", list(state.velocity.as_slice()));
            let _ = writeln!(text, "angular_velocity = [{}]", list(state.angular_velocity.as_slice()));
        }
        text
    }

    fn names(&self) -> [&str; 2] {
        let name = |i: usize| self.subject.scene.bodies.get(i).map_or("", |body| body.name.as_str());
        [name(0), name(1)]
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn states_of(states: &[State; 2]) -> [StateEntry; 2] {
    [StateEntry::from(&states[0]), StateEntry::from(&states[1])]
}

fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// What is wrong with the scene, where it stands.
fn unsuited(subject: &Subject, why: Unsuited) -> InputError {
    let body = |i: usize| subject.scene.bodies.get(i).map_or("", |body| body.name.as_str());
    let (path, message, expected) = match why {
        Unsuited::Bodies => {
            let count = subject.scene.bodies.len();
            ("body".to_string(), format!("there are {count} bodies to scatter"), "two bodies")
        }
        Unsuited::Point(i) => (
            format!("body[{i}].shape"),
            format!("`{}` is a point, which nothing hits", body(i)),
            "a shape with an extent",
        ),
        Unsuited::Fixed => {
            ("body[1].fixed".to_string(), "both bodies are immovable".to_string(), "at least one that moves")
        }
        Unsuited::Gravity => (
            "world.gravity".to_string(),
            "bends the beam: bodies are scattered in free flight".to_string(),
            "no gravity",
        ),
        Unsuited::Periodic => {
            ("world.periodic".to_string(), "a beam has no periodic box".to_string(), "an open world")
        }
        Unsuited::Other(name) => {
            (format!("{name}[0]"), "is in the way of the beam".to_string(), "two bodies and nothing else")
        }
    };
    subject.error_at(&path, &message, expected)
}

impl<'a> Answer<'a> {
    /// Whether it was ended early.
    pub fn is_interrupted(&self) -> bool {
        self.kernel.samples < self.prepared.scattering.settings().samples
    }

    /// The scattering.
    pub fn scattering(&self) -> &'a Scattering {
        &self.prepared.scattering
    }

    /// The title.
    pub fn title(&self) -> Option<&'a str> {
        self.prepared.subject.scene.title.as_deref()
    }

    /// Samples by second.
    #[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^53")]
    pub fn rate(&self) -> f64 {
        self.kernel.samples as f64 / self.wall_s
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        if self.kernel.audit.is_within(LIMIT) { Verdict::Done } else { Verdict::AuditFailed }
    }

    /// What else to say.
    pub fn notes(&self) -> Vec<String> {
        let kernel = &self.kernel;
        let mut notes = Vec::new();
        if self.is_interrupted() {
            let asked = self.prepared.scattering.settings().samples;
            notes.push(format!(
                "interrupted after {} of {asked} samples: the results are those of a run of as many",
                kernel.samples
            ));
        }
        if let Some(first) = kernel.first_unresolved {
            notes.push(format!(
                "{} encounters could not be followed until the bodies parted, the first of them sample {first}: those that touched \
                 count as hits, and none is in the means over hits",
                kernel.unresolved
            ));
        }
        if kernel.continued > 0 {
            notes.push(format!(
                "{} encounters had more than separate impacts (contact that lasts, or impacts that accumulate) and were run by the \
                 general engine",
                kernel.continued
            ));
        }
        if let Some(why) = &self.used.why {
            notes.push(format!("followed on the CPU: {why}"));
        }
        notes
    }

    /// For programs.
    pub fn document(&self) -> Document<'_> {
        let Prepared { subject, scattering, threads, .. } = self.prepared;
        let kernel = &self.kernel;
        Document {
            title: self.title(),
            version: VERSION,
            scene: subject.input.hash(),
            bodies: self.prepared.names(),
            settings: Settings::of(scattering, subject),
            stopped: if self.is_interrupted() { "interrupted" } else { "samples" },
            samples: kernel.samples,
            hits: kernel.hits,
            unresolved: kernel.unresolved,
            general: kernel.continued,
            disc_radius: scattering.reach(),
            reduced_mass: scattering.reduced_mass(),
            cross_section: kernel.cross_section,
            rate: kernel.rate,
            diffusion_cross_section: kernel.diffusion_cross_section,
            viscosity_cross_section: kernel.viscosity_cross_section,
            impacts: kernel.impacts,
            energy_loss: kernel.energy_loss,
            exchange: kernel.exchange,
            exchange_squared: kernel.exchange_squared,
            drag: kernel.drag,
            translation_before: kernel.translation_before,
            translation_after: kernel.translation_after,
            rotation_before: kernel.rotation_before,
            rotation_after: kernel.rotation_after,
            mean_angle: kernel.mean_angle,
            angle: &kernel.angle,
            excluded_volume: kernel.excluded_volume,
            second_virial_coefficient: kernel.second_virial_coefficient,
            audit: AuditEntry { errors: kernel.audit, passed: kernel.audit.is_within(LIMIT) },
            hash: hex(kernel.hash),
            notes: self.notes(),
            performance: Performance {
                wall_s: self.wall_s,
                samples_per_s: self.rate(),
                threads: *threads,
                device: self.used.gpu.as_deref().unwrap_or("CPU"),
            },
        }
    }
}

/// The results for programs.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    title: Option<&'a str>,
    version: &'static str,
    scene: String,
    bodies: [&'a str; 2],
    settings: Settings,
    stopped: &'static str,
    samples: u64,
    hits: u64,
    unresolved: u64,
    general: u64,
    disc_radius: f64,
    reduced_mass: f64,
    cross_section: Estimate,
    rate: Estimate,
    diffusion_cross_section: Option<Estimate>,
    viscosity_cross_section: Option<Estimate>,
    impacts: Option<Estimate>,
    energy_loss: Option<Estimate>,
    exchange: Option<Estimate>,
    exchange_squared: Option<Estimate>,
    drag: Option<Estimate>,
    translation_before: Option<Estimate>,
    translation_after: Option<Estimate>,
    rotation_before: Option<Estimate>,
    rotation_after: Option<Estimate>,
    mean_angle: Option<Estimate>,
    angle: &'a [AngleBin],
    excluded_volume: Option<Estimate>,
    second_virial_coefficient: Option<Estimate>,
    audit: AuditEntry,
    hash: String,
    notes: Vec<String>,
    performance: Performance<'a>,
}

#[derive(Debug, Serialize)]
struct AuditEntry {
    #[serde(flatten)]
    errors: Audit,
    passed: bool,
}

#[derive(Debug, Serialize)]
struct Performance<'a> {
    wall_s: f64,
    samples_per_s: f64,
    threads: usize,
    device: &'a str,
}

#[derive(Debug, Serialize)]
struct Settings {
    samples: u64,
    seed: u64,
    speed: Option<f64>,
    temperature: Option<f64>,
    spin: Option<f64>,
    spin_temperature: Option<f64>,
    restitution: f64,
    surface: String,
    law: &'static str,
    termination: &'static str,
}

impl Settings {
    fn of(scattering: &Scattering, subject: &Subject) -> Self {
        let ScatterSettings { samples, seed, translation, spin } = *scattering.settings();
        let (speed, temperature) = match translation {
            Translation::Speed(speed) => (Some(speed), None),
            Translation::Temperature(temperature) => (None, Some(temperature)),
        };
        let (spin, spin_temperature) = match spin {
            Spin::Speed(spin) => (Some(spin), None),
            Spin::Temperature(temperature) => (None, Some(temperature)),
        };
        let surface = match scattering.surface() {
            Surface::Smooth => "smooth".to_string(),
            Surface::Rough => "rough".to_string(),
            Surface::Coulomb(friction) => format!("coulomb {}", number(friction)),
        };
        Self {
            samples,
            seed,
            speed,
            temperature,
            spin,
            spin_temperature,
            restitution: scattering.restitution(),
            surface,
            law: subject.scene.impact.law.name(),
            termination: subject.scene.impact.termination.name(),
        }
    }
}

/// One sample for programs.
#[derive(Debug, Serialize)]
pub struct EncounterDocument<'a> {
    title: Option<&'a str>,
    version: &'static str,
    scene: String,
    /// The names of the two.
    pub bodies: [&'a str; 2],
    /// Its number.
    pub sample: u64,
    /// How it ended.
    pub end: &'static str,
    /// How many impacts there were.
    pub impacts: u32,
    /// Across the beam.
    pub impact_parameter: [f64; 2],
    /// The time of the first contact.
    pub contact_time: Option<f64>,
    /// The scattering angle.
    pub angle: Option<f64>,
    /// Whether the general engine ran it.
    pub general: bool,
    /// The states at the start.
    pub before: [StateEntry; 2],
    /// The states after the last impact.
    pub after: [StateEntry; 2],
    /// The impacts one by one; empty where the general engine ran it.
    pub sequence: Vec<ImpactEntry>,
    hash: String,
}

/// An impact for programs.
#[derive(Debug, Serialize)]
pub struct ImpactEntry {
    /// Since the start.
    pub time: f64,
    point: [f64; 3],
    normal: [f64; 3],
    gap: f64,
    /// On the second body.
    pub impulse: [f64; 3],
    before: [StateEntry; 2],
    after: [StateEntry; 2],
    /// I − (1+k)P of (v₁, ω₁, v₂, ω₂); none for friction.
    scattering_matrix: Option<Vec<Vec<f64>>>,
}

impl EncounterDocument<'_> {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        if self.end == End::Unresolved.name() { Verdict::NoAnswer } else { Verdict::Done }
    }
}
