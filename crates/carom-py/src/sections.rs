//! A document cut into its sections: the text of every entry at its top, so that Python reads what is looked at and nothing else.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Names and texts, in the order of the document.
pub type Sections = Vec<(String, String)>;

/// Writes a document, which must be a table, and cuts it.
pub fn cut(document: &impl Serialize) -> Result<Sections, serde_json::Error> {
    cut_text(&serde_json::to_string(document)?)
}

/// Cuts a document that is written already.
pub fn cut_text(text: &str) -> Result<Sections, serde_json::Error> {
    let Cut(sections) = serde_json::from_str(text)?;
    Ok(sections)
}

struct Cut(Sections);

impl<'de> Deserialize<'de> for Cut {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Cut;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Cut, A::Error> {
                let mut sections = Vec::with_capacity(24);
                while let Some((name, text)) = entries.next_entry::<String, &RawValue>()? {
                    sections.push((name, text.get().to_string()));
                }
                Ok(Cut(sections))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}
