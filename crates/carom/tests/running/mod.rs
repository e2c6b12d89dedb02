//! A scene's text, read and run to its end.
#![allow(dead_code, reason = "each test file uses a part")]

use carom::record::Memory;
use carom::scene::model::Scene;
use carom::scene::{Format, file};
use carom::simulation::Simulation;

use carom::run::World;

pub fn scene(text: &str) -> Scene {
    file::read(text, Format::Toml).unwrap()
}

pub fn start(scene: &Scene) -> Simulation {
    let (world, states) = World::of(scene);
    Simulation::new(world, &states, scene.run).unwrap()
}

pub fn run(scene: &Scene) -> (Simulation, Memory) {
    let mut simulation = start(scene);
    let mut memory = Memory::default();
    simulation.run(&mut memory, |_| true);
    (simulation, memory)
}
