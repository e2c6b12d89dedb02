//! An overlay: the system as it will be after a speculated event, before that is committed.

use core::ops::Deref;

use super::lists::Neighbour;
use super::neighbourhood::NewNeighbourhood;
use super::rotation::{Rotation, RotationRef};
use super::storage::{Kinematics, SurfacePath};
use super::system::System;

/// A body that the event changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangedBody {
    pub body: u32,
    pub kinematics: Kinematics,
    pub surface_path: SurfacePath,
    /// The place of its new rotation among those of the event, if it changes.
    pub rotation: Option<usize>,
}

/// The system, except for the bodies that the event changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overlay<'a> {
    system: &'a System,
    changed: &'a [ChangedBody],
    rotations: &'a [Rotation],
    /// The new neighbourhood of a body.
    moved: Option<(usize, &'a NewNeighbourhood)>,
}

impl<'a> Overlay<'a> {
    /// The system as it is.
    pub fn new(system: &'a System) -> Self {
        Self { system, changed: &[], rotations: &[], moved: None }
    }

    /// The system with some bodies changed.
    pub fn with(system: &'a System, changed: &'a [ChangedBody], rotations: &'a [Rotation]) -> Self {
        Self { system, changed, rotations, moved: None }
    }

    /// Also puts a body into a new neighbourhood.
    pub fn moved(self, body: usize, new: &'a NewNeighbourhood) -> Self {
        Self { moved: Some((body, new)), ..self }
    }

    #[inline(always)]
    fn change(&self, i: usize) -> Option<&'a ChangedBody> {
        self.changed.iter().find(|changed| changed.body as usize == i)
    }

    #[inline(always)]
    pub fn kinematics(&self, i: usize) -> &'a Kinematics {
        self.change(i).map_or_else(|| &self.system.particles.kinematics[i], |changed| &changed.kinematics)
    }

    #[inline(always)]
    pub fn surface_path(&self, i: usize) -> &'a SurfacePath {
        self.change(i)
            .map_or_else(|| &self.system.particles.surface_paths[i], |changed| &changed.surface_path)
    }

    #[inline(always)]
    pub fn rotation(&self, i: usize) -> RotationRef<'a> {
        let changed = self.change(i).and_then(|changed| changed.rotation);
        changed.map_or_else(|| self.system.particles.rotations.get(i), |at| self.rotations[at].as_ref())
    }
}

impl Overlay<'_> {
    fn new_neighbourhood(&self, i: usize) -> Option<&NewNeighbourhood> {
        self.moved.and_then(|(body, new)| (body == i).then_some(new))
    }

    /// A body's neighbours.
    pub fn neighbours(&self, i: usize) -> &[Neighbour] {
        self.new_neighbourhood(i).map_or_else(|| self.system.neighbours(i), |new| &new.neighbours)
    }

    /// The displacement bounds of a body's list; `None` for a new list, which has none yet.
    #[inline(always)]
    pub fn displacement_bounds(&self, i: usize) -> Option<&[f32]> {
        let list = self.system.particles.event_data[i].list;
        self.new_neighbourhood(i)
            .is_none()
            .then(|| self.system.neighbourhoods.lists.displacement_bounds(list))
    }

    /// The bodies that the event changes.
    pub fn changed(&self) -> &[ChangedBody] {
        self.changed
    }

    /// When a body leaves its neighbourhood.
    pub fn exit_time(&self, i: usize, t: f64) -> f64 {
        let trajectory = &self.kinematics(i).trajectory;
        match self.new_neighbourhood(i) {
            Some(NewNeighbourhood { reference, .. }) => {
                let radius = reference.neighbourhood_radius;
                self.system.exit_time_from(&reference.position, radius, trajectory, i, t)
            }
            None => self.system.exit_time(trajectory, i, t),
        }
    }
}

/// Gives what the event does not change.
impl Deref for Overlay<'_> {
    type Target = System;

    #[inline(always)]
    fn deref(&self) -> &System {
        self.system
    }
}
