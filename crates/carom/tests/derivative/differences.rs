//! Random runs under every law: central differences of the engine agree with forward derivatives to their own error.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::count::cases;
use crate::replay::Replay;

/// The kind of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    Smooth,
    Rough,
    Coulomb,
}

/// A scene of two bodies in a corner of planes, as numbers.
#[derive(Debug, Clone)]
pub struct Numbers {
    surface: Surface,
    law: &'static str,
    termination: &'static str,
    balls: bool,
    exponent: Option<f64>,
    values: Vec<(String, Vec<f64>)>,
}

const LAWS: [&str; 6] = ["newton_lcp", "newton", "poisson", "sequential", "reflection", "decoupled"];

/// A number's place in a list of so many.
fn place(number: u64, count: usize) -> usize {
    usize::try_from(number).unwrap() % count
}

impl Numbers {
    pub fn draw(seed: u64, surface: Surface, restitution: f64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut vector = |least: f64, most: f64, n: usize| -> Vec<f64> {
            (0..n).map(|_| random.random_range(least..most)).collect()
        };
        let mut values = vec![
            ("world.gravity".to_string(), vec![0.3, -0.2, -1.0]),
            ("plane.floor.offset".to_string(), vec![-1.1]),
            ("plane.floor.normal".to_string(), vec![0.05, 0.02, 1.0]),
            ("plane.wall.offset".to_string(), vec![-1.6]),
            ("surface.restitution".to_string(), vec![restitution]),
        ];
        let balls = seed.is_multiple_of(4);
        let exponent = (seed % 4 == 1).then_some(2.6);
        for (k, name) in ["a", "b"].into_iter().enumerate() {
            let side = [-0.8, 0.8][k];
            let mut put =
                |field: &str, numbers: Vec<f64>| values.push((format!("body.{name}.{field}"), numbers));
            let mut position = vector(-0.1, 0.1, 3);
            position[0] += side;
            put("position", position);
            put("orientation", vector(-1.0, 1.0, 4));
            let mut velocity = vector(-0.5, 0.5, 3);
            velocity[0] -= side;
            put("velocity", velocity);
            put("angular_velocity", vector(-2.0, 2.0, 3));
            put("mass", vector(0.5, 2.0, 1));
            let axes = vector(0.25, 0.6, 3);
            if balls {
                put("shape.sphere.radius", axes[..1].to_vec());
            } else if exponent.is_some() {
                put("shape.superellipsoid.semi_axes", axes);
            } else {
                put("shape.ellipsoid.semi_axes", axes);
            }
        }
        if surface == Surface::Coulomb {
            values.push(("surface.kind.coulomb".to_string(), vector(0.05, 1.0, 1)));
        }
        Self {
            surface,
            law: LAWS[place(seed / 4, LAWS.len())],
            termination: ["stronge", "poisson", "newton"][place(seed / 3, 3)],
            balls,
            exponent,
            values,
        }
    }

    fn get(&self, path: &str) -> &[f64] {
        &self.values.iter().find(|(known, _)| known == path).unwrap().1
    }

    pub fn text(&self) -> String {
        let one = |path: &str| self.get(path)[0];
        let kind = match self.surface {
            Surface::Smooth => "'smooth'".to_string(),
            Surface::Rough => "'rough'".to_string(),
            Surface::Coulomb => format!("{{ coulomb = {:?} }}", one("surface.kind.coulomb")),
        };
        let mut text = format!(
            "carom = 1\nworld = {{ gravity = {:?} }}\nsurface = {{ restitution = {:?}, kind = {kind} }}
             impact = {{ law = '{}', termination = '{}' }}\nrun = {{ until = 2.5, max_events = 5, sample = 0, rest_speed = 0 }}
             [[plane]]\nname = 'floor'\nnormal = {:?}\noffset = {:?}
             [[plane]]\nname = 'wall'\nnormal = [1, 0, 0]\noffset = {:?}\n",
            self.get("world.gravity"),
            one("surface.restitution"),
            self.law,
            self.termination,
            self.get("plane.floor.normal"),
            one("plane.floor.offset"),
            one("plane.wall.offset"),
        );
        for name in ["a", "b"] {
            let shape = if self.balls {
                format!(
                    "{{ sphere = {{ radius = {:?} }} }}",
                    one(&format!("body.{name}.shape.sphere.radius"))
                )
            } else if let Some(exponent) = self.exponent {
                let axes = self.get(&format!("body.{name}.shape.superellipsoid.semi_axes"));
                format!("{{ superellipsoid = {{ semi_axes = {axes:?}, exponent = {exponent} }} }}")
            } else {
                format!(
                    "{{ ellipsoid = {{ semi_axes = {:?} }} }}",
                    self.get(&format!("body.{name}.shape.ellipsoid.semi_axes"))
                )
            };
            text += &format!(
                "[[body]]\nname = '{name}'\nshape = {shape}\nmass = {:?}\n",
                one(&format!("body.{name}.mass"))
            );
            for field in ["position", "orientation", "velocity", "angular_velocity"] {
                text += &format!("{field} = {:?}\n", self.get(&format!("body.{name}.{field}")));
            }
        }
        text
    }

    /// The paths of all numbers.
    pub fn paths(&self) -> Vec<String> {
        self.values.iter().map(|(path, _)| path.clone()).collect()
    }

    /// The scene with one number moved, in the order of the parameters.
    fn moved(&self, at: usize, by: f64) -> Self {
        let mut moved = self.clone();
        let mut left = at;
        for (_, numbers) in &mut moved.values {
            if left < numbers.len() {
                numbers[left] += by;
                return moved;
            }
            left -= numbers.len();
        }
        moved
    }
}

/// What a run ends in: the states as numbers, and the times of its events. None if it went another way.
fn ends(text: &str, like: Option<&Replay>) -> Option<Vec<f64>> {
    let replay = Replay::of(text);
    if let Some(like) = like {
        let key = |replay: &Replay| -> Vec<_> {
            replay.memory.events.iter().map(|event| (event.kind, event.sides)).collect()
        };
        if key(&replay) != key(like) {
            return None;
        }
    }
    let mut numbers = Vec::new();
    for state in &replay.last {
        let q = state.orientation;
        numbers.extend(state.position.iter());
        numbers.extend([q.w, q.i, q.j, q.k]);
        numbers.extend(state.velocity.iter().chain(state.angular_velocity.iter()));
    }
    numbers.extend(replay.memory.events.iter().map(|event| event.time));
    Some(numbers)
}

/// The same numbers' derivatives.
fn by_forward(replay: &Replay, paths: &[&str]) -> Option<Vec<Vec<f64>>> {
    let found = replay.derivatives(paths);
    let count = replay.parameters(paths).len();
    let mut columns = vec![Vec::new(); count];
    for (state, matrix) in replay.last.iter().zip(&found.states) {
        let matrix = matrix.as_ref()?;
        let turns = carom::derivative::quaternion_rows(&state.orientation) * matrix.rows(3, 3);
        for (j, column) in columns.iter_mut().enumerate() {
            column.extend(matrix.view((0, j), (3, 1)).iter());
            column.extend(turns.column(j).iter());
            column.extend(matrix.view((6, j), (6, 1)).iter());
        }
    }
    for event in &found.events {
        let time = event.time.as_ref()?;
        columns.iter_mut().zip(time).for_each(|(column, time)| column.push(*time));
    }
    Some(columns)
}

fn check(seed: u64, surface: Surface) -> Option<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xABCD);
    let restitution = [1.0, 0.9, 0.5, 0.2, 0.2][place(seed, 5)];
    let numbers = Numbers::draw(seed, surface, restitution);
    let text = numbers.text();
    let replay = Replay::of(&text);
    if !replay.chain.undefined().is_empty() || replay.memory.events.is_empty() {
        return None;
    }
    // A run that the number of events ends stops at an event: its end moves with none of the parameters.
    let until = replay.memory.events.len() < 5;
    let names = numbers.paths();
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = by_forward(&replay, &paths).unwrap();
    let states = 13 * replay.last.len();
    let mut checked = 0;
    for _ in 0..6 {
        let j = random.random_range(0..columns.len());
        let name = &replay.parameters(&paths)[j].name;
        // An elastic impact cannot be more so.
        if restitution == 1.0 && name == "surface.restitution" {
            continue;
        }
        let difference = |h: f64| -> Option<Vec<f64>> {
            let up = ends(&numbers.moved(j, h).text(), Some(&replay))?;
            let down = ends(&numbers.moved(j, -h).text(), Some(&replay))?;
            // Quaternions of opposite signs are one.
            let mut up = up;
            let mut down = down;
            let middle = ends(&text, None)?;
            for ends in [&mut up, &mut down] {
                for body in 0..replay.last.len() {
                    let range = 13 * body + 3..13 * body + 7;
                    let dot: f64 = range.clone().map(|i| ends[i] * middle[i]).sum();
                    if dot < 0.0 {
                        range.for_each(|i| ends[i] = -ends[i]);
                    }
                }
            }
            Some(up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect())
        };
        let h = 2e-5;
        let (Some(wide), Some(near)) = (difference(2.0 * h), difference(h)) else { continue };
        let growth =
            replay.derivatives(&[]).rounding.iter().flatten().fold(1.0_f64, |most, r| most.max(r.growth));
        for (i, found) in columns[j].iter().enumerate() {
            if i < states && !until {
                continue;
            }
            let best = (4.0 * near[i] - wide[i]) / 3.0;
            let error = 0.3 * (near[i] - wide[i]).abs() + 4e-16 * growth / h;
            let allowed = error + 1e-8 * best.abs().max(1.0);
            assert!(
                (found - best).abs() <= allowed,
                "seed {seed} {surface:?} {name} [{i}]: {found} against {best} ± {allowed:e}\n{text}"
            );
        }
        checked += 1;
    }
    Some(checked)
}

#[test]
fn differences_of_the_engine_agree() {
    let count: u64 = cases("CAROM_DERIVATIVES", 60);
    let (mut runs, mut checked) = (0, 0);
    for seed in 0..count {
        let surface = [Surface::Smooth, Surface::Rough, Surface::Coulomb, Surface::Coulomb][place(seed, 4)];
        // Bodies and surfaces in all combinations.
        if let Some(more) = check(seed * 7 + seed / 4, surface) {
            runs += 1;
            checked += more;
        }
    }
    println!("{runs} runs, {checked} columns");
    assert!(runs * 2 > count && checked as u64 > 2 * count, "{runs} {checked}");
}
