//! `carom view [SCENE or DIR]`: the page, served to the browser of this machine.
//!
//! The program holds the page and runs the engine; the page draws. What they say to each other is in
//! [`carom_answers::page`], and on the page's side in `viewer/src/protocol.ts`.

mod page;
mod runs;
mod server;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carom_answers::folder::Recording;
use carom_answers::{InputError, Verdict};

use super::input::{read, read_scene};
use crate::{Failure, diagnostics};
use runs::Runs;
use server::{Opening, Shared};

/// The command's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// A scene, or a folder that `carom run -o` wrote; by default the gallery
    path: Option<PathBuf>,

    /// The port to listen on, on this machine only; by default, or with 0, any free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,

    /// Don't open the browser
    #[arg(long)]
    no_open: bool,
}

const AFTER_HELP: &str = "\
The address is printed as the first line. It contains a token: only someone who has it can run scenes on this machine. Ctrl-C ends the \
server.

Examples:
  carom view
  carom view cases/papers/paradox.toml
  carom view gas --port 8080 --no-open";

/// The length of the token in bytes.
const TOKEN: usize = 16;

/// Serves until it is ended.
pub fn run(arguments: &Arguments) -> Result<Verdict, Failure> {
    let runs = Runs::default();
    let opening = match &arguments.path {
        None => Opening::Gallery,
        Some(path) => open(path, &runs)?,
    };
    let token = token()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener =
            tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).await.map_err(|error| {
                let message = format!("cannot listen on port {}: {error}", arguments.port);
                InputError::of_option(Some("port"), &message, Some("a port that is free, or 0 for any"))
            })?;
        let port = listener.local_addr()?.port();
        let address = format!("http://127.0.0.1:{port}/{token}/");
        {
            let mut out = io::stdout().lock();
            writeln!(out, "{address}")?;
            out.flush()?;
        }
        if !arguments.no_open && open::that_detached(&address).is_err() {
            let _ = writeln!(io::stderr(), "note: no browser could be opened; open the address above in any");
        }
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let shared = Arc::new(Shared { runs, opening, hosts });
        axum::serve(listener, server::router(&token, shared)).await.map_err(Failure::from)
    })?;
    Ok(Verdict::Done)
}

/// A scene's text, or a run that is played.
fn open(path: &Path, runs: &Runs) -> Result<Opening, Failure> {
    let name =
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    if path.is_dir() {
        let recording = Recording::open(path, read_scene)?;
        let run = runs.add(Arc::new(recording.scene.clone()), recording.text.clone()).map_err(|_| {
            // Nothing else is in progress yet.
            Failure::Other("too many runs are in progress".to_string())
        })?;
        run.replay(&recording).map_err(|error| {
            Failure::Other(format!("the run in {} cannot be read: {error}", path.display()))
        })?;
        return Ok(Opening::Run { name, text: recording.text, id: run.id });
    }
    let input = read(path)?;
    // The page shows the mistake beside the text, where it can be corrected; it is printed here too.
    if let Err(error) = input.clone().scene() {
        diagnostics::show(&error, false);
    }
    Ok(Opening::Scene { name, text: input.text })
}

/// Random letters that nobody can guess.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; TOKEN];
    getrandom::fill(&mut bytes).map_err(|error| Failure::Other(format!("no randomness: {error}")))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
