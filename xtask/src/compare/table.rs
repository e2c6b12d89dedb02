//! The tables of the book's chapter, made of the results.
//!
//! The cost is the seconds that a simulated second takes. A table stands between `<!-- table NAME -->` and `<!-- end -->`. Errors are those of [`measure`], order the fall of the error over
//! the last two steps, log(e₁/e₂) / log(h₁/h₂). An engine measured on another day than carom has its date beside its name.

use super::measure::{self, Errors};
use super::scene::Request;
use super::{Answer, Engine, Failure, Results, Run};

const END: &str = "<!-- end -->";

/// What separates an answer of the cradle from none of the laws.
const SAME_ANSWER: f64 = 1e-3;

/// The chapter with its tables as the results have them.
pub fn fill(chapter: &str, requests: &[Request], results: &Results) -> Result<String, Failure> {
    let mut filled = String::new();
    let mut rest = chapter;
    while let Some((before, after)) = rest.split_once("<!-- table ") {
        let (name, after) = after.split_once(" -->").ok_or("a table's mark has no end")?;
        let (_, after) = after.split_once(END).ok_or_else(|| format!("the table {name} has no {END}"))?;
        let rows = match name {
            "engines" => engines(results),
            "summary" => summary(requests, results)?,
            "cannot" => cannot(requests, results),
            probe => {
                let request = requests.iter().find(|request| request.probe == probe);
                let request = request.ok_or_else(|| format!("there is no table {name}"))?;
                if probe == "cradle" { cradle(request, results)? } else { ladder(request, results)? }
            }
        };
        filled += &format!("{before}<!-- table {name} -->\n\n{}\n\n{END}", rows.join("\n"));
        rest = after;
    }
    Ok(filled + rest)
}

/// Who answered, when, where and how.
fn engines(results: &Results) -> Vec<String> {
    let mut rows = head(&["engine", "version", "measured", "settings"], 3);
    let all = results.engines.iter().chain([&results.exact]);
    rows.extend(all.map(|engine| row(&[&engine.engine, &engine.version, &engine.date, &engine.settings])));
    let mut machines: Vec<&str> = results.engines.iter().map(|engine| engine.machine.as_str()).collect();
    machines.dedup();
    rows.extend([String::new(), format!("Machine: {}.", machines.join("; "))]);
    rows
}

/// The error of the motion at every engine's finest step.
fn summary(requests: &[Request], results: &Results) -> Result<Vec<String>, Failure> {
    let requests: Vec<&Request> = requests.iter().filter(|request| request.probe != "cradle").collect();
    let names: Vec<&str> =
        ["engine"].into_iter().chain(requests.iter().map(|request| request.probe.as_str())).collect();
    let mut rows = head(&names, 1);
    for engine in &results.engines {
        let mut cells = vec![label(engine, results)];
        for request in &requests {
            cells.push(match answer(engine, request)?.runs.last() {
                Some(run) => number(errors(request, results, run)?.motion),
                None => "cannot be asked".to_string(),
            });
        }
        rows.push(row(&cells));
    }
    Ok(rows)
}

/// Why an engine cannot be asked for a probe.
fn cannot(requests: &[Request], results: &Results) -> Vec<String> {
    let mut rows = Vec::new();
    for request in requests {
        for engine in &results.engines {
            if let Some(reason) = engine.answers.get(&request.probe).and_then(|answer| answer.cannot.as_ref())
            {
                rows.push(format!("- {}, {}: {reason}.", request.probe, engine.engine));
            }
        }
    }
    rows
}

/// The error of the motion at every step, its order, and what else is measured, at the finest step.
fn ladder(request: &Request, results: &Results) -> Result<Vec<String>, Failure> {
    let steps: Vec<String> = request.steps.iter().map(|step| format!("{step:e}")).collect();
    let bounces = request.planes.len() == 1 && request.bodies.len() == 1;
    let others: &[&str] = match (request.contacts.is_empty(), bounces) {
        (true, _) => &["energy", "L", "attitude"],
        (false, true) => &["time", "energy"],
        (false, false) => &["energy"],
    };
    let mut names = vec!["engine"];
    names.extend(steps.iter().map(String::as_str));
    names.push("order");
    names.extend(others);
    names.push("cost");
    let mut rows = head(&names, 1);
    let mut chosen = Vec::new();
    for engine in &results.engines {
        let answer = answer(engine, request)?;
        let Some(last) = answer.runs.last() else { continue };
        let motion = |run: &Run| errors(request, results, run).map(|errors| errors.motion);
        let found: Vec<f64> = answer.runs.iter().map(motion).collect::<Result<_, _>>()?;
        let mut cells = vec![label(engine, results)];
        if last.step.is_none() && last.accuracy.is_none() {
            cells.extend(request.steps.iter().skip(1).map(|_| String::new()));
        }
        cells.extend(found.iter().map(|&error| number(error)));
        cells.push(order(&answer.runs, &found));
        let errors = errors(request, results, last)?;
        for other in others {
            cells.push(number(match *other {
                "energy" => errors.energy,
                "L" => errors.spin,
                "attitude" => errors.attitude,
                _ => time_error(request, results, last)?,
            }));
        }
        cells.push(number(last.wall_s / request.until));
        rows.push(row(&cells));
        if found.len() > 1 && !last.choice.is_empty() {
            chosen.push(format!("{}: {}", engine.engine, last.choice));
        }
    }
    if !chosen.is_empty() {
        rows.extend([String::new(), format!("Chosen at the finest step: {}.", chosen.join("; "))]);
    }
    Ok(rows)
}

/// The speeds after the cradle's impact, and whose answer they are.
fn cradle(request: &Request, results: &Results) -> Result<Vec<String>, Failure> {
    let mut names = vec!["engine"];
    names.extend(request.bodies.iter().map(|body| body.name.as_str()));
    names.extend(["answer", "energy", "momentum", "cost"]);
    let mut rows = head(&names, 1);
    let exact = answer(&results.exact, request)?;
    for engine in &results.engines {
        let answer = answer(engine, request)?;
        // carom's runs are its laws, those of others a ladder.
        let shown = if answer.runs.iter().any(|run| run.step.is_some() || run.accuracy.is_some()) {
            &answer.runs[answer.runs.len() - 1..]
        } else {
            &answer.runs[..]
        };
        for run in shown {
            let mut cells = vec![label(engine, results)];
            for body in &request.bodies {
                let state = run.r#final.get(&body.name).ok_or("an answer lacks a ball")?;
                cells.push(fixed(state.velocity[0], 4));
            }
            let measured = exact.runs.iter().map(|exact| super::errors(request, exact, run));
            let measured: Vec<Errors> = measured.collect::<Result<_, _>>()?;
            let same = measured.iter().position(|errors| errors.motion < SAME_ANSWER);
            cells.push(same.map_or("neither", |number| exact.runs[number].choice.as_str()).to_string());
            cells.push(number(measured[0].energy));
            cells.push(number(measured[0].momentum));
            cells.push(number(run.wall_s / request.until));
            rows.push(row(&cells));
        }
    }
    Ok(rows)
}

/// The order in which the error falls, where it does.
fn order(runs: &[Run], errors: &[f64]) -> String {
    let [.., (coarse, before), (fine, after)] = &runs.iter().zip(errors).collect::<Vec<_>>()[..] else {
        return String::new();
    };
    let (Some(coarse), Some(fine)) = (coarse.step, fine.step) else { return "–".to_string() };
    // At rounding there is nothing left to fall.
    if **after < 1e-12 {
        return "–".to_string();
    }
    fixed((*before / *after).log10() / (coarse / fine).log10(), 1)
}

/// How far a run is from the exact answer, or from the nearest of two.
fn errors(request: &Request, results: &Results, run: &Run) -> Result<Errors, Failure> {
    let exact = answer(&results.exact, request)?;
    let measured = exact.runs.iter().map(|exact| super::errors(request, exact, run));
    let measured: Vec<Errors> = measured.collect::<Result<_, _>>()?;
    let nearest = measured.into_iter().min_by(|a, b| a.motion.total_cmp(&b.motion));
    nearest.ok_or_else(|| format!("there is no exact answer to {}", request.probe))
}

fn time_error(request: &Request, results: &Results, run: &Run) -> Result<f64, Failure> {
    let exact = &answer(&results.exact, request)?.runs;
    let exact = exact.first().and_then(|run| run.impacts.first());
    let found = measure::time_of_impact(request, &run.r#final);
    match (exact, found) {
        (Some(exact), Some(found)) => Ok((found - exact).abs()),
        _ => Err(format!("{} has no one time of impact", request.probe)),
    }
}

/// An engine's name, with the date where it was measured on another day than carom.
fn label(engine: &Engine, results: &Results) -> String {
    match results.engines.first() {
        Some(first) if first.date != engine.date => format!("{} ({})", engine.engine, engine.date),
        _ => engine.engine.clone(),
    }
}

pub fn answer<'a>(engine: &'a Engine, request: &Request) -> Result<&'a Answer, Failure> {
    let answer = engine.answers.get(&request.probe);
    answer.ok_or_else(|| format!("{} has not been asked for {}", engine.engine, request.probe))
}

/// A number in two digits.
pub fn number(value: f64) -> String {
    if value == 0.0 { "0".to_string() } else { format!("{value:.1e}") }
}

/// A number with fixed decimals, and no sign if they are all zero.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|digit| matches!(digit, '0' | '.')) => rest.to_string(),
        _ => text,
    }
}

/// The names of the columns, the first few of them text and the rest numbers.
fn head(names: &[&str], texts: usize) -> Vec<String> {
    let lines: Vec<&str> =
        (0..names.len()).map(|column| if column < texts || texts > 1 { "---" } else { "---:" }).collect();
    vec![row(names), row(&lines)]
}

fn row<Cell: AsRef<str>>(cells: &[Cell]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::STEPS;
    use super::*;

    #[test]
    fn order_is_the_slope_of_the_last_two_steps() {
        let run = |step| Run {
            step: Some(step),
            accuracy: None,
            choice: String::new(),
            r#final: [].into(),
            impacts: Vec::new(),
            wall_s: 0.0,
        };
        let runs: Vec<Run> = STEPS.iter().map(|&step| run(step)).collect();
        assert_eq!(order(&runs, &[1.0, 1.0, 1e-2, 1e-4]), "2.0");
        assert_eq!(order(&runs, &[1.0, 1.0, 1e-2, 1e-13]), "–");
        assert_eq!(order(&runs[..1], &[1.0]), "");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(fixed(-1e-17, 4), "0.0000");
        assert_eq!(fixed(-0.3333, 2), "-0.33");
        assert_eq!(fixed(-0.0, 1), "0.0");
    }
}
