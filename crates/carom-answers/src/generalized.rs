//! The impact problem given as matrices.

use carom::audit::{Audit, audit};
use carom::impact::{Order, Outcome};
use carom::scene::generalized::{self as file, Request};
use nalgebra::DMatrix;
use serde::{Serialize, Serializer};

use crate::resolution;
use crate::{Input, InputError, Resolution, Verdict};

/// A problem that has been resolved. It serialises as the document for programs.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The problem's title.
    pub title: Option<String>,
    /// Where it is from.
    pub source: Option<String>,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// W, where it was asked for.
    #[serde(serialize_with = "rows")]
    pub delassus: DMatrix<f64>,
    /// The projector on the admissible velocities, likewise.
    #[serde(serialize_with = "rows")]
    pub projector: DMatrix<f64>,
    /// The audit.
    pub audit: Audit,
    /// The problem and how it was resolved.
    #[serde(skip)]
    pub request: Request,
}

/// Reads a problem and resolves it. Without `matrices` those of the answer are empty: on large problems they cost as much as
/// the rest.
pub fn answer(input: &Input, resolution: &Resolution, matrices: bool) -> Result<Answer, InputError> {
    match file::read(&input.text, input.format) {
        Ok(request) => resolve(request, resolution, matrices, |error| {
            input.error(vec![file::explain(&input.text, input.format, error)])
        }),
        Err(diagnostics) => Err(input.error(diagnostics)),
    }
}

/// Resolves a problem at hand; `refuse` says what is wrong with it.
pub fn resolve(
    mut request: Request,
    resolution: &Resolution,
    matrices: bool,
    refuse: impl Fn(&carom::Error) -> InputError,
) -> Result<Answer, InputError> {
    resolution.adjust(&mut request.options)?;
    if let Some(order) = &resolution.order {
        if let Order::Rows(rows) = order
            && let Some(fault) = file::order_fault(&request.problem, rows)
        {
            return Err(InputError::of_option(Some("order"), &fault, Some("every normal's row once")));
        }
        request.options.order = order.clone();
    }
    let (problem, options) = (&request.problem, &request.options);
    let outcome = problem.solve(options).map_err(|error| refuse(&error))?;
    let [delassus, projector] = if matrices {
        [problem.delassus(options), problem.projector(options)]
    } else {
        [Ok(DMatrix::zeros(0, 0)), Ok(DMatrix::zeros(0, 0))]
    };
    Ok(Answer {
        title: request.title.clone(),
        source: request.source.clone(),
        audit: audit(problem, &outcome),
        outcome,
        delassus: delassus.map_err(|error| refuse(&error))?,
        projector: projector.map_err(|error| refuse(&error))?,
        request,
    })
}

impl Answer {
    /// The verdict; with `strict`, a result that is not admissible or ran out of steps is no answer either.
    pub fn verdict(&self, strict: bool) -> Verdict {
        resolution::verdict(&self.outcome, Some(&self.audit), strict)
    }
}

/// A matrix as an array of its rows.
fn rows<S: Serializer>(matrix: &DMatrix<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(matrix.row_iter().map(|row| row.iter().copied().collect::<Vec<_>>()))
}
