//! Sparse rows: what a contact or constraint row is in reduced coordinates.

/// Rows of a matrix with `dimension` columns, each kept as its non-zero entries in order of column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rows {
    /// The number of columns.
    pub dimension: usize,
    start: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
}

impl Rows {
    /// No rows yet, with `dimension` columns.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, start: vec![0], column: Vec::new(), value: Vec::new() }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Adds a row given as entries in order of column; zeros are left out.
    pub fn push(&mut self, entries: impl Iterator<Item = (usize, f64)>) {
        for (column, value) in entries {
            if value != 0.0 {
                self.column.push(column);
                self.value.push(value);
            }
        }
        self.start.push(self.column.len());
    }

    /// A row's non-zero entries.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[i]..self.start[i + 1];
        self.column[range.clone()].iter().copied().zip(self.value[range].iter().copied())
    }

    /// Multiplies the last row.
    pub fn scale_last(&mut self, factor: f64) {
        let from = self.start[self.start.len() - 2];
        for value in &mut self.value[from..] {
            *value *= factor;
        }
    }

    /// The last row's Euclidean length.
    pub fn last_length(&self) -> f64 {
        super::qr::norm(&self.value[self.start[self.start.len() - 2]..])
    }

    /// Row i times x.
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).map(|(j, c)| c * x[j]).sum()
    }

    /// x ← x + factor · row i.
    pub fn add_to(&self, i: usize, factor: f64, x: &mut [f64]) {
        for (j, c) in self.row(i) {
            x[j] += factor * c;
        }
    }

    /// Row i times row j.
    pub fn inner(&self, i: usize, j: usize) -> f64 {
        let (mut a, mut b) = (self.start[i], self.start[j]);
        let mut sum = 0.0;
        while a < self.start[i + 1] && b < self.start[j + 1] {
            match self.column[a].cmp(&self.column[b]) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    sum += self.value[a] * self.value[b];
                    a += 1;
                    b += 1;
                }
            }
        }
        sum
    }

    /// For each column, the rows that have an entry there.
    pub fn by_column(&self, ids: &[usize]) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.dimension];
        for (place, &i) in ids.iter().enumerate() {
            for (j, _) in self.row(i) {
                lists[j].push(place);
            }
        }
        lists
    }
}
