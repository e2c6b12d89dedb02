//! What is done to the kernels' LLVM assembly between the compilers.
//!
//! **Inlining.** The steps of a search are inlined into their kernel, so that what is known of the bodies there (their kind, that none has flats)
//! removes what is never needed, and numbers stay in registers. Exponentials and logarithms, which are called from many places, stay
//! functions: the cache of instructions is small.
//!
//! **Copies.** LLVM turns a copy of more than 128 bytes into a loop over single bytes on this target. They are written out as words, where
//! the alignment is known; some kernels take half the time for it.

use std::fmt::Write as _;

/// Functions that are never inlined, by parts of their mangled names.
const APART: [&str; 5] =
    ["4math3exp3exp", "4math3log3log", "4math3pow3pow", "4math5expm15expm1", "4math5log1p5log1p"];

/// Functions of the kernels that the compiler may do with what it likes: long ones, called from few places.
const FREE: [&str; 7] =
    ["4core", "6Flight2at", "8Circling3new", "8examined", "5Setup4beam", "6Random6normal", "7way_out"];

/// Sets what is to be inlined: all of the kernels' own functions where `all`.
pub fn inlined(text: &str, all: bool) -> String {
    let mut out = String::with_capacity(text.len() + 4096);
    for line in text.lines() {
        let name = line.strip_prefix("define ").and_then(|rest| rest.split('@').nth(1)).map(|rest| {
            let rest = rest.trim_start_matches('"');
            rest.split(['(', '"']).next().unwrap_or("")
        });
        let word = match name {
            Some(name) if APART.iter().any(|part| name.contains(part)) => Some("noinline"),
            Some(name)
                if all
                    && name.contains("carom_kernels")
                    && !FREE.iter().any(|part| name.contains(part))
                    && !line.starts_with("define ptx_kernel") =>
            {
                Some("alwaysinline")
            }
            _ => None,
        };
        match (word, line.split_once("unnamed_addr ")) {
            (Some(word), Some((head, tail))) => {
                let _ = writeln!(out, "{head}unnamed_addr {word} {tail}");
            }
            _ => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

/// Writes copies and fillings of known length and alignment out as words.
pub fn copied(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut count = 0;
    for line in text.lines() {
        if !(copy(line, &mut count, &mut out) || zero(line, &mut count, &mut out)) {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// The arguments of a call of an intrinsic function.
fn arguments<'a>(line: &'a str, function: &str) -> Option<Vec<&'a str>> {
    let (head, rest) = line.split_once(function)?;
    let call = head.trim();
    if call != "call void" && call != "tail call void" {
        return None;
    }
    Some(rest.strip_prefix('(')?.split_once(", i1 false)")?.0.split(", ").collect())
}

/// A pointer, and its alignment up to a word.
fn pointer(argument: &str) -> Option<(&str, usize)> {
    let rest = argument.strip_prefix("ptr ")?;
    let name = rest.split(' ').next_back()?;
    let align = rest.split_once("align ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    Some((name, align.unwrap_or(1).min(8)))
}

fn length(argument: &str) -> Option<usize> {
    argument.strip_prefix("i64 ")?.parse().ok()
}

/// Pieces of a length, each with its place and its width.
fn pieces(length: usize, align: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let mut width = align;
        while width > length - at {
            width /= 2;
        }
        (width > 0).then(|| {
            at += width;
            (at - width, width)
        })
    })
}

fn copy(line: &str, count: &mut usize, out: &mut String) -> bool {
    let Some(arguments) = arguments(line, " @llvm.memcpy.p0.p0.i64") else { return false };
    let [to, from, bytes] = arguments[..] else { return false };
    let (Some((to, a)), Some((from, b)), Some(bytes)) = (pointer(to), pointer(from), length(bytes)) else {
        return false;
    };
    let align = a.min(b);
    if align == 1 {
        return false;
    }
    for (at, width) in pieces(bytes, align) {
        *count += 1;
        let (name, bits) = (format!("%copied{count}"), 8 * width);
        let _ = writeln!(out, "  {name}.from = getelementptr inbounds i8, ptr {from}, i64 {at}");
        let _ = writeln!(out, "  {name}.to = getelementptr inbounds i8, ptr {to}, i64 {at}");
        let _ = writeln!(out, "  {name} = load i{bits}, ptr {name}.from, align {width}");
        let _ = writeln!(out, "  store i{bits} {name}, ptr {name}.to, align {width}");
    }
    true
}

fn zero(line: &str, count: &mut usize, out: &mut String) -> bool {
    let Some(arguments) = arguments(line, " @llvm.memset.p0.i64") else { return false };
    let [to, "i8 0", bytes] = arguments[..] else { return false };
    let (Some((to, align)), Some(bytes)) = (pointer(to), length(bytes)) else { return false };
    for (at, width) in pieces(bytes, align) {
        *count += 1;
        let name = format!("%filled{count}");
        let _ = writeln!(out, "  {name} = getelementptr inbounds i8, ptr {to}, i64 {at}");
        let _ = writeln!(out, "  store i{} 0, ptr {name}, align {width}", 8 * width);
    }
    true
}

/// Limits the registers of a thread in every kernel, so that more threads fit.
pub fn limited(ptx: &str, registers: u32) -> String {
    let mut out = String::with_capacity(ptx.len() + 1024);
    let mut entry = false;
    for line in ptx.lines() {
        entry |= line.starts_with(".visible .entry");
        if entry && line.trim_start().starts_with('{') {
            let _ = writeln!(out, ".maxnreg {registers}");
            entry = false;
        }
        // Comments are a quarter of the text.
        let code = line.split("//").next().unwrap_or("").trim_end();
        if !code.is_empty() {
            let _ = writeln!(out, "{code}");
        }
    }
    out
}
