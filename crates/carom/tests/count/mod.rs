//! How many cases a random family takes.

use std::ops::Div;
use std::str::FromStr;

/// What the variable says; without it the default, or with `CAROM_QUICK` a tenth of that.
pub fn cases<T: FromStr + From<u8> + Div<Output = T>>(variable: &str, default: T) -> T {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) if std::env::var_os("CAROM_QUICK").is_some() => default / T::from(10),
        Err(_) => default,
    }
}
