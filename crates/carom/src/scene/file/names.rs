//! Names: bodies, planes, joints and fills share one name space.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::super::diagnostic::{Log, nearest};
use super::super::document::{Kind, Value};
use super::super::reader;
use crate::contact::Side;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Body(usize),
    Plane(usize),
    Joint,
    Load,
    Fill { count: usize },
}

impl Named {
    const fn describe(self) -> &'static str {
        match self {
            Self::Body(_) => "a body",
            Self::Plane(_) => "a plane",
            Self::Joint => "a joint",
            Self::Load => "a load",
            Self::Fill { .. } => "a fill, whose bodies are placed only when the scene is run",
        }
    }

    const fn side(self) -> Option<Side> {
        match self {
            Self::Body(number) => Some(Side::Body(number)),
            Self::Plane(number) => Some(Side::Plane(number)),
            Self::Joint | Self::Load | Self::Fill { .. } => None,
        }
    }
}

/// The most names searched for one that was meant, so that very many unknown names stay quick.
const MOST_SEARCHED: usize = 2000;

/// The most names listed in a message.
const MOST_LISTED: usize = 8;

/// All names of a scene.
pub(super) struct Names<'a> {
    known: BTreeMap<&'a str, (Named, usize)>,
}

impl<'a> Names<'a> {
    /// The names of a document, each with the place of its first occurrence. Later ones are reported; what is no
    /// name at all is left to the readers of the tables.
    pub(super) fn collect(root: &'a Value, log: &mut Log<'_>) -> Self {
        let mut known: BTreeMap<&str, (Named, usize)> = BTreeMap::new();
        for list in ["body", "plane", "joint", "load", "fill"] {
            let Some(Value { kind: Kind::Array(tables), .. }) = root.get(list) else { continue };
            for (i, table) in tables.iter().enumerate() {
                let Some(value) = table.get("name") else { continue };
                let Kind::String(name) = &value.kind else { continue };
                if name.trim().is_empty() {
                    continue;
                }
                let named = match list {
                    "body" => Named::Body(i),
                    "plane" => Named::Plane(i),
                    "joint" => Named::Joint,
                    "load" => Named::Load,
                    _ => Named::Fill { count: table.get("count").map_or(0, whole) },
                };
                if let Some(&(first, offset)) = known.get(name.as_str()) {
                    let message = format!(
                        "`{}` is already the name of {} on line {}",
                        shown(name),
                        first.describe().split(',').next().unwrap_or_default(),
                        log.line(offset)
                    );
                    let expected = "a name of its own; bodies, planes, joints and fills share one name space";
                    log.report(value.span.clone(), &format_args!("{list}[{i}].name"), message, expected);
                } else {
                    known.insert(name.as_str(), (named, value.span.start));
                }
            }
        }
        let names = Self { known };
        names.check_fills(root, log);
        names
    }

    /// The bodies of the fill `gas` are `gas[0]`, `gas[1]`, …: no other may be called so.
    fn check_fills(&self, root: &Value, log: &mut Log<'_>) {
        for list in ["body", "plane", "joint", "load", "fill"] {
            let Some(Value { kind: Kind::Array(tables), .. }) = root.get(list) else { continue };
            for (i, table) in tables.iter().enumerate() {
                let Some(value) = table.get("name") else { continue };
                if let Kind::String(name) = &value.kind
                    && let Some(offset) = self.fill_of(name)
                {
                    let message = format!(
                        "`{}` is already the name of a body of the fill on line {}",
                        shown(name),
                        log.line(offset)
                    );
                    let path = format!("{list}[{i}].name");
                    log.report(value.span.clone(), &path, message, "a name of its own");
                }
            }
        }
    }

    /// Where the fill is named that has a body of this name.
    fn fill_of(&self, name: &str) -> Option<usize> {
        let (fill, number) = name.strip_suffix(']')?.rsplit_once('[')?;
        let &(Named::Fill { count }, offset) = self.known.get(fill)? else { return None };
        number.parse().is_ok_and(|number: usize| number < count).then_some(offset)
    }

    /// The number of a body of this name.
    pub(super) fn body(&self, value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<usize> {
        let number = |named| if let Named::Body(number) = named { Some(number) } else { None };
        self.find(value, path, "body", number, log)
    }

    /// The number of a plane of this name.
    pub(super) fn plane(&self, value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<usize> {
        let number = |named| if let Named::Plane(number) = named { Some(number) } else { None };
        self.find(value, path, "plane", number, log)
    }

    /// The body or plane of this name.
    fn side(&self, value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<Side> {
        self.find(value, path, "body or plane", Named::side, log)
    }

    /// Two different sides, at least one a body, with their names.
    pub(super) fn sides<'v>(
        &self,
        value: &'v Value,
        path: &dyn Display,
        log: &mut Log<'_>,
    ) -> Option<([Side; 2], [&'v str; 2])> {
        let expected = "the names of two bodies, or of a body and a plane";
        let values = reader::list(value, path, expected, log)?;
        let [first, second] = values else {
            log.report(value.span.clone(), path, counted(values.len()), expected);
            return None;
        };
        let read = |i: usize, value: &'v Value, log: &mut Log<'_>| {
            let path = format!("{path}[{i}]");
            Some((self.side(value, &path, log)?, reader::string(value, &path, log)?))
        };
        let (first, second) = (read(0, first, log), read(1, second, log));
        let ((first, first_name), (second, second_name)) = (first?, second?);
        let message = match (first, second) {
            (Side::Plane(_), Side::Plane(_)) => "names two planes, which are immovable",
            _ if first == second => "names the same body twice",
            _ => return Some(([first, second], [first_name, second_name])),
        };
        log.report(value.span.clone(), path, message, expected);
        None
    }

    fn find<T>(
        &self,
        value: &Value,
        path: &dyn Display,
        what: &str,
        wanted: impl Fn(Named) -> Option<T>,
        log: &mut Log<'_>,
    ) -> Option<T> {
        let name = reader::string(value, path, log)?;
        let found = self.known.get(name).map(|&(named, _)| named);
        let wanted_one = found.and_then(&wanted);
        if wanted_one.is_some() || log.is_full() {
            if wanted_one.is_none() {
                log.report(value.span.clone(), path, "", "");
            }
            return wanted_one;
        }
        let message = match found {
            Some(named) => format!("`{}` is {}", shown(name), named.describe()),
            None if self.fill_of(name).is_some() => {
                let message = format!("`{}` is a body of a fill, which cannot be named here", shown(name));
                log.report(value.span.clone(), path, message, format!("a {what} of its own"));
                return None;
            }
            None => format!("there is no {what} `{}`", shown(name)),
        };
        let candidates =
            || self.known.iter().filter(|(_, (named, _))| wanted(*named).is_some()).map(|(name, _)| *name);
        let expected = match nearest(name, candidates().take(MOST_SEARCHED)) {
            Some(near) => format!("`{near}`"),
            None => match candidates().take(MOST_LISTED + 1).collect::<Vec<_>>().as_slice() {
                [] => format!("a {what} of that name"),
                [one] => format!("`{one}`"),
                all if all.len() > MOST_LISTED => format!("the name of a {what}"),
                all => format!("one of {}", reader::listed(all)),
            },
        };
        log.report(value.span.clone(), path, message, expected);
        None
    }
}

/// A name that can be referred to.
pub(super) fn name(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<String> {
    let name = reader::string(value, path, log)?;
    if name.trim().is_empty() {
        log.report(value.span.clone(), path, "is empty", "a name");
        return None;
    }
    Some(name.to_string())
}

/// How many names a list has, in words.
pub(super) fn counted(count: usize) -> String {
    format!("has {count} name{}", if count == 1 { "" } else { "s" })
}

fn whole(value: &Value) -> usize {
    if let Kind::Number { whole: Some(whole), .. } = value.kind { whole } else { 0 }
}

/// Not too much of a name.
fn shown(name: &str) -> String {
    name.chars().take(40).collect()
}
