//! Prefetching of the memory that coming events will read.
//!
//! Consecutive events lie anywhere in space, so in a large system almost nothing that an event reads is in the cache, and waiting for one
//! read after another would take most of the time. But the event queue tells what will be needed: the bodies, lists and neighbours of coming
//! events are requested some events ahead, in stages that each read what an earlier one has requested, and arrive while other events are
//! processed. A processor can have some twenty requests under way at once, so the two bodies of a contact are handled one at a time: one
//! before the event, the other in the middle of it. No result depends on any of this.

use prefetch_index::prefetch_index;

use super::calendar::{CalendarQueue, QueueEntry};
use super::lists::Neighbour;
use super::next_event::{LEAVE, PLANE};
use super::system::System;

/// Systems with fewer bodies fit into the cache: of spheres, and of other bodies, whose rotations take memory as well.
const LARGE: [usize; 2] = [16_384, 1024];

/// What is requested; each stage reads what the one before has requested.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// The body.
    Body,
    /// Its neighbour list.
    List,
    /// Its neighbours.
    Neighbours,
    /// The bodies in the cells around a body that leaves its neighbourhood.
    Surroundings,
}

/// The stages, and how many queue entries ahead each of them is: few enough that the memory is still in the cache when it is read.
const STAGES: [(Stage, u64); 4] =
    [(Stage::Body, 16), (Stage::List, 10), (Stage::Neighbours, 6), (Stage::Surroundings, 4)];

/// The queue entries that each stage has reached.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prefetcher {
    reached: [u64; STAGES.len()],
}

impl Prefetcher {
    /// Requests what coming events will read, from the queue entry `offset` places on.
    #[inline]
    pub fn prefetch(&mut self, queue: &CalendarQueue, system: &System, offset: u64) {
        if system.particles.len() < LARGE[usize::from(system.particles.nonspherical)] {
            return;
        }
        let now = queue.position() + offset;
        for (reached, (stage, ahead)) in self.reached.iter_mut().zip(STAGES) {
            let mut number = (*reached).max(now);
            while number < now + ahead
                && let Some(entry) = queue.entry(number)
            {
                request(system, stage, entry);
                number += 1;
            }
            *reached = number;
        }
    }
}

#[inline(always)]
fn request(system: &System, stage: Stage, entry: &QueueEntry) {
    let particles = &system.particles;
    let (kinematics, event_data, body) =
        (&particles.kinematics[..], &particles.event_data[..], entry.body as usize);
    match stage {
        Stage::Body => {
            prefetch_index(kinematics, body);
            prefetch_index(event_data, body);
        }
        _ if !entry.is_valid(kinematics) => {}
        Stage::List => system.neighbourhoods.lists.prefetch(event_data[body].list),
        Stage::Neighbours => request_neighbours(system, entry),
        Stage::Surroundings if entry.partner == LEAVE => request_surroundings(system, entry),
        Stage::Surroundings => {}
    }
}

#[inline(always)]
fn request_neighbours(system: &System, entry: &QueueEntry) {
    let particles = &system.particles;
    for neighbour in neighbouring_bodies(system, entry) {
        prefetch_index(&particles.kinematics[..], neighbour.partner as usize);
    }
    if entry.partner == LEAVE {
        for neighbour in neighbouring_bodies(system, entry) {
            prefetch_index(&particles.event_data[..], neighbour.partner as usize);
        }
        visit_cells(system, entry, |cell| system.neighbourhoods.grid.prefetch(cell));
    }
}

fn request_surroundings(system: &System, entry: &QueueEntry) {
    let event_data = &system.particles.event_data[..];
    for neighbour in neighbouring_bodies(system, entry) {
        system.neighbourhoods.lists.prefetch(event_data[neighbour.partner as usize].list);
    }
    visit_cells(system, entry, |cell| {
        system.neighbourhoods.grid.bodies(cell).for_each(|j| prefetch_index(event_data, j as usize));
    });
}

/// Visits the cells around the place where a body will be at its event.
fn visit_cells(system: &System, entry: &QueueEntry, mut visit: impl FnMut(u32)) {
    let there = system.particles.trajectory(entry.body as usize).at(entry.time);
    let cutoff = system.neighbourhoods.cutoff(system.scale_at(entry.time));
    system.neighbourhoods.grid.visit_cells(&there, cutoff, |cell, _| visit(cell));
}

#[inline(always)]
fn neighbouring_bodies<'a>(system: &'a System, entry: &QueueEntry) -> impl Iterator<Item = &'a Neighbour> {
    system.neighbours(entry.body as usize).iter().filter(|neighbour| neighbour.partner < PLANE)
}
