//! The program `carom`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(carom_cli::run_with(std::env::args_os()))
}
