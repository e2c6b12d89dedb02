//! The neighbourhood picture: where near a contact the second body would enter the first, before and after.

use std::fmt::Write;

use carom::contact::neighbourhood::Patch;
use nalgebra::Vector2;

use super::Found;
use crate::words::number;

/// The side of a panel and the margin around it.
const PANEL: f64 = 320.0;
const MARGIN: f64 = 40.0;
/// Above the panels of a contact: its name and what the panels are.
const HEAD: f64 = 56.0;
/// Below them: the scale of their axes, and the legend.
const FOOT: f64 = 64.0;

/// One row of two panels for each contact: before and after. Filled is the exact outline, dashed the ellipse of
/// second order, a dot the deepest point to first order, a cross the contact point.
pub fn svg(contacts: &[Found]) -> String {
    let drawn: Vec<&Found> = contacts.iter().filter(|contact| contact.neighbourhood.is_some()).collect();
    let (width, row) = (2.0 * PANEL + 3.0 * MARGIN, HEAD + PANEL + FOOT);
    let mut rows = 0.0;
    let mut body = String::new();
    for contact in drawn {
        draw_contact(&mut body, contact, rows * row);
        rows += 1.0;
    }
    if rows == 0.0 {
        let _ = writeln!(body, "<text x=\"{MARGIN}\" y=\"{MARGIN}\">Nothing touches.</text>");
    }
    let height = (rows * row).max(2.0 * MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

fn draw_contact(out: &mut String, contact: &Found, top: f64) {
    let Some(picture) = &contact.neighbourhood else { return };
    let [first, second] = contact.bodies.each_ref().map(|name| escaped(name));
    let _ = writeln!(
        out,
        "<text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{first} and {second}: {}</text>",
        top + 22.0,
        contact.class.kind.name()
    );
    let reach = picture.patches.iter().map(extent).fold(0.0, f64::max);
    let reach = if reach > 0.0 { 1.1 * reach } else { 1.0 };
    for (column, sign, title) in [(0.0, -1.0, "before"), (1.0, 1.0, "after")] {
        let left = MARGIN + column * (PANEL + MARGIN);
        let (x0, y0) = (left + 0.5 * PANEL, top + HEAD + 0.5 * PANEL);
        let place = |e: &Vector2<f64>| (x0 + 0.5 * PANEL * e.x / reach, y0 - 0.5 * PANEL * e.y / reach);
        let mut patches: Vec<&Patch> = picture.patches.iter().filter(|p| p.time * sign > 0.0).collect();
        patches.sort_by(|a, b| b.time.abs().total_cmp(&a.time.abs()));
        let longest = patches.first().map_or(0.0, |p| p.time);
        let _ = writeln!(
            out,
            "<text x=\"{left}\" y=\"{}\">{title}, to t = {}; half-width {}</text>",
            top + 44.0,
            escaped(&number(longest)),
            escaped(&number(reach))
        );
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{}\" width=\"{PANEL}\" height=\"{PANEL}\" fill=\"none\" stroke=\"#888\"/>",
            top + HEAD
        );
        if patches.iter().all(|p| p.outline.is_empty()) {
            let _ = writeln!(
                out,
                "<text x=\"{x0}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\">nothing enters</text>",
                y0 - 20.0
            );
        }
        for patch in patches {
            draw_patch(out, patch, place, 0.5 * PANEL / reach);
        }
        let _ = writeln!(
            out,
            "<path d=\"M{} {y0}h8M{x0} {}v8\" stroke=\"black\" fill=\"none\"/>",
            x0 - 4.0,
            y0 - 4.0
        );
        draw_axes(out, left, top + HEAD, reach);
    }
    draw_legend(out, top + HEAD + PANEL + 52.0);
}

/// The ends and names of a panel's axes: places along the two tangents of the contact, in metres.
fn draw_axes(out: &mut String, left: f64, top: f64, reach: f64) {
    let (low, high) = (escaped(&number(-reach)), escaped(&number(reach)));
    let (middle, bottom) = (left + 0.5 * PANEL, top + PANEL);
    let _ = writeln!(
        out,
        "<g fill=\"#444\" font-size=\"11\"><text x=\"{left}\" y=\"{y}\">{low}</text>\
         <text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">along t₁ [m]</text>\
         <text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{high}</text>\
         <text transform=\"translate({x} {bottom}) rotate(-90)\">{low}</text>\
         <text transform=\"translate({x} {}) rotate(-90)\" text-anchor=\"middle\">along t₂ [m]</text>\
         <text transform=\"translate({x} {top}) rotate(-90)\" text-anchor=\"end\">{high}</text></g>",
        left + PANEL,
        top + 0.5 * PANEL,
        y = bottom + 15.0,
        x = left - 6.0,
    );
}

/// What the marks mean.
fn draw_legend(out: &mut String, y: f64) {
    let _ = writeln!(
        out,
        "<g font-size=\"11\">\
         <rect x=\"{MARGIN}\" y=\"{}\" width=\"16\" height=\"10\" fill=\"#c0392b\" fill-opacity=\"0.25\" stroke=\"#c0392b\"/>\
         <text x=\"{}\" y=\"{y}\">inside the other body</text>\
         <path d=\"M{} {m}h20\" stroke=\"#2c3e50\" stroke-dasharray=\"4 3\"/><text x=\"{}\" y=\"{y}\">to second order</text>\
         <circle cx=\"{}\" cy=\"{m}\" r=\"2\" fill=\"#2c3e50\"/><text x=\"{}\" y=\"{y}\">deepest point to first order</text>\
         <path d=\"M{} {m}h8M{} {}v8\" stroke=\"black\"/><text x=\"{}\" y=\"{y}\">contact point</text></g>",
        y - 9.0,
        MARGIN + 22.0,
        MARGIN + 170.0,
        MARGIN + 196.0,
        MARGIN + 310.0,
        MARGIN + 318.0,
        MARGIN + 496.0,
        MARGIN + 500.0,
        y - 8.0,
        MARGIN + 510.0,
        m = y - 4.0,
    );
}

fn draw_patch(out: &mut String, patch: &Patch, place: impl Fn(&Vector2<f64>) -> (f64, f64), zoom: f64) {
    if !patch.outline.is_empty() {
        let mut points = String::new();
        for (x, y) in patch.outline.iter().map(&place) {
            let _ = write!(points, "{x:.2},{y:.2} ");
        }
        let _ = writeln!(
            out,
            "<polygon points=\"{}\" fill=\"#c0392b\" fill-opacity=\"0.25\" stroke=\"#c0392b\"/>",
            points.trim_end()
        );
    }
    let (x, y) = place(&patch.predicted_deepest);
    if let Some([a, b]) = patch.semi_axes.filter(|axes| axes.iter().all(|axis| axis.is_finite())) {
        // The picture's y points down.
        let angle = -patch.axis.y.atan2(patch.axis.x).to_degrees();
        let _ = writeln!(
            out,
            "<ellipse cx=\"{x:.2}\" cy=\"{y:.2}\" rx=\"{:.2}\" ry=\"{:.2}\" transform=\"rotate({angle:.2} {x:.2} {y:.2})\" \
             fill=\"none\" stroke=\"#2c3e50\" stroke-dasharray=\"4 3\"/>",
            a * zoom,
            b * zoom
        );
    }
    let _ = writeln!(out, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"2\" fill=\"#2c3e50\"/>");
}

/// How far a patch reaches from the contact point.
fn extent(patch: &Patch) -> f64 {
    let ellipse = patch.semi_axes.filter(|axes| axes.iter().all(|axis| axis.is_finite()));
    let ellipse = ellipse.map_or(0.0, |axes| axes[0].max(axes[1]));
    let outline = patch.outline.iter().map(|e| e.amax()).fold(0.0, f64::max);
    outline.max(patch.predicted_deepest.amax() + ellipse)
}

/// A name as XML takes it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
