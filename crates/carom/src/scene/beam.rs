//! How fast two bodies approach each other, and spin, before they meet.

/// The relative speed of two bodies before they meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Translation {
    /// Always this.
    Speed(f64),
    /// That of the collisions of a gas at this k_B T: Maxwell's distribution, weighted by the speed.
    Temperature(f64),
}

/// The angular velocity of a body before it meets the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spin {
    /// Of this size, its direction uniform.
    Speed(f64),
    /// Maxwell's distribution at this k_B T, in the spins that impacts can change.
    Temperature(f64),
}
