//! The papers for people: a table with wrapped columns, grouped by scene.

use std::io::{self, Write};

use carom_answers::paper::{Catalogue, Reproduction, Row, Shown, Verdict};

use super::{Style, largest, number};

/// The columns and the most characters a line of each may have.
const COLUMNS: [(&str, usize); 5] =
    [("equation", 12), ("quantity", 28), ("printed", 28), ("computed", 24), ("verdict", 8)];

/// Two spaces go before each column.
const MARGIN: usize = 2;

/// Writes one paper.
pub fn write(out: &mut dyn Write, paper: &Reproduction, style: Style) -> io::Result<()> {
    let rows = &paper.rows;
    writeln!(out, "{}", style.heading(paper.citation))?;
    writeln!(out, "Quoted: {}.", paper.version)?;
    let mut scene = "";
    for row in rows {
        if row.scene != scene {
            scene = row.scene;
            writeln!(out, "\n{} (cases/papers/{scene})", style.heading(&row.title))?;
            write_line(out, COLUMNS.map(|(name, _)| name), |_, text| text.to_string())?;
        }
        write_row(out, row, style)?;
    }
    writeln!(out, "\n{}", tally(rows))
}

/// Writes the list of papers.
pub fn write_list(out: &mut dyn Write, catalogue: &Catalogue, style: Style) -> io::Result<()> {
    for paper in &catalogue.papers {
        writeln!(out, "{}", style.heading(paper.paper))?;
        writeln!(out, "  {}", paper.citation)?;
        writeln!(out, "  {}", tally(&paper.rows))?;
    }
    writeln!(out, "\ncarom paper NAME reproduces one; carom paper --help explains the verdicts")
}

/// How many rows have which verdict.
fn tally(rows: &[Row]) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let plural = |n: usize, word: &str| if n == 1 { word.to_string() } else { format!("{word}s") };
    let misprints = count(Verdict::Misprint);
    format!(
        "{} rows: {} agree, {misprints} {}, {} wrong, {} narrow, {} beyond the paper",
        rows.len(),
        count(Verdict::Agrees),
        plural(misprints, "misprint"),
        count(Verdict::Wrong),
        count(Verdict::Narrow),
        count(Verdict::Beyond),
    )
}

fn write_row(out: &mut dyn Write, row: &Row, style: Style) -> io::Result<()> {
    let texts = [
        row.equation.to_string(),
        row.quantity.to_string(),
        row.closed_form
            .as_ref()
            .map_or_else(|| cell(&row.printed, row.scale), |ours| format!("[{}]", cell(ours, row.scale))),
        cell(&row.computed, row.scale),
        row.verdict.name().to_string(),
    ];
    let cells: Vec<Vec<String>> =
        texts.iter().zip(COLUMNS).map(|(text, (_, width))| wrap(text, width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for i in 0..height {
        let line: [&str; 5] = std::array::from_fn(|k| cells[k].get(i).map_or("", String::as_str));
        write_line(
            out,
            line,
            |k, text| if k == 4 { colour(style, row.verdict, text) } else { text.to_string() },
        )?;
    }
    let width = COLUMNS.iter().skip(1).map(|(_, width)| width + MARGIN).sum::<usize>() - MARGIN - 2;
    let indent = " ".repeat(2 * MARGIN + COLUMNS[0].1);
    for (mark, text) in [("→", row.erratum), ("·", row.note)] {
        for (i, line) in text.map_or_else(Vec::new, |text| wrap(text, width)).iter().enumerate() {
            writeln!(out, "{indent}{} {line}", if i == 0 { mark } else { " " })?;
        }
    }
    Ok(())
}

/// One line of the table; no blanks at its end.
fn write_line(
    out: &mut dyn Write,
    texts: [&str; 5],
    paint: impl Fn(usize, &str) -> String,
) -> io::Result<()> {
    let mut line = String::new();
    let mut owed = 0;
    for (k, (text, (_, width))) in texts.iter().zip(COLUMNS).enumerate() {
        owed += MARGIN;
        if text.is_empty() {
            owed += width;
        } else {
            line.push_str(&" ".repeat(owed));
            line.push_str(&paint(k, text));
            owed = width.saturating_sub(length(text));
        }
    }
    writeln!(out, "{line}")
}

fn colour(style: Style, verdict: Verdict, text: &str) -> String {
    let code = match verdict {
        Verdict::Agrees => "32",
        Verdict::Misprint => "33",
        Verdict::Wrong => "31",
        Verdict::Narrow => "35",
        Verdict::Beyond => "36",
    };
    style.paint(code, text)
}

/// Words, numbers, or a formula and its value.
fn cell(shown: &Shown, scale: f64) -> String {
    let scale = largest(&shown.value).max(scale);
    // What the rows count as rounding is not shown.
    let rounded = |x: f64| if x.abs() <= 1e-12 * scale { 0.0 } else { x };
    let list: Vec<String> = shown.value.iter().map(|&x| number(rounded(x))).collect();
    let numbers = if list.len() > 1 { format!("({})", list.join(", ")) } else { list.join("") };
    match shown.text {
        Some(text) if numbers.is_empty() => text.to_string(),
        None => numbers,
        Some(text) if text.ends_with(':') => format!("{text} {numbers}"),
        Some(text) => format!("{text} = {numbers}"),
    }
}

/// Breaks a text between words so that no line is longer than `width`, unless one word is.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// How many places a text takes: combining marks, as in J̃, take none.
fn length(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

#[cfg(test)]
mod tests {
    use super::{length, wrap};

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible", 4), ["incomprehensible"]);
        assert_eq!(length("2J̃ P"), 4);
    }
}
