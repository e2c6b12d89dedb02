//! The program `carom`.
fn main() {}
