//! What makes the start of a run meaningless, and where it stands.

use super::dynamics::Dynamics;
use super::{Obstacle, Settings, System};
use crate::contact::Surface;
use crate::error::{Error, Fault, Place};
use crate::impact::TOLERANCES;

/// Starts further than this from their constraints are refused; nearer ones are put on them.
const START: f64 = 1e-9;

/// The stages that a step may have. With more, the last coefficients are nothing but rounding.
const STAGES: core::ops::RangeInclusive<usize> = 6..=24;

fn finite(field: &'static str, values: &[f64]) -> Result<(), Error> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => Err(Error::new(Place::row(field, i), Fault::NotFinite { value: values[i] })),
    }
}

fn range(place: Place, value: f64, within: bool, expected: &'static str) -> Result<(), Error> {
    if within { Ok(()) } else { Err(Error::new(place, Fault::Range { value, expected })) }
}

pub(super) fn check_settings(settings: &Settings) -> Result<(), Error> {
    let accuracy = settings.accuracy;
    range(
        Place::field("accuracy"),
        accuracy,
        (f64::EPSILON..=1e-2).contains(&accuracy),
        "an accuracy between 2.3e-16 and 1e-2",
    )?;
    let stages = settings.stages;
    if !STAGES.contains(&stages) {
        let expected = if stages < *STAGES.start() { *STAGES.start() } else { *STAGES.end() };
        return Err(Error::new(
            Place::field("stages"),
            Fault::Size { what: "stages", found: stages, expected },
        ));
    }
    finite("start", &[settings.start])?;
    let tolerance = settings.impact.tolerance;
    range(Place::field("tolerance"), tolerance, TOLERANCES.contains(&tolerance), "between 1e-14 and 1e-2")
}

/// An obstacle at the very start is a mistake of the input.
pub(super) fn unfit(obstacle: Obstacle) -> Error {
    match obstacle {
        Obstacle::Impact(error) => error,
        Obstacle::Mass { coordinate, pivot } => {
            let fault = Fault::NotPositiveDefinite { pivot, expected: 1e-13 };
            Error::new(Place::row("mass", coordinate), fault)
        }
        other => Error::new(Place::field("position"), Fault::NoMotion { why: other.to_string() }),
    }
}

/// Everything that makes a start meaningless.
pub(super) fn check<M: System<N>, const N: usize>(
    dynamics: &mut Dynamics<M, N>,
    q: &[f64; N],
    v: &[f64; N],
    settings: &Settings,
) -> Result<(), Error> {
    if N == 0 {
        return Err(Error::new(Place::field("mass"), Fault::Empty));
    }
    finite("position", q)?;
    finite("velocity", v)?;
    for (i, &scale) in dynamics.scales.iter().enumerate() {
        range(Place::row("scales", i), scale, scale.is_finite() && scale > 0.0, "a finite scale > 0")?;
    }
    for (i, wall) in dynamics.walls.iter().enumerate() {
        let (k, tangential) = (wall.restitution, wall.tangential_restitution);
        let place = || Place::row("walls", i);
        range(place(), k, (0.0..=1.0).contains(&k), "a restitution between 0 and 1")?;
        range(place(), tangential, (-1.0..=1.0).contains(&tangential), "between -1 and 1 along a tangent")?;
        let fits = match wall.surface {
            Surface::Smooth => wall.tangents == 0,
            Surface::Rough => true,
            Surface::Coulomb(coefficient) => {
                let right = coefficient.is_finite() && coefficient >= 0.0;
                range(place(), coefficient, right, "a finite coefficient ≥ 0")?;
                (1..=2).contains(&wall.tangents)
            }
        };
        if !fits {
            let expected = if wall.surface == Surface::Smooth { 0 } else { 2 };
            return Err(Error::new(
                place(),
                Fault::Size { what: "tangents", found: wall.tangents, expected },
            ));
        }
    }
    let mass = dynamics.system.mass(q);
    for i in 0..N {
        for j in 0..N {
            if !mass[i][j].is_finite() {
                let fault = Fault::NotFinite { value: mass[i][j] };
                return Err(Error::new(Place::entry("mass", i, j), fault));
            }
            let size = libm::sqrt((mass[i][i] * mass[j][j]).abs());
            if (mass[i][j] - mass[j][i]).abs() > 1e-12 * size.max(mass[i][j].abs()) {
                let fault = Fault::NotSymmetric { value: mass[i][j], mirror: mass[j][i] };
                return Err(Error::new(Place::entry("mass", i, j), fault));
            }
        }
    }
    dynamics.mass_at(q).map_err(unfit)?;
    dynamics.find_rows(q, v);
    let tempo = dynamics.tempo(v, &[0.0; N]);
    for i in 0..dynamics.rows.len() {
        let row = dynamics.rows[i];
        let reach = dynamics.reach(&row);
        if !reach.is_finite() || dynamics.residuals[i].is_some_and(|phi| !phi.is_finite()) {
            return Err(Error::new(Place::row("constraints", i), Fault::NotFinite { value: f64::NAN }));
        }
        if let Some(phi) = dynamics.residuals[i]
            && phi.abs() > START * reach
        {
            let fault = Fault::OffConstraint { residual: phi, expected: START * reach };
            return Err(Error::new(Place::row("position", i), fault));
        }
        let residual: f64 = row.iter().zip(v).map(|(c, v)| c * v).sum();
        let relative = residual.abs() / (reach * tempo);
        if relative > START {
            let fault = Fault::ViolatesBilateral { residual, relative, expected: START };
            return Err(Error::new(Place::row("velocity", i), fault));
        }
    }
    dynamics.accelerate(settings.start, q, v).map_err(unfit)?;
    for wall in 0..dynamics.walls.len() {
        let (gap, gradient) = dynamics.gap(wall, q);
        let reach = dynamics.reach(&gradient);
        if !(gap.is_finite() && reach.is_finite()) {
            return Err(Error::new(Place::row("walls", wall), Fault::NotFinite { value: gap }));
        }
        if gap < -START * reach {
            return Err(Error::new(Place::row("walls", wall), Fault::BeyondWall { gap }));
        }
    }
    Ok(())
}
