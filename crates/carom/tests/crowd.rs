//! Crowds against the simulation, and against what must be kept.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crowding;

use carom::crowd::{Crowd, Settings, Stopped};
use carom::shape::Shape;
use crowding::{Memory, lattice};

#[test]
fn a_gas_of_spheres_keeps_its_energy_and_never_overlaps() {
    let (world, states) = lattice(4, Shape::Sphere { radius: 0.5 }, 0.49, 1);
    let mut crowd = Crowd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(crowd.advance(1e9, 100_000, &mut ()), None);
    println!("{:?} {:?} t {}", crowd.counts(), crowd.audit(), crowd.time());
    let mut memory = Memory::default();
    let end = crowd.time() + 0.1;
    assert_eq!(crowd.advance(end, 1_000_000, &mut memory), Some(Stopped::Until));
    let audit = crowd.audit();
    assert!(audit.energy_error_max.value < 1e-12 && audit.gap_min > -1e-13, "{audit:?}");
}

#[test]
fn a_gas_of_ellipsoids_keeps_its_energy_and_never_overlaps() {
    let (world, states) = lattice(3, Shape::Ellipsoid { semi_axes: [1.0, 0.5, 0.5] }, 0.5, 1);
    let mut crowd = Crowd::new(world, &states, Settings::default()).unwrap();
    assert_eq!(crowd.advance(1e9, 10_000, &mut ()), None);
    println!("{:?} {:?} t {}", crowd.counts(), crowd.audit(), crowd.time());
    let audit = crowd.audit();
    assert!(audit.energy_error_max.value < 1e-12 && audit.gap_min > -1e-12, "{audit:?}");
}
