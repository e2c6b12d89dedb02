//! A grid of cells no smaller than the largest body, so that bodies that can touch are in the same or in neighbouring cells.
//!
//! The integer coordinates of a cell are unbounded. In a periodic direction of n cells the place in the grid is the coordinate modulo n,
//! and the quotient gives the number of boxes between two bodies, so that small boxes, down to one cell, need no rule of their own. Open
//! directions are hashed.

use std::collections::HashMap;

use nalgebra::Vector3;

/// The coordinates of a cell.
pub type Cell = [i32; 3];

/// The grid, and the bodies in each cell.
#[derive(Debug, Clone)]
pub struct Cells {
    /// The edges of a cell.
    edge: Vector3<f64>,
    /// How many cells a periodic direction has; zero for an open one.
    count: [i32; 3],
    cell_of: Vec<Cell>,
    members: HashMap<Cell, Vec<u32>>,
}

/// The most cells along a periodic direction: more do not help.
const MOST: f64 = 1024.0;

impl Cells {
    /// A grid for bodies of at most this diameter.
    pub fn new(diameter: f64, periodic: Option<&Vector3<f64>>, positions: &[Vector3<f64>]) -> Self {
        let mut edge = Vector3::repeat(diameter);
        let mut count = [0; 3];
        if let Some(lengths) = periodic {
            for i in 0..3 {
                if lengths[i] > 0.0 {
                    let cells = (lengths[i] / diameter).floor().clamp(1.0, MOST);
                    edge[i] = lengths[i] / cells;
                    #[expect(clippy::cast_possible_truncation, reason = "between 1 and 1024")]
                    let whole = cells as i32;
                    count[i] = whole;
                }
            }
        }
        let mut cells = Self { edge, count, cell_of: Vec::new(), members: HashMap::new() };
        for position in positions {
            let cell = cells.at(position);
            cells.cell_of.push(cell);
        }
        for body in 0..cells.cell_of.len() {
            cells.enter(body);
        }
        cells
    }

    /// The cell of a position.
    pub fn at(&self, x: &Vector3<f64>) -> Cell {
        // Saturates: a position so far out has no neighbours.
        #[expect(clippy::cast_possible_truncation, reason = "floats saturate")]
        core::array::from_fn(|i| ((x[i] / self.edge[i]).floor() as i32).clamp(-(1 << 30), 1 << 30))
    }

    /// The cell of a body.
    pub fn of(&self, body: usize) -> Cell {
        self.cell_of[body]
    }

    /// The bounds of a cell along an axis.
    pub fn bounds(&self, cell: &Cell, axis: usize) -> [f64; 2] {
        let low = f64::from(cell[axis]) * self.edge[axis];
        [low, low + self.edge[axis]]
    }

    fn place(&self, cell: &Cell) -> Cell {
        core::array::from_fn(|i| if self.count[i] > 0 { cell[i].rem_euclid(self.count[i]) } else { cell[i] })
    }

    fn enter(&mut self, body: usize) {
        let place = self.place(&self.cell_of[body]);
        #[expect(clippy::cast_possible_truncation, reason = "bodies are counted in 32 bits")]
        self.members.entry(place).or_default().push(body as u32);
    }

    /// Moves a body to a cell.
    pub fn transfer(&mut self, body: usize, cell: Cell) {
        let old = self.place(&self.cell_of[body]);
        if let Some(members) = self.members.get_mut(&old) {
            members.retain(|&other| other as usize != body);
            if members.is_empty() {
                self.members.remove(&old);
            }
        }
        self.cell_of[body] = cell;
        self.enter(body);
    }

    /// Visits every body in those neighbouring cells of a body that `wanted` selects, with the image of it that lies there.
    pub fn neighbours(
        &self,
        body: usize,
        wanted: impl Fn([i32; 3]) -> bool,
        mut visit: impl FnMut(u32, [i32; 3]),
    ) {
        let own = self.cell_of[body];
        for dx in -1..=1 {
            for dy in -1..=1 {
                for dz in -1..=1 {
                    let offset = [dx, dy, dz];
                    if !wanted(offset) {
                        continue;
                    }
                    let cell: Cell = core::array::from_fn(|i| own[i] + offset[i]);
                    let Some(members) = self.members.get(&self.place(&cell)) else { continue };
                    for &other in members {
                        let theirs = self.cell_of[other as usize];
                        let image = core::array::from_fn(|i| {
                            if self.count[i] > 0 { (cell[i] - theirs[i]) / self.count[i] } else { 0 }
                        });
                        visit(other, image);
                    }
                }
            }
        }
    }
}
