//! `cargo xtask …`.
fn main() {}
