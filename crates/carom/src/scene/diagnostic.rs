//! What is wrong with a file, where, and what would be right.

use std::cell::OnceCell;
use std::ops::Range;

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The bytes of the text at fault.
    pub span: Range<usize>,
    /// The line where they begin, from 1.
    pub line: usize,
    /// The column where they begin, in characters from 1.
    pub column: usize,
    /// The entry, such as `mass[2][3]`; none when the text as a whole cannot be read.
    pub field: Option<String>,
    /// What stands there, shortened if long; `None` if nothing does.
    pub value: Option<String>,
    /// What is wrong with it.
    pub message: String,
    /// What would be right.
    pub expected: Option<String>,
}

/// The longest list of diagnostics worth making: a matrix of ten million NaN is one mistake.
const MOST: usize = 1000;

/// The longest piece of the text quoted in a diagnostic, in characters.
const LONGEST_VALUE: usize = 60;

/// Collects the diagnostics of one text.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    text: &'a str,
    list: Vec<Diagnostic>,
    left_out: usize,
    /// Where the lines of the text end, once asked for.
    line_ends: OnceCell<Vec<usize>>,
}

impl<'a> Log<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, list: Vec::new(), left_out: 0, line_ends: OnceCell::new() }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether further reports are only counted: no need to find words for them.
    pub(crate) const fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// The line of a byte of the text, from 1, for messages that name another place than their own.
    pub(crate) fn line(&self, offset: usize) -> usize {
        let ends = self.line_ends.get_or_init(|| self.text.match_indices('\n').map(|(at, _)| at).collect());
        ends.partition_point(|&end| end < offset) + 1
    }

    /// Reports a fault of an entry. `field` is empty for the text as a whole, `expected` where there is nothing
    /// to add to the message.
    pub(crate) fn report(
        &mut self,
        span: Range<usize>,
        field: &dyn std::fmt::Display,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let some = |text: String| (!text.is_empty()).then_some(text);
        self.list.push(Diagnostic {
            value: self.text.get(span.clone()).map(shorten).and_then(some),
            span,
            line: 1,
            column: 1,
            field: some(field.to_string()),
            message: message.into(),
            expected: some(expected.into()),
        });
    }

    /// The diagnostics in the order of the text, each once, with line and column.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| (d.span.start, d.span.end));
        self.list.dedup();
        // One pass for all: the text may be one line of many megabytes.
        let (mut line, mut column, mut rest) = (1, 1, self.list.iter_mut().peekable());
        for (offset, character) in self.text.char_indices() {
            while let Some(d) = rest.next_if(|d| d.span.start <= offset) {
                (d.line, d.column) = (line, column);
            }
            if rest.peek().is_none() {
                break;
            }
            if character == '\n' {
                (line, column) = (line + 1, 1);
            } else {
                column += 1;
            }
        }
        for d in rest {
            (d.line, d.column) = (line, column);
        }
        if let Some(last) = self.list.last_mut()
            && self.left_out > 0
        {
            last.message.push_str(&format!(" (and {} more errors that are not listed)", self.left_out));
        }
        self.list
    }
}

/// The first line of a piece of text, not too long.
fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(LONGEST_VALUE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The name nearest to `found`, if one is near enough to be a slip of the keyboard.
pub(crate) fn nearest<'n>(found: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let found: Vec<char> = found.chars().flat_map(char::to_lowercase).take(40).collect();
    let near = (found.len() / 3).clamp(1, 4);
    names
        .into_iter()
        .filter(|name| name.len().abs_diff(found.len()) <= near)
        .map(|name| (distance(&found, name), name))
        .filter(|&(distance, _)| distance <= near)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// The number of insertions, deletions, substitutions and swaps of neighbours that make `b` of `a`.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut least = (above[j] + usize::from(a[i] != b[j])).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{Log, distance, nearest};

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in [
            ("mass", "mass", 0),
            ("mas", "mass", 1),
            ("msas", "mass", 1),
            ("", "law", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(&a.chars().collect::<Vec<_>>(), b), edits, "{a} {b}");
        }
    }

    #[test]
    fn nearest_is_a_slip_or_nothing() {
        let names = ["mass", "velocity", "restitution", "friction"];
        assert_eq!(nearest("velocty", names), Some("velocity"));
        assert_eq!(nearest("Mass", names), Some("mass"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), names), None);
    }

    #[test]
    fn columns_count_characters() {
        let text = "é = 1\nüü = 2";
        let mut log = Log::new(text);
        log.report(text.len()..text.len(), &"", "end", "");
        log.report(14..15, &"b", "two", "");
        log.report(0..2, &"a", "one", "");
        let found: Vec<_> = log.finish().iter().map(|d| (d.line, d.column)).collect();
        assert_eq!(found, [(1, 1), (2, 6), (2, 7)]);
    }
}
