//! \[PVWZ\]: two smooth bodies that collide, that touch without approach, and the paradox of what follows.

mod collision;
mod contact;
mod ellipses;
mod example;
mod expansion;
mod motion;

use super::{Paper, Row};
use crate::InputError;

pub const PAPER: Paper = Paper {
    name: "palffy-muhoray",
    citation: "P. Palffy-Muhoray, E. G. Virga, M. Wilkinson, X. Zheng, On a paradox in the impact dynamics of smooth \
               rigid bodies, arXiv:1703.10041",
    version: "the text dated May 15, 2022, with its Supplementary Data",
    rows,
};

fn rows() -> Result<Vec<Row>, InputError> {
    let mut rows = collision::rows()?;
    rows.extend(example::rows()?);
    rows.extend(motion::rows()?);
    rows.extend(ellipses::rows()?);
    rows.extend(expansion::rows()?);
    Ok(rows)
}
