//! Shows what is wrong with the user's input: for people on standard error, with the place in the file marked,
//! and for programs as JSON on standard output.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use carom::scene::Diagnostic;
use carom_answers::InputError;
use carom_answers::input_error::Fault;
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents,
};

/// The most diagnostics shown to people.
const SHOWN: usize = 20;

/// How much of a line is shown on either side of the place, in bytes.
const REACH: usize = 90;

/// Tells the user, and with `json` the program that called. Nothing can be done where even that fails.
pub fn show(error: &InputError, json: bool) {
    let mut text = String::new();
    let _ = render(error, &mut text);
    let _ = io::stderr().write_all(text.as_bytes());
    if json {
        print_json(error);
    }
}

/// Tells the program that called.
pub fn print_json(error: &InputError) {
    let mut out = io::stdout().lock();
    let _ = serde_json::to_writer(&mut out, &error.document(spelled)).map(|()| writeln!(out));
}

/// An option as it stands on the command line.
fn spelled(option: &str) -> String {
    let dashes = if option.len() == 1 { "-" } else { "--" };
    format!("{dashes}{}", option.replace('_', "-"))
}

fn render(error: &InputError, out: &mut String) -> fmt::Result {
    let handler = GraphicalReportHandler::new_themed(theme()).with_width(110).with_links(false);
    for (i, diagnostic) in error.diagnostics.iter().take(SHOWN).enumerate() {
        // What is missing has no place to show.
        let text = error.text().filter(|_| diagnostic.span != (0..0));
        let excerpt = text.map(|text| Excerpt::new(error, text, diagnostic));
        out.push_str(if i > 0 { "\n" } else { "" });
        handler.render_report(out, &Shown { error, diagnostic, excerpt })?;
    }
    if error.diagnostics.len() > SHOWN {
        out.push_str(&format!("\n… and {} more\n", error.diagnostics.len() - SHOWN));
    }
    Ok(())
}

/// Tells the user of what is allowed but worth a look.
pub fn warn(file: &str, warnings: &[Diagnostic]) {
    for warning in warnings.iter().take(SHOWN) {
        let field = warning.field.as_deref().unwrap_or_default();
        let expected = warning.expected.as_deref().map_or_else(String::new, |e| format!(" (expected {e})"));
        let _ = writeln!(
            io::stderr(),
            "warning: {}:{}:{}: {}: {}{}",
            printable(file),
            warning.line,
            warning.column,
            printable(field),
            printable(&warning.message),
            printable(&expected),
        );
    }
}

fn theme() -> GraphicalTheme {
    if !io::stderr().is_terminal() {
        GraphicalTheme::none()
    } else if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        GraphicalTheme::unicode_nocolor()
    } else {
        GraphicalTheme::unicode()
    }
}

/// A diagnostic as miette shows it.
#[derive(Debug)]
struct Shown<'a> {
    error: &'a InputError,
    diagnostic: &'a Diagnostic,
    excerpt: Option<Excerpt>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = self.error.name().filter(|_| self.excerpt.is_none()) {
            write!(f, "{}: ", printable(file))?;
        }
        if let Some(field) = &self.diagnostic.field {
            let field = if self.error.fault == Fault::Option { &spelled(field) } else { field };
            write!(f, "{}: ", printable(field))?;
        }
        f.write_str(&printable(&self.diagnostic.message))
    }
}

impl std::error::Error for Shown<'_> {}

impl miette::Diagnostic for Shown<'_> {
    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        let expected = self.diagnostic.expected.as_ref()?;
        Some(Box::new(format!("expected {}", printable(expected))))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let excerpt = self.excerpt.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_primary_with_span(None, excerpt.label))))
    }
}

/// The lines around a place, cut to what a person can read: a file may be one line of many megabytes.
#[derive(Debug)]
struct Excerpt {
    file: String,
    /// Where the excerpt begins in the file's text.
    start: usize,
    text: String,
    /// Line and column of the excerpt's beginning, from 0.
    start_position: (usize, usize),
    /// What to mark, within one line.
    label: SourceSpan,
    /// Line and column of the mark, from 0.
    label_position: (usize, usize),
}

impl Excerpt {
    fn new(error: &InputError, text: &str, diagnostic: &Diagnostic) -> Self {
        let at = floor(text, diagnostic.span.start);
        let nearest_start = floor(text, at.saturating_sub(REACH));
        let line_start = text[nearest_start..at].rfind('\n').map(|i| nearest_start + i + 1);
        // The line before is shown too when it is short enough.
        let start = line_start.map_or(nearest_start, |line_start| {
            text[nearest_start..line_start - 1]
                .rfind('\n')
                .map_or(if nearest_start == 0 { 0 } else { line_start }, |i| nearest_start + i + 1)
        });
        let limit = floor(text, at.saturating_add(2 * REACH));
        let line_end = text[at..limit].find('\n').map_or(limit, |i| at + i);
        let next = (line_end + 1).min(limit);
        let end = text[next..limit].find('\n').map_or(limit, |i| next + i);

        let (line, column) = (diagnostic.line.saturating_sub(1), diagnostic.column.saturating_sub(1));
        let lines_before = text[start..at].matches('\n').count();
        let start_column =
            if lines_before > 0 { 0 } else { column.saturating_sub(text[start..at].chars().count()) };
        let marked = floor(text, diagnostic.span.end).clamp(at, line_end);
        Self {
            file: error.name().unwrap_or_default().to_string(),
            start,
            text: harmless(&text[start..end]),
            start_position: (line.saturating_sub(lines_before), start_column),
            label: (at, marked - at).into(),
            label_position: (line, column),
        }
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        _lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // Without context miette asks for the line and column of the mark.
        let (from, position) = if lines_before == 0 {
            (span.offset(), self.label_position)
        } else {
            (self.start, self.start_position)
        };
        let data = from.checked_sub(self.start).and_then(|skip| self.text.get(skip..));
        let data = data.ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.clone(),
            data.as_bytes(),
            (from, data.len()).into(),
            position.0,
            position.1,
            data.lines().count(),
        )))
    }
}

/// The beginning of the character at, or of the one around, an offset; the end of the text past it.
fn floor(text: &str, mut offset: usize) -> usize {
    offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The same text without characters that command a terminal, every byte in its place.
fn harmless(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, character| {
        if character.is_control() && character != '\n' && character != '\t' {
            out.extend(std::iter::repeat_n('?', character.len_utf8()));
        } else {
            out.push(character);
        }
        out
    })
}

/// The same text without characters that command a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::{InputError, render};
    use carom::scene::Diagnostic;

    /// Line and column as a reader of the text counts them.
    fn diagnostic(text: &str, start: usize, end: usize) -> Diagnostic {
        let before = &text[..start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        Diagnostic {
            span: start..end,
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            field: None,
            value: None,
            message: "wrong".to_string(),
            expected: None,
        }
    }

    #[test]
    fn any_place_in_any_text_can_be_shown() {
        let tokens = ["a", "é", "\n", "\r\n", "\t", "\u{85}", "漢", ""];
        let long = "漢x".repeat(200);
        for number in 0..tokens.len().pow(4) {
            let pick = |place: u32| tokens[number / tokens.len().pow(place) % tokens.len()];
            let text: String =
                [pick(0), pick(1), if number % 7 == 0 { &long } else { "" }, pick(2), pick(3)].concat();
            let places: Vec<usize> = (0..=text.len()).filter(|&i| text.is_char_boundary(i)).collect();
            for (i, &start) in places.iter().enumerate().step_by(1 + places.len() / 8) {
                for &end in [places[i], places[places.len() - 1]].iter() {
                    let diagnostic = diagnostic(&text, start, end);
                    let place = format!("[f:{}:{}]", diagnostic.line, diagnostic.column);
                    let error = InputError::of_text("f".to_string(), text.clone(), vec![diagnostic]);
                    let mut out = String::new();
                    assert!(render(&error, &mut out).is_ok(), "{text:?} {start}..{end}");
                    assert!((start, end) == (0, 0) || out.contains(&place), "{text:?} {start}..{end}\n{out}");
                    assert!(out.len() < 3000, "{text:?} {start}..{end}\n{out}");
                }
            }
        }
    }
}
