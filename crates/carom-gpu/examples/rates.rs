//! The rates of `crates/carom/benches/README.md`: scatterings on the GPU, and whether the CPU finds the same bits.
//!
//! `cargo run --profile dist -p carom-gpu --example rates`, on a machine with an NVIDIA GPU.
#![allow(clippy::unwrap_used, reason = "an example fails by panicking")]

use std::time::Instant;

use carom::scatter::Scattering;
use carom::scene::{Format, file};
use carom_gpu::{Gpu, Scatterer};

fn scattering(shape: &str, beam: &str, samples: u64) -> Scattering {
    let bodies = ["a", "b"].map(|name| format!("[[body]]\nname = '{name}'\nshape = {shape}\nmass = 1\n"));
    let text = format!("carom = 1\nscatter = {{ samples = {samples}, {beam} }}\n{}", bodies.concat());
    Scattering::new(&file::read(&text, Format::Toml).unwrap()).unwrap()
}

fn main() {
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(why) => return println!("{why}"),
    };
    println!("{}", gpu.name());
    let (rod, cube) = (
        "{ ellipsoid = { semi_axes = [1, 0.5, 0.5] } }",
        "{ superellipsoid = { semi_axes = [1, 0.5, 0.5], exponent = 4 } }",
    );
    let hot = "temperature = 1, spin_temperature = 1";
    for (name, shape, beam) in
        [("2:1 ellipsoids", rod, hot), ("the same without spin", rod, "speed = 1"), ("p = 4, 2:1", cube, hot)]
    {
        let few = scattering(shape, beam, 300_000);
        let start = Instant::now();
        let scatterer = Scatterer::new(&gpu, &few).unwrap();
        let loaded = start.elapsed();
        let found = scatterer.run(false, |_| Ok(()), |_| true).unwrap();
        let start = Instant::now();
        let wanted = few.run(false, |_| Ok::<(), ()>(()), |_| true).unwrap();
        let cpu = 300_000.0 / start.elapsed().as_secs_f64();
        let many = scattering(shape, beam, 1 << 26);
        let scatterer = Scatterer::new(&gpu, &many).unwrap();
        let start = Instant::now();
        let totals = scatterer.run(false, |_| Ok(()), |_| true).unwrap();
        let rate = totals.samples() as f64 / start.elapsed().as_secs_f64();
        println!(
            "{name}: {:.2} million/s on the GPU, {:.2} on {} threads; same bits: {}; kernels ready after {loaded:.1?}",
            rate / 1e6,
            cpu / 1e6,
            rayon::current_num_threads(),
            found == wanted,
        );
    }
}
