//! Expressions over named numbers, as a sweep has them: `2 * speed * cos(angle) + body.ball.mass`.
//!
//! ```text
//! sum     = product { (+ | -) product }
//! product = factor { (* | /) factor }
//! factor  = (+ | -) factor | power
//! power   = atom [ ^ factor ]
//! atom    = number | name | function ( sum [, sum] ) | ( sum )
//! ```
//!
//! A name is one of the numbers that are varied: letters, digits, `_`, dots, and indices in brackets. `pi` is π. Functions come from `libm`, so
//! that the bits agree from machine to machine.

use core::f64::consts::PI;

/// An expression, in the order in which a stack machine takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Number(f64),
    /// One of the named numbers.
    Name(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Call(Function),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sqrt,
    Exp,
    Log,
    Abs,
    Floor,
    Min,
    Max,
}

impl Function {
    const ALL: [(&'static str, Self, usize); 14] = [
        ("sin", Self::Sin, 1),
        ("cos", Self::Cos, 1),
        ("tan", Self::Tan, 1),
        ("asin", Self::Asin, 1),
        ("acos", Self::Acos, 1),
        ("atan", Self::Atan, 1),
        ("atan2", Self::Atan2, 2),
        ("sqrt", Self::Sqrt, 1),
        ("exp", Self::Exp, 1),
        ("log", Self::Log, 1),
        ("abs", Self::Abs, 1),
        ("floor", Self::Floor, 1),
        ("min", Self::Min, 2),
        ("max", Self::Max, 2),
    ];

    /// How many numbers it takes.
    fn arity(self) -> usize {
        Self::ALL.into_iter().find(|(_, function, _)| *function == self).map_or(1, |(.., arity)| arity)
    }

    fn of(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
            Self::Tan => libm::tan(x),
            Self::Asin => libm::asin(x),
            Self::Acos => libm::acos(x),
            Self::Atan => libm::atan(x),
            Self::Atan2 => libm::atan2(x, y),
            Self::Sqrt => libm::sqrt(x),
            Self::Exp => libm::exp(x),
            Self::Log => libm::log(x),
            Self::Abs => x.abs(),
            Self::Floor => libm::floor(x),
            Self::Min => x.min(y),
            Self::Max => x.max(y),
        }
    }
}

/// Deeper brackets are refused.
const DEEPEST: usize = 50;

impl Expression {
    /// Reads an expression over names, each that of the number at a place in a list.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str, names: &[(&str, usize)]) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0, names, steps: Vec::new(), depth: 0 };
        parser.sum()?;
        match parser.peek() {
            None => Ok(Self { steps: parser.steps }),
            Some(_) => Err(parser.unexpected("an operator, or the end")),
        }
    }

    /// Its value; not a number where a function is asked outside its range.
    #[must_use]
    pub fn value(&self, numbers: &[f64]) -> f64 {
        let mut stack: Vec<f64> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let mut pop = || stack.pop().unwrap_or(f64::NAN);
            let value = match *step {
                Step::Number(number) => number,
                Step::Name(k) => numbers.get(k).copied().unwrap_or(f64::NAN),
                Step::Negate => -pop(),
                Step::Call(function) if function.arity() == 1 => function.of(pop(), 0.0),
                two => {
                    let (y, x) = (pop(), pop());
                    match two {
                        Step::Add => x + y,
                        Step::Subtract => x - y,
                        Step::Multiply => x * y,
                        Step::Divide => x / y,
                        Step::Power => libm::pow(x, y),
                        Step::Call(function) => function.of(x, y),
                        Step::Number(_) | Step::Name(_) | Step::Negate => f64::NAN,
                    }
                }
            };
            stack.push(value);
        }
        stack.pop().unwrap_or(f64::NAN)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: &'a [(&'a str, usize)],
    steps: Vec<Step>,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        if found {
            self.at += character.len_utf8();
        }
        found
    }

    fn unexpected(&mut self, expected: &str) -> String {
        match self.peek() {
            None => format!("`{}` ends where {expected} should be", self.text),
            Some(found) => {
                format!(
                    "`{}` has `{found}` at character {} where {expected} should be",
                    self.text,
                    self.at + 1
                )
            }
        }
    }

    fn sum(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("is nested more than {DEEPEST} levels deep"));
        }
        self.product()?;
        loop {
            let step = match self.peek() {
                Some('+') => Step::Add,
                Some('-') => Step::Subtract,
                _ => break,
            };
            self.at += 1;
            self.product()?;
            self.steps.push(step);
        }
        self.depth -= 1;
        Ok(())
    }

    fn product(&mut self) -> Result<(), String> {
        self.factor()?;
        loop {
            let step = match self.peek() {
                Some('*') => Step::Multiply,
                Some('/') => Step::Divide,
                _ => return Ok(()),
            };
            self.at += 1;
            self.factor()?;
            self.steps.push(step);
        }
    }

    fn factor(&mut self) -> Result<(), String> {
        let mut negative = false;
        loop {
            if self.take('-') {
                negative = !negative;
            } else if !self.take('+') {
                break;
            }
        }
        self.power()?;
        if negative {
            self.steps.push(Step::Negate);
        }
        Ok(())
    }

    fn power(&mut self) -> Result<(), String> {
        self.atom()?;
        if self.take('^') {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(format!("is nested more than {DEEPEST} levels deep"));
            }
            self.factor()?;
            self.depth -= 1;
            self.steps.push(Step::Power);
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), String> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.sum()?;
                self.close()
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        if self.take(')') { Ok(()) } else { Err(self.unexpected("`)`")) }
    }

    fn number(&mut self) -> Result<(), String> {
        let rest = &self.text.as_bytes()[self.at..];
        let digit = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
        let mut end = 0;
        while digit(end) || rest.get(end) == Some(&b'.') {
            end += 1;
        }
        // An exponent, if it is one.
        if matches!(rest.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
            if digit(end + 1 + sign) {
                end += 1 + sign;
                while digit(end) {
                    end += 1;
                }
            }
        }
        let word = &self.text[self.at..self.at + end];
        let number: f64 = word.parse().map_err(|_| format!("`{word}` is not a number"))?;
        self.at += end;
        self.steps.push(Step::Number(number));
        Ok(())
    }

    fn name(&mut self) -> Result<(), String> {
        let rest = &self.text[self.at..];
        // The longest of the known names that stands here whole: they may hold any characters.
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[');
        let whole = |name: &str| rest.strip_prefix(name).is_some_and(|after| !after.starts_with(part));
        let known = self.names.iter().filter(|(name, _)| whole(name)).max_by_key(|(name, _)| name.len());
        if let Some((name, place)) = known {
            self.at += name.len();
            self.steps.push(Step::Name(*place));
            return Ok(());
        }
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']')))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        if word == "pi" {
            self.at += end;
            self.steps.push(Step::Number(PI));
            return Ok(());
        }
        let Some((_, function, arity)) = Function::ALL.into_iter().find(|(name, ..)| *name == word) else {
            return Err(format!("`{word}` is neither one of the numbers varied above nor a function"));
        };
        self.at += end;
        if !self.take('(') {
            return Err(self.unexpected("`(`"));
        }
        for k in 0..arity {
            if k > 0 && !self.take(',') {
                return Err(self.unexpected("`,`"));
            }
            self.sum()?;
        }
        self.close()?;
        self.steps.push(Step::Call(function));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Expression;

    #[test]
    fn expressions_have_their_values() {
        let names = [("v", 0), ("body.ball.velocity[0]", 1), ("body.ball.velocity", 2)];
        let numbers = [2.0, 3.0, 5.0];
        for (text, value) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("2 - 3 - 4", -5.0),
            ("12 / 3 / 2", 2.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("2 ^ -1", 0.5),
            ("--v", 2.0),
            ("body.ball.velocity[0] * v - body.ball.velocity", 1.0),
            ("sqrt(v + 2)", 2.0),
            ("max(v, 3) + min(v, 3)", 5.0),
            ("atan2(0, -1) - pi", 0.0),
            ("1.5e1 + .5", 15.5),
            ("abs(-v)", 2.0),
        ] {
            let found = Expression::parse(text, &names).unwrap().value(&numbers);
            assert!((found - value).abs() < 1e-15, "{text} = {found}");
        }
        assert!(Expression::parse("sqrt(-1)", &names).unwrap().value(&numbers).is_nan());
    }

    #[test]
    fn what_is_no_expression_is_told() {
        for (text, told) in [
            ("", "ends where"),
            ("1 +", "ends where"),
            ("1 2", "has `2` at character 3"),
            ("speed", "`speed` is neither"),
            ("sin v", "has `v`"),
            ("sin(v", "`)`"),
            ("min(v)", "`,`"),
            ("1..2", "`1..2` is not a number"),
            ("v[", "`v[` is neither"),
        ] {
            let error = Expression::parse(text, &[("v", 0)]).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
        assert!(Expression::parse(&"(".repeat(1000), &[]).unwrap_err().contains("nested"));
        assert!(Expression::parse(&"2^".repeat(1000), &[]).is_err());
    }
}
