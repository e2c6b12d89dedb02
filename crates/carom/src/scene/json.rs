//! JSON as RFC 8259 has it, with the place of every value.
//!
//! By hand, because the parsers at hand are either without places or take more than JSON (`jsonc-parser` with
//! every option off still lets control characters and foreign white space pass).

use std::collections::BTreeSet;
use std::ops::Range;

use super::diagnostic::Log;
use super::document::{DEEPEST, Entry, Kind, Value, number};
use super::meant;

/// The tree of a JSON text; none, with the reason in the log, when it is not JSON.
pub(super) fn parse(text: &str, log: &mut Log<'_>) -> Option<Value> {
    let mut parser = Parser { text, at: 0 };
    if text.starts_with('\u{feff}') {
        parser.at = '\u{feff}'.len_utf8();
    }
    parser
        .document()
        .map_err(|fault| match meant::slip_at(text, fault.span.start) {
            Some(slip) => log.report(slip.span, &"", format!("not JSON: {}", slip.message), slip.expected),
            None => log.report(fault.span, &"", format!("not JSON: {}", fault.message), fault.expected),
        })
        .ok()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

struct Fault {
    span: Range<usize>,
    message: String,
    expected: &'static str,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<Value, Fault> {
        let value = self.value(0)?;
        self.skip_blanks();
        if self.at < self.text.len() {
            return Err(self.unexpected("nothing more after the first value"));
        }
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        self.skip_blanks();
        let start = self.at;
        if depth > DEEPEST {
            return Err(fault(start..start, format!("nested more than {DEEPEST} levels deep"), ""));
        }
        let kind = match self.peek() {
            Some(b'{') => self.table(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Value { span: start..self.at, kind })
    }

    fn table(&mut self, depth: usize) -> Result<Kind, Fault> {
        let (mut entries, mut keys) = (Vec::new(), BTreeSet::new());
        let start = self.at;
        self.at += 1;
        self.skip_blanks();
        if self.take(b'}') {
            return Ok(Kind::Table(entries));
        }
        loop {
            self.skip_blanks();
            let key_start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self
                    .unclosed(start, "a key in double quotes (JSON has no comma before a closing bracket)"));
            }
            let key = self.string()?;
            let key_span = key_start..self.at;
            if !keys.insert(key.clone()) {
                return Err(fault(key_span, "the key stands here a second time", "every key once"));
            }
            self.skip_blanks();
            if !self.take(b':') {
                return Err(self.unclosed(start, "`:` after the key"));
            }
            let value = self.value(depth + 1)?;
            entries.push(Entry { key, key_span, value });
            self.skip_blanks();
            if self.take(b'}') {
                return Ok(Kind::Table(entries));
            }
            if !self.take(b',') {
                return Err(self.unclosed(start, "`,` or `}` after the value"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, Fault> {
        let mut values = Vec::new();
        let start = self.at;
        self.at += 1;
        self.skip_blanks();
        if self.take(b']') {
            return Ok(Kind::Array(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_blanks();
            if self.take(b']') {
                return Ok(Kind::Array(values));
            }
            if !self.take(b',') {
                return Err(self.unclosed(start, "`,` or `]` after the value"));
            }
        }
    }

    /// `true`, `false`, `null`; anything else is not JSON.
    fn word(&mut self) -> Result<Kind, Fault> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let kind = match &rest[..length] {
            "true" => Kind::Boolean(true),
            "false" => Kind::Boolean(false),
            "null" => Kind::Other("null"),
            "" => return Err(self.unexpected("a value (JSON has no comma before a closing bracket)")),
            word => {
                let span = self.at..self.at + length;
                let shown: String = word.chars().take(30).collect();
                return Err(fault(
                    span,
                    format!("`{shown}` is not a value"),
                    "a value; JSON has no NaN or Infinity",
                ));
            }
        };
        self.at += length;
        Ok(kind)
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        self.take(b'-');
        let whole = self.at;
        self.digits()?;
        if self.at - whole > 1 && self.text.as_bytes()[whole] == b'0' {
            return Err(fault(start..self.at, "a number with a leading zero", "the number without it"));
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(number(&self.text[start..self.at]))
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut string = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            string.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                None => return Err(fault(start..start + 1, "the string does not end", "a closing `\"`")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(control) => {
                    let message = format!("a control character (U+{control:04X}) in a string");
                    return Err(fault(self.at..self.at + 1, message, "an escape such as \\n or \\u0009"));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 2;
        Ok(match self.text.as_bytes().get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.code_unit(start)?;
                let mut units = vec![first];
                if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    units.push(self.code_unit(start)?);
                }
                match char::decode_utf16(units).next() {
                    Some(Ok(character)) => character,
                    _ => return Err(fault(start..self.at, "half of a surrogate pair", "both halves")),
                }
            }
            _ => {
                let expected = r#"one of \" \\ \/ \b \f \n \r \t \uXXXX"#;
                return Err(fault(start..start + 1, "no such escape", expected));
            }
        })
    }

    fn code_unit(&mut self, start: usize) -> Result<u16, Fault> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.at += 4;
        unit.ok_or_else(|| {
            fault(start..start + 2, "an incomplete escape", "four hexadecimal digits after \\u")
        })
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// At the end of the text the opening bracket is the place to look at.
    fn unclosed(&self, start: usize, expected: &'static str) -> Fault {
        if self.at < self.text.len() {
            return self.unexpected(expected);
        }
        fault(start..start + 1, "the text ends before this bracket is closed", expected)
    }

    fn unexpected(&self, expected: &'static str) -> Fault {
        match self.text[self.at..].chars().next() {
            None => fault(self.at..self.at, "the text ends here", expected),
            Some('/' | '#') => fault(self.at..self.at + 1, "JSON has no comments", expected),
            Some(c) => fault(self.at..self.at + c.len_utf8(), format!("unexpected {c:?}"), expected),
        }
    }
}

fn fault(span: Range<usize>, message: impl Into<String>, expected: &'static str) -> Fault {
    Fault { span, message: message.into(), expected }
}
