//! A scene's run with its derivatives.

use carom::body::State;
use carom::derivative::{Chain, Derivatives, Parameter, Tape, parameters};
use carom::record::{Event, Memory, Recorder, Sample};
use carom::run::World;
use carom::scene::model::Scene;
use carom::scene::template::Template;
use carom::scene::{Format, file};
use carom::simulation::Simulation;

/// A run that has ended.
pub struct Replay {
    pub scene: Scene,
    pub world: World,
    pub memory: Memory,
    pub last: Vec<State>,
    pub chain: Chain,
    pub template: Template,
}

#[derive(Default)]
struct Both {
    tape: Tape,
    memory: Memory,
}

impl Recorder for Both {
    fn events(&mut self, events: &[Event]) {
        self.tape.events(events);
        self.memory.events(events);
    }

    fn samples(&mut self, samples: &[Sample]) {
        self.tape.samples(samples);
        self.memory.samples(samples);
    }
}

impl Replay {
    /// Runs a scene.
    pub fn of(text: &str) -> Self {
        let scene = file::read(text, Format::Toml).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}"));
        let (world, states) = World::of(&scene);
        let mut simulation = Simulation::new(world.clone(), &states, scene.run)
            .unwrap_or_else(|invalid| panic!("{invalid:?}\n{text}"));
        let mut both = Both::default();
        simulation.run(&mut both, |_| true);
        let stepped: Vec<(f64, Vec<usize>)> = simulation
            .stepped()
            .iter()
            .map(|interval| (interval.from, interval.bodies.iter().map(|&body| body as usize).collect()))
            .collect();
        let chain = Chain::new(&world, &states, &both.tape, simulation.time(), &stepped);
        let template = Template::new(text, Format::Toml).unwrap();
        Self { scene, world, memory: both.memory, last: simulation.states(), chain, template }
    }

    /// The parameters of some paths.
    pub fn parameters(&self, paths: &[&str]) -> Vec<Parameter> {
        parameters(&self.template, &self.scene, paths).unwrap_or_else(|wrong| panic!("{wrong:?}"))
    }

    /// The derivatives by some paths.
    pub fn derivatives(&self, paths: &[&str]) -> Derivatives {
        let directions: Vec<_> = self.parameters(paths).into_iter().map(|p| p.direction).collect();
        self.chain.forward(&directions)
    }
}
