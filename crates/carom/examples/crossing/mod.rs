//! The wall that bodies moved by a flow come to: a search that knows nothing of the library's own.

use carom::flow::DenseStep;

/// Where in a piece something falls through zero: by samples, then by halving.
#[must_use]
pub fn first_root(piece: &DenseStep, gap: impl Fn(f64) -> f64) -> Option<f64> {
    let at = |k: u32| piece.from + (piece.until - piece.from) * f64::from(k) / 64.0;
    for k in 0..64 {
        let (mut low, mut high) = (at(k), at(k + 1));
        // A piece that begins at the wall has just left it.
        if gap(high) > 0.0 || (k == 0 && gap(low) < 1e-9) {
            continue;
        }
        while low + 0.5 * (high - low) > low && low + 0.5 * (high - low) < high {
            let middle = low + 0.5 * (high - low);
            if gap(middle) > 0.0 { low = middle } else { high = middle }
        }
        return Some(high);
    }
    None
}
