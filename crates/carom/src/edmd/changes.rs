//! What has changed since threads began to speculate: bodies, neighbour lists and cells.

/// The changes of a round of speculation; empty and without effect unless tracking is on.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// The round in which each body's motion or next event last changed, and its neighbour list.
    bodies: Vec<u32>,
    lists: Vec<u32>,
    /// The cells whose bodies have changed in this round.
    cells: Vec<u32>,
    round: u32,
}

impl Changes {
    /// Turns tracking on.
    pub fn track(&mut self, bodies: usize) {
        self.bodies.resize(bodies, 0);
        self.lists.resize(bodies, 0);
    }

    /// The number of the current round.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// A body's motion or next event changes.
    #[inline(always)]
    pub fn mark_body(&mut self, i: usize) {
        if let Some(round) = self.bodies.get_mut(i) {
            *round = self.round;
        }
    }

    /// A body's neighbour list changes.
    #[inline(always)]
    pub fn mark_list(&mut self, i: usize) {
        if let Some(round) = self.lists.get_mut(i) {
            *round = self.round;
        }
    }

    /// The bodies of a cell change.
    #[inline(always)]
    pub fn mark_cell(&mut self, cell: u32) {
        if !self.bodies.is_empty() {
            self.cells.push(cell);
        }
    }

    /// Whether a body's motion and next event are as at the beginning of the round.
    #[inline(always)]
    pub fn is_body_unchanged(&self, i: usize) -> bool {
        self.bodies[i] != self.round
    }

    /// Whether a body's neighbour list is as at the beginning of the round.
    #[inline(always)]
    pub fn is_list_unchanged(&self, i: usize) -> bool {
        self.lists[i] != self.round
    }

    /// Whether a cell has the bodies it had at the beginning of the round.
    #[inline(always)]
    pub fn is_cell_unchanged(&self, cell: u32) -> bool {
        !self.cells.contains(&cell)
    }

    /// Begins a round, which invalidates whatever was speculated in earlier ones.
    pub fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        self.cells.clear();
        if self.round == 0 {
            self.round = 1;
            self.bodies.fill(0);
            self.lists.fill(0);
        }
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> usize {
        (self.bodies.capacity() + self.lists.capacity() + self.cells.capacity()) * size_of::<u32>()
    }
}
