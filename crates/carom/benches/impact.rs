//! Impacts against their limits, side by side in one run: `cargo bench -p carom`.
//!
//! - `pair`: two free bodies with one smooth contact, the library's call beside a closed form written out by hand
//!   for exactly this case. The limit is the closed form's hundred or so floating-point operations.
//! - `twelve`: two rigid bodies (12 degrees of freedom) with three contacts, free and hinged, through the general
//!   solver with everything it reports.
//! - `chain`: n balls in a row under the default law, every other contact closing; the cost may not grow faster
//!   than n², and what it would cost without structure (a dense factorisation of W alone) stands beside it.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use carom::impact::pair::{FreeBody, strike};
use carom::impact::{Law, Options, Problem};
use divan::{AllocProfiler, Bencher, black_box};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use serde_json::Value;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

mod pair {
    use super::*;

    fn bodies() -> (FreeBody, FreeBody, Vector3<f64>) {
        let first = FreeBody {
            inverse_mass: 0.5,
            inverse_inertia: Matrix3::new(3.0, 0.1, 0.2, 0.1, 2.0, -0.1, 0.2, -0.1, 4.0),
            velocity: Vector3::new(1.0, 0.2, -0.3),
            angular_velocity: Vector3::new(0.5, -2.0, 1.0),
            arm: Vector3::new(0.9, 0.3, 0.2),
        };
        let second = FreeBody {
            inverse_mass: 0.25,
            inverse_inertia: Matrix3::new(1.0, 0.0, 0.1, 0.0, 1.5, 0.2, 0.1, 0.2, 0.8),
            velocity: Vector3::new(-2.0, 0.1, 0.4),
            angular_velocity: Vector3::new(-0.4, 0.3, 0.7),
            arm: Vector3::new(-1.1, 0.2, 0.4),
        };
        (first, second, Vector3::new(0.8, 0.36, 0.48))
    }

    #[divan::bench]
    fn library(bencher: Bencher) {
        let (first, second, normal) = bodies();
        bencher.bench_local(|| {
            strike(black_box(&first), black_box(&second), black_box(&normal), black_box(0.7))
        });
    }

    /// Velocities after, in plain numbers.
    fn by_hand(a: &FreeBody, b: &FreeBody, n: &Vector3<f64>, k: f64) -> [[f64; 3]; 4] {
        let cross = |p: &Vector3<f64>| [p.y * n.z - p.z * n.y, p.z * n.x - p.x * n.z, p.x * n.y - p.y * n.x];
        let apply = |m: &Matrix3<f64>, x: &[f64; 3]| {
            let row = |i: usize| m[(i, 0)] * x[0] + m[(i, 1)] * x[1] + m[(i, 2)] * x[2];
            [row(0), row(1), row(2)]
        };
        let dot = |x: &[f64; 3], y: &[f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        let (ta, tb) = (cross(&a.arm), cross(&b.arm));
        let (sa, sb) = (apply(&a.inverse_inertia, &ta), apply(&b.inverse_inertia, &tb));
        let w = a.inverse_mass + b.inverse_mass + dot(&ta, &sa) + dot(&tb, &sb);
        let plain = |v: &Vector3<f64>| [v.x, v.y, v.z];
        let (va, vb, wa, wb) =
            (plain(&a.velocity), plain(&b.velocity), plain(&a.angular_velocity), plain(&b.angular_velocity));
        let n = plain(n);
        let y = dot(&n, &vb) - dot(&n, &va) + dot(&wb, &tb) - dot(&wa, &ta);
        let p = if y < 0.0 { -(1.0 + k) * y / w } else { 0.0 };
        let add = |x: &[f64; 3], f: f64, d: &[f64; 3]| [x[0] + f * d[0], x[1] + f * d[1], x[2] + f * d[2]];
        [
            add(&va, -p * a.inverse_mass, &n),
            add(&vb, p * b.inverse_mass, &n),
            add(&wa, -p, &sa),
            add(&wb, p, &sb),
        ]
    }

    #[divan::bench]
    fn closed_form_by_hand(bencher: Bencher) {
        let (first, second, normal) = bodies();
        bencher.bench_local(|| {
            by_hand(black_box(&first), black_box(&second), black_box(&normal), black_box(0.7))
        });
    }
}

mod twelve {
    use super::*;

    fn problem(id: &str) -> Problem {
        let file: Value = serde_json::from_str(include_str!("../../../cases/laws/reference.json")).unwrap();
        let case = file["cases"].as_array().unwrap().iter().find(|case| case["id"] == id).unwrap();
        let numbers =
            |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
        let matrix = |v: &Value| {
            let rows: Vec<Vec<f64>> =
                v.as_array().map_or(Vec::new(), |rows| rows.iter().map(numbers).collect());
            DMatrix::from_row_iterator(rows.len(), 12, rows.into_iter().flatten())
        };
        let generic = &case["generic"];
        let mut problem = Problem::new(
            matrix(&generic["G"]),
            matrix(&generic["N"]),
            DVector::from_vec(numbers(&generic["v_minus"])),
        );
        problem.bilateral = matrix(&generic["A"]);
        problem.with_restitution(0.5)
    }

    #[divan::bench(args = [Law::NewtonLcp, Law::Newton, Law::Poisson, Law::Reflection])]
    fn free(bencher: Bencher, law: Law) {
        let (problem, options) = (problem("p3_free_regular"), Options { law, ..Options::default() });
        bencher.bench_local(|| black_box(&problem).solve(&options).unwrap());
    }

    #[divan::bench(args = [Law::NewtonLcp, Law::Newton, Law::Poisson, Law::Reflection])]
    fn hinged(bencher: Bencher, law: Law) {
        let (problem, options) = (problem("p3_hinged_generic"), Options { law, ..Options::default() });
        bencher.bench_local(|| black_box(&problem).solve(&options).unwrap());
    }
}

mod chain {
    use super::*;

    const SIZES: [usize; 3] = [10, 100, 1000];

    /// n balls of unlike masses; the first comes in on the others, which drift towards one another in pairs.
    fn problem(n: usize) -> Problem {
        let number = |i: usize| f64::from(u32::try_from(i).unwrap());
        let mass = DMatrix::from_diagonal(&DVector::from_fn(n, |i, _| 1.0 + 0.5 * (number(i)).sin()));
        let contacts =
            DMatrix::from_fn(n - 1, n, |i, j| if j == i { -1.0 } else { f64::from(u8::from(j == i + 1)) });
        let velocity = DVector::from_fn(n, |i, _| if i == 0 { 1.0 } else { -1e-3 * number(i) });
        Problem::new(mass, contacts, velocity).with_restitution(0.8)
    }

    #[divan::bench(args = SIZES)]
    fn newton_lcp(bencher: Bencher, n: usize) {
        let (problem, options) = (problem(n), Options::default());
        assert_eq!(problem.solve(&options).unwrap().steps[0].rows.len(), n - 1);
        bencher.bench_local(|| black_box(&problem).solve(&options).unwrap());
    }

    #[divan::bench(args = SIZES, sample_count = 5)]
    fn dense_cholesky_of_w_alone(bencher: Bencher, n: usize) {
        let w = problem(n).delassus(&Options::default()).unwrap();
        bencher.bench_local(|| black_box(&w).clone().cholesky().unwrap());
    }
}
