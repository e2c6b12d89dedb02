//! A table with right-aligned columns, no wider than the terminal: columns that can be spared are left out, and what is still too wide is
//! folded into several tables below each other. `--wide` and JSON have all.

use std::io::{self, Write};

use super::Style;

/// The most rows shown to people.
pub const SHOWN: usize = 20;

/// One cell.
pub struct Cell {
    text: String,
    alarm: bool,
}

impl Cell {
    /// The same cell, to be noticed if `condition` holds.
    pub fn alarm_if(mut self, condition: bool) -> Self {
        self.alarm = condition;
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), alarm: false }
    }
}

/// The columns of a table.
#[derive(Debug, Clone, Copy)]
pub struct Header<'a, const N: usize> {
    names: [&'a str; N],
    /// How many of the first columns say what a row is about: they stand in every part of a folded table.
    keys: usize,
    /// Those that can be left out, the one that is missed least first.
    spare: &'a [usize],
}

impl<'a, const N: usize> From<[&'a str; N]> for Header<'a, N> {
    fn from(names: [&'a str; N]) -> Self {
        Self { names, keys: 1, spare: &[] }
    }
}

impl<'a, const N: usize> Header<'a, N> {
    /// Columns, the first `keys` of which say what a row is about.
    pub const fn new(names: [&'a str; N], keys: usize) -> Self {
        Self { names, keys, spare: &[] }
    }

    /// The same where these columns may be left out, in this order.
    pub const fn sparing(mut self, spare: &'a [usize]) -> Self {
        self.spare = spare;
        self
    }

    /// The columns of each part of the table, and those left out, where lines may be so wide.
    fn fit(&self, widths: &[usize; N], limit: Option<usize>) -> (Vec<Vec<usize>>, Vec<usize>) {
        let Some(limit) = limit else { return (vec![(0..N).collect()], Vec::new()) };
        let wide =
            |columns: &[usize]| columns.iter().map(|&column| GAP.len() + widths[column]).sum::<usize>();
        let mut columns: Vec<usize> = (0..N).collect();
        let mut left_out = Vec::new();
        for &spare in self.spare {
            if wide(&columns) <= limit {
                break;
            }
            columns.retain(|&column| column != spare);
            left_out.push(spare);
        }
        left_out.sort_unstable();
        let (keys, rest) = columns.split_at(self.keys.min(columns.len()));
        let mut parts = vec![keys.to_vec()];
        for &column in rest {
            let last = parts.len() - 1;
            // A part has at least one column besides the keys, however wide that is.
            if parts[last].len() > keys.len() && wide(&parts[last]) + GAP.len() + widths[column] > limit {
                parts.push(keys.to_vec());
            }
            let last = parts.len() - 1;
            parts[last].push(column);
        }
        (parts, left_out)
    }
}

/// What stands before each column.
const GAP: &str = "  ";

/// Writes a heading and the table; of a long one its first rows. Rows are made only when shown.
pub fn write<'a, const N: usize>(
    out: &mut dyn Write,
    style: Style,
    title: &str,
    header: impl Into<Header<'a, N>>,
    count: usize,
    row: impl Fn(usize) -> [Cell; N],
) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let header = header.into();
    let rows: Vec<[Cell; N]> = (0..count.min(SHOWN)).map(row).collect();
    let widths: [usize; N] = std::array::from_fn(|j| {
        rows.iter().map(|row| row[j].text.chars().count()).fold(header.names[j].chars().count(), usize::max)
    });
    let (parts, left_out) = header.fit(&widths, style.width);
    writeln!(out, "\n{}", style.heading(title))?;
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        let names = part.iter().map(|&j| format!("{GAP}{:>width$}", header.names[j], width = widths[j]));
        writeln!(out, "{}", names.collect::<String>())?;
        for row in &rows {
            let cells = part.iter().map(|&j| {
                let text = format!("{GAP}{:>width$}", row[j].text, width = widths[j]);
                if row[j].alarm { style.alarm(&text) } else { text }
            });
            writeln!(out, "{}", cells.collect::<String>())?;
        }
    }
    if count > SHOWN {
        writeln!(out, "  … {} more; --json has all", count - SHOWN)?;
    }
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|&j| header.names[j]).collect();
        writeln!(out, "  ({} left out: --wide)", names.join(", "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{Header, write};
    use crate::report::Style;

    const NAMES: [&str; 5] = ["first", "second", "time", "point", "type"];

    fn drawn(header: Header<5>, width: Option<usize>) -> String {
        let mut out = Vec::new();
        let rows = [["a", "b", "1.25", "[1, 2, 3]", "normal"], ["a", "c", "0.5", "[4, 5, 6]", "graze"]];
        let style = Style::plain(width);
        write(&mut out, style, "contacts", header, 2, |i| rows[i].map(Into::into)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_left_out_by_importance() {
        let header = Header::new(NAMES, 2).sparing(&[3, 4]);
        let all = drawn(header, None);
        assert_eq!(all, drawn(header, Some(all.lines().nth(3).unwrap().len())));
        assert!(!all.contains("--wide"));
        let less = drawn(header, Some(38));
        assert!(less.contains("normal") && !less.contains("[1, 2, 3]"), "{less}");
        assert!(less.ends_with("  (point left out: --wide)\n"), "{less}");
        let least = drawn(header, Some(24));
        assert!(least.ends_with("  (point, type left out: --wide)\n") && least.contains("1.25"), "{least}");
    }

    #[test]
    fn wide_tables_fold() {
        let folded = drawn(Header::new(NAMES, 2), Some(30));
        assert_eq!(
            folded,
            "\ncontacts\n  first  second  time\n      a       b  1.25\n      a       c   0.5\n\n  first  second      point\n      a       \
             b  [1, 2, 3]\n      a       c  [4, 5, 6]\n\n  first  second    type\n      a       b  normal\n      a       c   graze\n"
        );
        // However narrow the terminal, every column is there, once, and lines are no wider than they must be.
        for width in 0..60 {
            let text = drawn(Header::from(NAMES), Some(width));
            for word in ["second", "1.25", "[4, 5, 6]", "graze"] {
                assert_eq!(text.matches(word).count(), 1, "{width}: {text}");
            }
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.max("  first  [4, 5, 6]".len()), "{width}: {text}");
        }
    }
}
