//! The examples of Lagrangian systems, run and held to what they say: coin, bead, double pendulum, ball and wall.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::duplicate_mod, reason = "two examples share a module, and both are modules here")]

#[path = "../examples/ball_and_wall.rs"]
mod ball_and_wall;
#[path = "../examples/bead.rs"]
mod bead;
#[path = "../examples/coin.rs"]
mod coin;
#[path = "../examples/double_pendulum.rs"]
mod double_pendulum;
#[path = "../examples/sleigh.rs"]
mod sleigh;

#[test]
fn they_print() {
    sleigh::main().unwrap();
    bead::main().unwrap();
    coin::main().unwrap();
    double_pendulum::main().unwrap();
    ball_and_wall::main().unwrap();
}

#[test]
fn the_sleigh_against_its_closed_form() {
    let [off, reaction, energy] = sleigh::follow(false).unwrap();
    assert!(off < 1e-13 && reaction < 1e-12 && energy < 1e-13);
}

#[test]
fn the_bead_against_its_period() {
    for (bend, far) in [(1.0, 0.1), (1.0, 1.0), (3.0, 2.0)] {
        let [one, two, energy, off] = bead::swing(bend, far, 30.0).unwrap();
        assert!(one < 1e-13 && two < 1e-13, "{one:e} {two:e}");
        assert!(energy < 1e-12 && off < 1e-14, "{energy:e} {off:e}");
    }
}

#[test]
fn the_coin_in_steady_precession() {
    for (tilt, precession) in [(1.3, 2.0), (0.8, 6.0), (0.3, 12.0)] {
        let [a, b, c, energy] = coin::precess(tilt, precession).unwrap();
        println!("{a:e} {b:e} {c:e} {energy:e}");
        assert!(a < 1e-11 && b < 1e-10 && c < 1e-11 && energy < 1e-12);
    }
    let [low, high, energy, slip] = coin::wobble().unwrap();
    assert!(high - low > 0.05 && energy < 1e-12 && slip < 1e-14);
}

/// Two angles, and two bodies with hinges: as long as chaos leaves the digits.
#[test]
fn the_double_pendulum_at_a_wall_by_two_routes() {
    for (restitution, impacts) in [(1.0, 7), (0.8, 12), (0.5, 12)] {
        let table = double_pendulum::compare(restitution, impacts).unwrap();
        assert_eq!(table.len(), impacts);
        for [time, late, off] in table {
            println!("{time:.6} {late:e} {off:e}");
            assert!(late < 1e-10 && off < 1e-10, "{time} {late:e} {off:e}");
        }
    }
}

/// [TZ] Theorem 5.1 at each of fourteen impacts, exact rolling between, and the two routes together.
#[test]
fn the_rolling_ball_between_rough_walls_by_two_routes() {
    for restitution in [1.0, 0.95, 0.7] {
        let (table, energy) = ball_and_wall::compare(restitution, 14, ball_and_wall::ANGLES).unwrap();
        assert_eq!(table.len(), 14);
        for row in &table {
            println!("{row:?}");
            assert!(row.theorem < 1e-13 && row.rolling < 1e-11, "{row:?}");
            assert!(row.apart[0] < 1e-10 && row.apart[1] < 1e-10, "{row:?}");
        }
        assert!(energy < 1e-12, "{energy:e}");
    }
}
