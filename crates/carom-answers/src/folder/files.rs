//! The files of a run that has ended, in memory: written to a folder, read from one, and made a run again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use carom::fill;
use carom::observe::BlockMeans;
use carom::record::Memory;
use carom::scene::model::Scene;

use super::atomic_file::{at, replace};
use super::names::{
    DERIVATIVES, OBSERVABLES, RESULT, TABLES, entries, is_kept, is_ours, metadata, scene_among, scene_name,
    table_name,
};
use super::{Error, busy, clear, is_busy};
use crate::Input;
use crate::mesh;
use crate::run::{DerivativesEntry, Rows};
use crate::tables::file::{file, of_arrow};
use crate::tables::{self, JointRow};

/// The files by name.
#[derive(Debug, Clone, Default)]
pub struct Files(pub BTreeMap<String, Vec<u8>>);

/// What the files of a run say.
#[derive(Debug)]
pub struct Contents {
    /// The scene, with the bodies of its fills.
    pub scene: Scene,
    /// The document of the result.
    pub document: String,
    /// Events, samples and reactions.
    pub memory: Memory,
}

impl Files {
    /// The files that `carom run -o` writes of a run: `document` with the rows of the tables, `blocks` the averages of a gas.
    pub fn of(
        input: &Input,
        scene: &Scene,
        memory: &Memory,
        blocks: Option<&[BlockMeans]>,
        document: &str,
    ) -> io::Result<Self> {
        let about = metadata(input, scene);
        let mut made = vec![
            (TABLES[0], tables::events(scene, &memory.events, &about)),
            (TABLES[1], tables::samples(scene, &memory.samples, &about)),
        ];
        if !scene.joints.is_empty() {
            let impulses = JointRow::of(&memory.events);
            made.push((TABLES[2], tables::joint_impulses(scene, &impulses, &about)));
            made.push((TABLES[3], tables::reactions(scene, &memory.reactions, &about)));
        }
        made.extend(blocks.map(|blocks| (OBSERVABLES, tables::observables(scene, blocks, &about))));
        let mut files = BTreeMap::from([
            (scene_name(input.format).to_string(), input.text.clone().into_bytes()),
            (RESULT.to_string(), document.as_bytes().to_vec()),
        ]);
        if let Some(meshes) = mesh::document(&input.meshes) {
            files.insert(mesh::KEPT.to_string(), meshes);
        }
        for (name, rows) in made {
            files.insert(table_name(name), file(&rows.map_err(of_arrow)?)?);
        }
        Ok(Self(files))
    }

    /// The file of a run's derivatives.
    pub fn derivatives(input: &Input, scene: &Scene, found: &DerivativesEntry) -> io::Result<Vec<u8>> {
        file(&tables::derivatives(found, &metadata(input, scene)).map_err(of_arrow)?)
    }

    /// Adds that file, if there is one.
    pub fn add_derivatives(&mut self, bytes: Option<&[u8]>) {
        if let Some(bytes) = bytes {
            self.0.insert(table_name(DERIVATIVES), bytes.to_vec());
        }
    }

    /// The rows of the tables that what was recorded makes.
    pub fn rows(scene: &Scene, memory: &Memory) -> Rows {
        let joints = !scene.joints.is_empty();
        Rows {
            events: memory.events.len() as u64,
            samples: memory.samples.len() as u64,
            joint_impulses: joints.then(|| JointRow::of(&memory.events).len() as u64),
            reactions: joints.then_some(memory.reactions.len() as u64),
        }
    }

    /// Reads those of a folder.
    pub fn read(path: &Path) -> io::Result<Self> {
        if !path.join(RESULT).is_file() {
            let message = format!("{} holds no run: there is no {RESULT}", path.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let mut files = Self::default();
        for name in entries(path)?.into_iter().filter(|name| is_kept(name)) {
            let file = path.join(&name);
            let bytes = fs::read(&file).map_err(|error| at(&file, &error))?;
            files.0.insert(name, bytes);
        }
        Ok(files)
    }

    /// Whether a folder holds files of a run, ended or not.
    pub fn are_in(path: &Path) -> io::Result<bool> {
        Ok(path.is_dir() && entries(path)?.iter().any(|name| is_ours(name)))
    }

    /// Writes them to a folder, in the place of a run that is there.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        fs::create_dir_all(path).map_err(|error| at(path, &error))?;
        if is_busy(path)? {
            return Err(busy(path).into());
        }
        clear(path)?;
        // The result last, so that a folder with one is whole.
        let (results, others): (Vec<_>, Vec<_>) = self.0.iter().partition(|(name, _)| *name == RESULT);
        for (name, bytes) in others.into_iter().chain(results) {
            replace(&path.join(name), bytes)?;
        }
        Ok(())
    }

    /// The scene's text; empty where there is none.
    pub fn scene_text(&self) -> &str {
        let bytes = scene_among(|name| self.0.contains_key(name)).and_then(|(name, _)| self.0.get(name));
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// What they say.
    pub fn open(&self) -> Result<Contents, Error> {
        let text = |name: &str| self.0.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let missing = |what: &str| damaged(format!("the folder holds no run: there is no {what}"));
        let (name, format) = scene_among(|name| self.0.contains_key(name))
            .ok_or_else(|| missing("scene.toml or scene.json"))?;
        let document = text(RESULT).ok_or_else(|| missing(RESULT))?;
        let meshes = self.0.get(mesh::KEPT).map_or_else(Default::default, |bytes| mesh::kept(bytes));
        let input = Input { meshes, ..Input::of_text(name, text(name).unwrap_or_default(), Some(format)) };
        let subject = input.scene()?;
        let scene = fill::populate(&subject.scene);
        let memory = tables::read::memory(&scene, |name| self.0.get(name).cloned()).map_err(damaged)?;
        Ok(Contents { scene, document, memory })
    }
}

fn damaged(message: String) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, message).into()
}
