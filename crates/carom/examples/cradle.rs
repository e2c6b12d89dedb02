//! Three balls in a row, one coming in, by every law. `cargo run --release -p carom --example cradle`.

use carom::audit::audit;
use carom::impact::{Law, Options, Problem};
use nalgebra::{DMatrix, dmatrix, dvector};

fn main() -> Result<(), carom::Error> {
    // y = (v₂ − v₁, v₃ − v₂): negative when closing.
    let rows = dmatrix![-1.0, 1.0, 0.0; 0.0, -1.0, 1.0];
    let problem = Problem::new(DMatrix::identity(3, 3), rows, dvector![1.0, 0.0, 0.0]).with_restitution(1.0);
    for law in Law::ALL {
        let outcome = problem.solve(&Options { law, ..Options::default() })?;
        let audit = audit(&problem, &outcome);
        println!(
            "{:>10}  {:+.3?}  unique {}, admissible {}, audit passed {}",
            law.name(),
            outcome.velocity,
            outcome.velocity_unique,
            outcome.admissible,
            audit.passed
        );
    }
    Ok(())
}
