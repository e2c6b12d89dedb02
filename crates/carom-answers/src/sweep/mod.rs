//! Many runs of one scene: what is varied, what a sample comes to, and the table of all.
//!
//! ```
//! use carom_answers::{Input, sweep};
//!
//! let text = "carom = 1
//! world = { gravity = [0, 0, -2] }
//! run = { until = 3 }
//! [[body]]
//! name = 'ball'
//! shape = { sphere = { radius = 0.1 } }
//! mass = 1
//! position = [0, 0, 1.1]
//! [[plane]]
//! name = 'floor'
//! normal = [0, 0, 1]
//! [[sweep.vary]]
//! path = 'surface.restitution'
//! grid = [0.5, 1, 3]
//! ";
//! let input = Input::of_text("ball.toml", text.to_string(), None);
//! let sweep = sweep::Sweep::new(sweep::Request::of(input))?;
//! assert_eq!((sweep.samples(), sweep.plan().columns()), (3, &["surface.restitution".to_string()][..]));
//! let row = sweep.row(2, &|| true).expect("nobody interrupts it");
//! let run = row.result.expect("it can be run");
//! // It falls for one second and rises for one more, and one later it has reached the floor again.
//! assert!(run.stopped == "until" && run.impacts >= 1);
//! # Ok::<(), carom_answers::InputError>(())
//! ```

mod collect;
mod columns;
mod folder;
mod many;
mod row;
mod summary;
mod table;
mod vary;

use carom::scene::model::{Collect, Scene, SweepSettings};
use carom::scene::template::Template;
use carom::sweep::{NoPlan, Plan};

use crate::options::Count;
use crate::{Input, InputError, Subject, VERSION};

pub use columns::{columns, is_sweep};
pub use folder::{Folder, Shard, merge};
pub use row::{Finished, Row};
pub use summary::{Call, Document, Summary};
pub use vary::parse_vary;

/// How many samples.
pub const SAMPLES: Count = Count { most: 1 << 52 };

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The scene's text.
    pub input: Input,
    /// More entries like those of `[[sweep.vary]]`, as a list in JSON; empty for none.
    pub vary: String,
    /// How many samples, instead of what the scene says.
    pub samples: Option<u64>,
    /// The seed, instead of what the scene says.
    pub seed: Option<u64>,
    /// What else to record, besides what the scene says.
    pub collect: Vec<Collect>,
}

impl Request {
    /// What a scene says by itself.
    pub fn of(input: Input) -> Self {
        Self { input, vary: String::new(), samples: None, seed: None, collect: Vec::new() }
    }
}

/// A sweep ready to go.
#[derive(Debug, Clone)]
pub struct Sweep {
    input: Input,
    template: Template,
    plan: Plan,
    title: Option<String>,
    /// The names of the bodies whose final states are columns.
    bodies: Vec<String>,
    /// Tells sweeps apart.
    identity: String,
}

/// Final states of more bodies than this, and of the bodies of fills, are not columns.
const MOST_BODIES: usize = 100;

/// How many samples are tried for one that is a scene.
const TRIED: u64 = 100;

impl Sweep {
    /// Reads what is to be varied, and finds at least one of the first samples to be a scene.
    pub fn new(request: Request) -> Result<Self, InputError> {
        let Request { input, vary, samples, seed, collect } = request;
        if let Some(samples) = samples {
            SAMPLES.check("samples", samples)?;
        }
        let in_text = |diagnostics| input.error(diagnostics);
        let template =
            Template::new(&input.text, input.format).map_err(in_text)?.with_meshes(input.meshes.clone());
        let mut settings = template.sweep("").map_err(in_text)?;
        if !vary.is_empty() {
            settings = template.sweep(&vary).map_err(|mut diagnostics| {
                // Places in a text that the user has not written say nothing.
                diagnostics.iter_mut().for_each(|d| d.field = Some("vary".to_string()));
                InputError { fault: crate::input_error::Fault::Option, diagnostics }
            })?;
        }
        settings.samples = samples.or(settings.samples);
        settings.seed = seed.unwrap_or(settings.seed);
        for one in collect {
            if !settings.collect.contains(&one) {
                settings.collect.push(one);
            }
        }
        let plan = Plan::new(&settings).map_err(|why| no_plan(&input, why))?;
        let scene = any_scene(&input, &template, &plan)?;
        let many = scene.bodies.len() > MOST_BODIES;
        let bodies = if many { &[][..] } else { &scene.bodies };
        Ok(Self {
            identity: identity(&input, &settings, &vary, plan.samples()),
            title: scene.title.clone(),
            bodies: bodies.iter().map(|body| body.name.clone()).collect(),
            input,
            template,
            plan,
        })
    }

    /// Which samples there are.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many samples.
    pub fn samples(&self) -> u64 {
        self.plan.samples()
    }

    /// The scene's title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The scene's text.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Tells sweeps apart that would not have the same rows.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// A sample's scene.
    pub fn subject(&self, sample: u64) -> Result<Subject, InputError> {
        let numbers = self.plan.numbers(sample);
        match self.template.scene(&self.plan.settings().vary, &numbers) {
            Ok(scene) => Ok(Subject { input: self.input.clone(), scene }),
            Err(diagnostics) => Err(self.input.error(diagnostics)),
        }
    }

    fn collects(&self, what: Collect) -> bool {
        self.plan.settings().collect.contains(&what)
    }
}

/// A scene that the sweep makes: of the first sample if it is one, or else of another.
fn any_scene(input: &Input, template: &Template, plan: &Plan) -> Result<Scene, InputError> {
    let vary = &plan.settings().vary;
    let mut first = None;
    for sample in 0..plan.samples().min(TRIED) {
        match template.scene(vary, &plan.numbers(sample)) {
            Ok(scene) => return Ok(scene),
            Err(diagnostics) => first = first.or(Some(diagnostics)),
        }
    }
    Err(input.error(first.unwrap_or_default()))
}

fn no_plan(input: &Input, why: NoPlan) -> InputError {
    let (path, message, expected) = match why {
        NoPlan::NothingVaries => (
            "sweep.vary",
            "nothing varies",
            "[[sweep.vary]] with a `path`, or --vary \"surface.restitution=uniform(0, 1)\"",
        ),
        NoPlan::NoCount => ("sweep.samples", "is missing", "how many samples, or a grid"),
        NoPlan::TooMany => ("sweep.vary", "the grid has more than 2^52 points", "fewer points"),
    };
    let source = carom::scene::file::Source::new(&input.text, input.format);
    input.error(vec![source.explain(path, message, expected)])
}

fn identity(input: &Input, settings: &SweepSettings, vary: &str, samples: u64) -> String {
    let collect: Vec<&str> = settings.collect.iter().map(|collect| collect.name()).collect();
    let text = format!("{}\n{vary}\n{samples} {} {}", input.text, settings.seed, collect.join(" "));
    Input { text, ..input.clone() }.hash()
}

/// The metadata of a table.
fn about(sweep: &Sweep) -> [(&'static str, String); 4] {
    [
        ("version", VERSION.to_string()),
        ("scene", sweep.input.hash()),
        ("sweep", sweep.identity.clone()),
        ("varied", sweep.plan.columns().join("\n")),
    ]
}
