//! The file formats: parse, validate, explain.
//!
//! A file is TOML or JSON text. [`document`] makes one tree of either, every value with its place in the text;
//! a module per kind of file turns the tree into the library's types and collects *everything* that is wrong
//! with it as [`Diagnostic`]s. Nothing here opens files or prints.

mod beam;
mod diagnostic;
pub mod document;
pub mod expression;
mod fields;
pub mod file;
pub mod generalized;
pub mod instant;
mod json;
mod meant;
pub mod meshes;
pub mod model;
mod reader;
pub mod schema;
pub mod template;

pub use diagnostic::Diagnostic;
pub use document::Format;
