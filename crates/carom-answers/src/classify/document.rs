//! The types of contacts for programs.

use carom::contact::classify::{Classification, Standing};
use carom::contact::kinematics::Fit;
use nalgebra::Matrix3;
use serde::Serialize;

use super::{Findings, Found};

/// The types of contacts for programs.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    title: Option<&'a str>,
    contacts: Vec<ContactEntry<'a>>,
    nearest: Option<NearestPair<'a>>,
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct NearestPair<'a> {
    bodies: &'a [String; 2],
    gap: f64,
}

/// One contact for programs.
#[derive(Debug, Serialize)]
pub struct ContactEntry<'a> {
    bodies: &'a [String; 2],
    #[serde(rename = "type")]
    kind: &'static str,
    standing: &'static str,
    gap: f64,
    point: [f64; 3],
    points: [[f64; 3]; 2],
    normal: [f64; 3],
    v: f64,
    a: f64,
    w: [f64; 3],
    threshold: f64,
    g2: f64,
    g3: f64,
    curvature_1: [[f64; 3]; 3],
    curvature_2: [[f64; 3]; 3],
    relative_curvature: [f64; 2],
    fit: &'static str,
    slip: [f64; 3],
    normal_rate: [f64; 3],
    rolling: [[f64; 3]; 2],
    effective_inverse_mass: f64,
    inverse_mass_tensor: [[f64; 3]; 3],
    a_vector: [f64; 3],
    j: f64,
    coefficients: Vec<CoefficientsEntry>,
    scales: ScalesEntry,
    tolerance: f64,
    ratios: RatiosEntry,
    nearest_type: Option<NearestEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbourhood: Option<NeighbourhoodEntry>,
}

/// The coefficients of \[PVWZ\] (27) and (28) along a unit direction: of the distance, as far as third order goes, and of
/// the quadratic model.
#[derive(Debug, Serialize)]
struct CoefficientsEntry {
    direction: [f64; 3],
    x_2e: f64,
    x_3e: f64,
    v_e: f64,
    v_2e: f64,
    a_e: f64,
    model: ModelEntry,
}

#[derive(Debug, Serialize)]
struct ModelEntry {
    h: f64,
    v_2e: f64,
    v_3e: f64,
    v_4e: f64,
    a_e: f64,
    a_2e: f64,
    a_3e: f64,
    a_4e: f64,
    j: f64,
}

/// What v, slip, w, g2 and g3 are measured beside.
#[derive(Debug, Serialize)]
struct ScalesEntry {
    length: f64,
    speed: f64,
    turn: f64,
    acceleration: f64,
    jerk: f64,
}

/// The quantities over their tolerances.
#[derive(Debug, Serialize)]
struct RatiosEntry {
    v: f64,
    g2: f64,
    g3: f64,
    slip: f64,
    w: f64,
}

#[derive(Debug, Serialize)]
struct NearestEntry {
    #[serde(rename = "type")]
    kind: &'static str,
    by: &'static str,
    factor: f64,
}

#[derive(Debug, Serialize)]
struct NeighbourhoodEntry {
    origin: [f64; 3],
    tangents: [[f64; 3]; 2],
    patches: Vec<PatchEntry>,
}

#[derive(Debug, Serialize)]
struct PatchEntry {
    time: f64,
    gap: f64,
    predicted_gap: f64,
    predicted_deepest: [f64; 2],
    semi_axes: Option<[f64; 2]>,
    axis: [f64; 2],
    deepest: [f64; 2],
    outline: Vec<[f64; 2]>,
}

impl Findings {
    /// The findings for programs.
    pub fn document(&self) -> Document<'_> {
        Document {
            title: self.title.as_deref(),
            contacts: self.contacts.iter().map(ContactEntry::of).collect(),
            nearest: self.nearest.as_ref().map(|(bodies, gap)| NearestPair { bodies, gap: *gap }),
            notes: &self.notes,
        }
    }

    /// The first contact, or else the deepest overlap, and the picture of its neighbourhood.
    pub fn look(&self) -> Option<Look<'_>> {
        let first = self.contacts.first().or(self.overlaps.first())?;
        let svg = first.neighbourhood.as_ref().map(|_| self.svg());
        // The picture shows the neighbourhood.
        let contact = ContactEntry { neighbourhood: None, ..ContactEntry::of(first) };
        Some(Look { contact, svg })
    }
}

/// One contact and the picture of its neighbourhood, for programs.
#[derive(Debug, Serialize)]
pub struct Look<'a> {
    contact: ContactEntry<'a>,
    svg: Option<String>,
}

/// A matrix as rows.
fn matrix(m: &Matrix3<f64>) -> [[f64; 3]; 3] {
    m.transpose().into()
}

impl<'a> ContactEntry<'a> {
    /// A contact, or two bodies that overlap.
    fn of(found: &'a Found) -> Self {
        let Classification { kind, standing, kinematics: k, scales, tolerances, ratios, nearest } =
            &found.class;
        Self {
            bodies: &found.bodies,
            kind: kind.name(),
            standing: match standing {
                Standing::Touching => "touching",
                Standing::Apart(_) => "apart",
                Standing::Overlapping(_) => "overlapping",
            },
            gap: k.gap,
            point: ((k.points[0] + k.points[1]) * 0.5).into(),
            points: k.points.map(Into::into),
            normal: k.normal.into(),
            v: k.v,
            a: k.a,
            w: k.w.into(),
            threshold: k.threshold,
            g2: k.g2,
            g3: k.g3,
            curvature_1: matrix(&k.curvature_1),
            curvature_2: matrix(&k.curvature_2),
            relative_curvature: k.relative_curvature,
            fit: fit_name(k.fit),
            slip: k.slip.into(),
            normal_rate: k.normal_rate.into(),
            rolling: k.rolling.map(Into::into),
            effective_inverse_mass: found.effective_inverse_mass,
            inverse_mass_tensor: matrix(&found.inverse_mass_tensor),
            a_vector: found.slope.into(),
            j: found.coefficients.first().map_or(f64::NAN, |(exact, _)| exact.j),
            coefficients: found
                .coefficients
                .iter()
                .map(|(exact, model)| CoefficientsEntry {
                    direction: model.direction.into(),
                    x_2e: exact.x_2e,
                    x_3e: exact.x_3e,
                    v_e: exact.v_e,
                    v_2e: exact.v_2e,
                    a_e: exact.a_e,
                    model: ModelEntry {
                        h: model.h,
                        v_2e: model.v_2e,
                        v_3e: model.v_3e,
                        v_4e: model.v_4e,
                        a_e: model.a_e,
                        a_2e: model.a_2e,
                        a_3e: model.a_3e,
                        a_4e: model.a_4e,
                        j: model.j,
                    },
                })
                .collect(),
            scales: ScalesEntry {
                length: scales.length,
                speed: scales.speed,
                turn: scales.turn,
                acceleration: scales.acceleration,
                jerk: scales.jerk,
            },
            tolerance: tolerances.rates,
            ratios: RatiosEntry { v: ratios.v, g2: ratios.g2, g3: ratios.g3, slip: ratios.slip, w: ratios.w },
            nearest_type: nearest.map(|n| NearestEntry {
                kind: n.kind.name(),
                by: n.by.name(),
                factor: n.factor,
            }),
            neighbourhood: found.neighbourhood.as_ref().map(|n| NeighbourhoodEntry {
                origin: n.origin.into(),
                tangents: n.tangents.map(Into::into),
                patches: n
                    .patches
                    .iter()
                    .map(|p| PatchEntry {
                        time: p.time,
                        gap: p.gap,
                        predicted_gap: p.predicted_gap,
                        predicted_deepest: p.predicted_deepest.into(),
                        semi_axes: p.semi_axes,
                        axis: p.axis.into(),
                        deepest: p.deepest.into(),
                        outline: p.outline.iter().map(|&x| x.into()).collect(),
                    })
                    .collect(),
            }),
        }
    }
}

/// The word for how two surfaces fit.
const fn fit_name(fit: Fit) -> &'static str {
    match fit {
        Fit::Curved => "curved",
        Fit::Flat => "flat",
        Fit::Rocking => "rocking",
    }
}
