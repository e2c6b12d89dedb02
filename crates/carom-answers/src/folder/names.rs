//! The names of the files in a run's folder, and what the tables' metadata say.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use carom::scene::Format;
use carom::scene::model::Scene;

use super::atomic_file::{UNFINISHED, at};
use crate::mesh::KEPT;
use crate::{Input, VERSION};

/// The file of the result.
pub const RESULT: &str = "run.json";

/// What the names of copies' folders begin with.
pub const COPY: &str = "replica-";

/// The file of the state to go on from.
pub(super) const CHECKPOINT: &str = "checkpoint.json";

/// The tables that a run records as it goes.
pub(super) const TABLES: [&str; 4] = ["events", "samples", "joint_impulses", "reactions"];

/// The table of a gas's averages, made at the end.
pub(super) const OBSERVABLES: &str = "observables";

/// The table of derivatives, made at the end where they were asked for.
pub(super) const DERIVATIVES: &str = "derivatives";

/// The trajectories for other programs.
pub(super) const TRAJECTORIES: [&str; 2] = ["trajectory.xyz", "trajectory.gsd"];

/// The languages of scenes.
const LANGUAGES: [Format; 2] = [Format::Toml, Format::Json];

/// The file of a scene in a language.
pub(super) const fn scene_name(format: Format) -> &'static str {
    match format {
        Format::Toml => "scene.toml",
        Format::Json => "scene.json",
    }
}

/// The file of a scene that `has` knows, and its language.
pub(super) fn scene_among(has: impl Fn(&str) -> bool) -> Option<(&'static str, Format)> {
    LANGUAGES.into_iter().map(|format| (scene_name(format), format)).find(|(name, _)| has(name))
}

/// The file of a table.
pub(super) fn table_name(table: &str) -> String {
    format!("{table}.parquet")
}

/// The file of a table's part.
pub(super) fn part_name(table: &str, part: u32) -> String {
    format!("{table}-{part:05}.parquet")
}

/// The number of a part, if the name is that of one.
pub(super) fn part_number(name: &str, table: &str) -> Option<u32> {
    let part = name.strip_prefix(table)?.strip_prefix('-')?.strip_suffix(".parquet")?.parse().ok()?;
    (name == part_name(table, part)).then_some(part)
}

/// Whether the name is that of a part of any table.
pub(super) fn is_part(name: &str) -> bool {
    TABLES.iter().any(|table| part_number(name, table).is_some())
}

/// Whether a run that has ended keeps a file of this name to be read back.
pub(super) fn is_kept(name: &str) -> bool {
    let table = name.strip_suffix(".parquet");
    name == RESULT
        || name == KEPT
        || LANGUAGES.into_iter().any(|format| name == scene_name(format))
        || table.is_some_and(|table| TABLES.contains(&table) || [OBSERVABLES, DERIVATIVES].contains(&table))
}

/// Whether a file of this name is made of the rest at the end.
pub(super) fn is_made(name: &str) -> bool {
    name == RESULT
        || [OBSERVABLES, DERIVATIVES].iter().any(|table| name == table_name(table))
        || TRAJECTORIES.contains(&name)
}

/// Whether a run writes files of this name.
pub(super) fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(UNFINISHED).unwrap_or(name);
    is_kept(name) || is_made(name) || is_part(name) || name == CHECKPOINT
}

/// What the tables' metadata say: version, scene and title.
pub(super) type Metadata = [(&'static str, String); 3];

/// The metadata of a scene's tables.
pub(super) fn metadata(input: &Input, scene: &Scene) -> Metadata {
    let title = scene.title.clone().unwrap_or_default();
    [("version", VERSION.to_string()), ("scene", input.hash()), ("title", title)]
}

/// The file of the scene in a run's folder.
pub fn scene_file(path: &Path) -> Option<PathBuf> {
    scene_among(|name| path.join(name).is_file()).map(|(name, _)| path.join(name))
}

/// The folder of a copy's run, beside those of all copies.
pub fn copy(path: &Path, number: u64, count: u64) -> PathBuf {
    let width = count.saturating_sub(1).to_string().len();
    path.join(format!("{COPY}{number:0width$}"))
}

/// The folders of copies in one that `--replicas` wrote, in their order.
pub fn copies(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().starts_with(COPY));
        name == Some(true) && scene_file(path).is_some()
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_copy).collect();
    found.sort_unstable();
    found
}

/// The names in a folder, sorted; a name that is not Unicode is not ours.
pub(super) fn entries(path: &Path) -> io::Result<Vec<String>> {
    let read = || -> io::Result<Vec<String>> {
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    let mut names = read().map_err(|error| at(path, &error))?;
    names.sort_unstable();
    Ok(names)
}

/// Removes the files whose names are wanted.
pub(super) fn remove_all(path: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    for name in entries(path)?.iter().filter(|name| wanted(name)) {
        let file = path.join(name);
        fs::remove_file(&file).map_err(|error| at(&file, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{is_ours, part_number};

    #[test]
    fn only_names_that_a_run_writes_are_its_own() {
        for name in [
            "scene.toml",
            "scene.json",
            "checkpoint.json",
            "checkpoint.json.tmp",
            "run.json",
            "events.parquet",
            "events-00001.parquet",
            "samples-123456.parquet.tmp",
            "observables.parquet",
            "trajectory.gsd",
        ] {
            assert!(is_ours(name), "{name}");
        }
        for name in
            ["notes.txt", "events-1.parquet", "events-00001.csv", "events-.parquet", "sample.parquet", ".tmp"]
        {
            assert!(!is_ours(name), "{name}");
        }
    }

    #[test]
    fn parts_have_numbers() {
        assert_eq!(part_number("events-00012.parquet", "events"), Some(12));
        assert_eq!(part_number("events-00012.parquet", "samples"), None);
        assert_eq!(part_number("events-12.parquet", "events"), None);
    }
}
