//! The papers' scenes, and what the rows ask of them.

use carom::impact::demand::demand;
use carom::impact::mechanism::BodyOutcome;
use carom::impact::{Law, Options};
use carom::metric::Metric;
use carom::scene::Format;
use carom::scene::instant::TOUCHING;
use nalgebra::{DMatrix, Vector3};

use super::Row;
use crate::solve::Prepared;
use crate::{Input, InputError};

/// A file of `cases/papers/`: its name and its text.
pub type File = (&'static str, &'static str);

pub const ROLLING_BALL_ELASTIC: File =
    ("tz_rolling_ball_elastic.toml", include_str!("../../../../cases/papers/tz_rolling_ball_elastic.toml"));
pub const ROLLING_BALL: File =
    ("tz_rolling_ball.toml", include_str!("../../../../cases/papers/tz_rolling_ball.toml"));
pub const THROWN_BALL: File =
    ("tz_thrown_ball.toml", include_str!("../../../../cases/papers/tz_thrown_ball.toml"));
pub const PENDULUM: File = ("tz_pendulum.toml", include_str!("../../../../cases/papers/tz_pendulum.toml"));
pub const SUPERBALL_FLOOR: File =
    ("tz_superball_floor.toml", include_str!("../../../../cases/papers/tz_superball_floor.toml"));
pub const SUPERBALL_TABLE: File =
    ("tz_superball_table.toml", include_str!("../../../../cases/papers/tz_superball_table.toml"));
pub const HORIZONTAL_PLANE: File =
    ("sp_horizontal_plane.toml", include_str!("../../../../cases/papers/sp_horizontal_plane.toml"));
pub const OBLIQUE_PLANE: File =
    ("sp_oblique_plane.toml", include_str!("../../../../cases/papers/sp_oblique_plane.toml"));
pub const TWO_PLANES: File =
    ("sp_two_planes.toml", include_str!("../../../../cases/papers/sp_two_planes.toml"));
pub const TWO_PLANES_ALIGNED: File =
    ("sp_two_planes_aligned.toml", include_str!("../../../../cases/papers/sp_two_planes_aligned.toml"));
pub const TWO_PLANES_ONE_LEAVING: File = (
    "sp_two_planes_one_leaving.toml",
    include_str!("../../../../cases/papers/sp_two_planes_one_leaving.toml"),
);
pub const TWO_OBLIQUE_PLANES: File =
    ("sp_two_oblique_planes.toml", include_str!("../../../../cases/papers/sp_two_oblique_planes.toml"));
pub const CORNER: File = ("sp_corner.toml", include_str!("../../../../cases/papers/sp_corner.toml"));
pub const HINGED_FRAMES: File =
    ("dps_hinged_frames.toml", include_str!("../../../../cases/papers/dps_hinged_frames.toml"));
pub const SINGULAR_FRAMES: File =
    ("dps_singular_frames.toml", include_str!("../../../../cases/papers/dps_singular_frames.toml"));
pub const CYLINDRICAL_FRAMES: File =
    ("dps_cylindrical_frames.toml", include_str!("../../../../cases/papers/dps_cylindrical_frames.toml"));
pub const SPHERICAL_FRAMES: File =
    ("dps_spherical_frames.toml", include_str!("../../../../cases/papers/dps_spherical_frames.toml"));

pub const COLLISION: File =
    ("pvwz_collision.toml", include_str!("../../../../cases/papers/pvwz_collision.toml"));
pub const PARADOX: File = ("paradox.toml", include_str!("../../../../cases/papers/paradox.toml"));
pub const TWO_ELLIPSES: File =
    ("pvwz_two_ellipses.toml", include_str!("../../../../cases/papers/pvwz_two_ellipses.toml"));
pub const OVERLAPPING: File =
    ("pvwz_overlapping.toml", include_str!("../../../../cases/papers/pvwz_overlapping.toml"));

/// All of them.
pub const ALL: [File; 21] = [
    ROLLING_BALL_ELASTIC,
    ROLLING_BALL,
    THROWN_BALL,
    PENDULUM,
    SUPERBALL_FLOOR,
    SUPERBALL_TABLE,
    HORIZONTAL_PLANE,
    OBLIQUE_PLANE,
    TWO_PLANES,
    TWO_PLANES_ALIGNED,
    TWO_PLANES_ONE_LEAVING,
    TWO_OBLIQUE_PLANES,
    CORNER,
    HINGED_FRAMES,
    SINGULAR_FRAMES,
    CYLINDRICAL_FRAMES,
    SPHERICAL_FRAMES,
    COLLISION,
    PARADOX,
    TWO_ELLIPSES,
    OVERLAPPING,
];

/// A scene ready to be asked.
pub struct Case {
    file: File,
    /// The scene, read and prepared; rows may change its state before they ask.
    pub prepared: Prepared,
}

impl Case {
    /// Reads a scene.
    pub fn read(file: File) -> Result<Self, InputError> {
        let (name, text) = file;
        let subject = Input::of_text(name, text.to_string(), Some(Format::Toml)).scene()?;
        Ok(Self { file, prepared: Prepared::of(subject, TOUCHING)? })
    }

    /// The start of a row about this scene.
    pub fn row(&self, equation: &'static str, quantity: &'static str) -> Row {
        Row::new(
            self.file.0,
            self.prepared.subject.scene.title.clone().unwrap_or_default(),
            equation,
            quantity,
        )
    }

    /// Gives the contacts other coefficients of restitution, one each.
    pub fn set_restitution(&mut self, restitution: &[f64]) {
        for (contact, k) in self.prepared.instant.contacts.iter_mut().zip(restitution) {
            contact.restitution = *k;
        }
        self.prepared.assembly = self.prepared.instant.mechanism().assemble();
    }

    /// Gives the first body another motion: velocity, then angular velocity.
    pub fn set_motion(&mut self, [velocity, angular_velocity]: [Vector3<f64>; 2]) {
        let state = &mut self.prepared.instant.bodies[0].1;
        (state.velocity, state.angular_velocity) = (velocity, angular_velocity);
        self.prepared.assembly = self.prepared.instant.mechanism().assemble();
    }

    /// The first body's motion before: velocity, then angular velocity.
    pub fn motion(&self) -> [Vector3<f64>; 2] {
        let state = &self.prepared.instant.bodies[0].1;
        [state.velocity, state.angular_velocity]
    }

    /// Resolves the impact by a law.
    pub fn solve(&self, law: Law) -> Result<BodyOutcome, InputError> {
        self.solve_with(&Options { law, ..Options::default() })
    }

    /// Resolves the impact.
    pub fn solve_with(&self, options: &Options) -> Result<BodyOutcome, InputError> {
        self.prepared.solve(options)
    }

    /// The inertances g_ij of the contact rows.
    pub fn inertances(&self) -> Result<DMatrix<f64>, InputError> {
        self.matrix(self.prepared.assembly.problem.delassus(&Options::default()))
    }

    /// The projector P of T1.
    pub fn projector(&self) -> Result<DMatrix<f64>, InputError> {
        self.matrix(self.prepared.assembly.problem.projector(&Options::default()))
    }

    /// As above, for the joints alone.
    pub fn projector_of_joints(&self) -> Result<DMatrix<f64>, InputError> {
        let mut problem = self.prepared.assembly.problem.clone();
        problem.contacts = DMatrix::zeros(0, problem.velocity.len());
        problem.restitution.clear();
        problem.rough.clear();
        self.matrix(problem.projector(&Options::default()))
    }

    /// The inverse mass under the joints, G_A⁻¹.
    pub fn constrained_inverse(&self) -> Result<DMatrix<f64>, InputError> {
        let problem = &self.prepared.assembly.problem;
        let metric = Metric::new(&problem.mass, &problem.bilateral, Options::default().tolerance);
        self.matrix(metric.map(|metric| metric.constrained_inverse()))
    }

    fn matrix(&self, found: Result<DMatrix<f64>, carom::Error>) -> Result<DMatrix<f64>, InputError> {
        found.map_err(|error| InputError::of_unreadable(self.file.0.to_string(), &error.to_string()))
    }

    /// The friction coefficients that the grips need: as the impulses are reported, and the least of any sharing.
    pub fn friction(&self, result: &BodyOutcome) -> (Vec<f64>, Option<f64>) {
        let found = demand(&self.prepared.instant.mechanism(), &self.prepared.assembly, &result.outcome);
        (found.reported.iter().map(|(_, needed)| *needed).collect(), found.least)
    }
}

/// The motion of the first body after an impact: velocity, then angular velocity.
pub fn motion_after(result: &BodyOutcome) -> [Vector3<f64>; 2] {
    [result.states[0].velocity, result.states[0].angular_velocity]
}

/// A small number of things, as a number of a row.
pub fn count(things: usize) -> f64 {
    u32::try_from(things).map_or(f64::INFINITY, f64::from)
}

/// The normal impulses.
pub fn impulses(result: &BodyOutcome) -> Vec<f64> {
    result.contacts.iter().map(|contact| contact.impulse).collect()
}

/// The normal velocities after.
pub fn separations(result: &BodyOutcome) -> Vec<f64> {
    result.contacts.iter().map(|contact| contact.separation).collect()
}

/// The normal velocities before.
pub fn approaches(result: &BodyOutcome) -> Vec<f64> {
    result.contacts.iter().map(|contact| contact.approach).collect()
}
