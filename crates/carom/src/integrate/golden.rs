//! Golden-section search.

/// Each round keeps 0.62 of the interval; the limit is looked at after the first few.
const ROUNDS: u32 = 48;
const FIRST: u32 = 6;

/// The place of the least value of a function that falls and then rises between two places, and the value there. The search ends
/// early if its first rounds find nothing below a limit.
pub(crate) fn least(
    of: &mut impl FnMut(f64) -> f64,
    [mut low, mut high]: [f64; 2],
    limit: f64,
) -> (f64, f64) {
    const SHARE: f64 = 0.618_033_988_749_894_8;
    let mut places = [high - SHARE * (high - low), low + SHARE * (high - low)];
    let mut values = [of(places[0]), of(places[1])];
    for round in 0..ROUNDS {
        if values[0] > values[1] {
            low = places[0];
            (places[0], values[0]) = (places[1], values[1]);
            places[1] = low + SHARE * (high - low);
            values[1] = of(places[1]);
        } else {
            high = places[1];
            (places[1], values[1]) = (places[0], values[0]);
            places[0] = high - SHARE * (high - low);
            values[0] = of(places[0]);
        }
        if round == FIRST && values[0].min(values[1]) > limit {
            break;
        }
    }
    if values[0] < values[1] { (places[0], values[0]) } else { (places[1], values[1]) }
}
