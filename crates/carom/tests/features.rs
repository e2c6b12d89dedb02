//! Bodies with flats, edges and corners on planes, against closed forms.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use carom::record::Memory;
use carom::simulation::Simulation;
use running::{run, scene};

fn show(name: &str, simulation: &Simulation, memory: &Memory) {
    println!("== {name}: {:?} {:?} at {} failure {:?}", simulation.stopped(), simulation.counts(), simulation.time(), simulation.failure());
    let most = std::env::var("MOST").map_or(40, |m| m.parse().unwrap());
    for e in memory.events.iter().take(most) {
        println!("{} {:.17} {:?} {:?} app {:e} sep {:e} p {:e} at {:?}", e.number, e.time, e.kind, e.class, e.approach, e.separation, e.impulse, e.point.as_slice());
    }
    println!("stepped {:?}", simulation.stepped());
    for s in simulation.states() { println!("{:?} v {:?} w {:?} q {:?}", s.position.as_slice(), s.velocity.as_slice(), s.angular_velocity.as_slice(), s.orientation.coords.as_slice()); }
    let a = simulation.audit();
    println!("gap event {} overlap {:?}", a.gap_min_event, a.overlap_max);
    println!("audit energy {:e} gap {:e} work {:?} points {:?} unil {:?} rest {:?}", a.energy_error_max.value, a.gap_min, a.work_error_max.value, a.points_error_max.value, a.unilateral_error_max.value, a.rest);
}

fn box_scene(extra: &str, body: &str, run: &str) -> String {
    format!("carom = 1\n[world]\ngravity = [0, 0, -10]\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[surface]\n{extra}\n[[body]]\nname = \"box\"\nshape = {{ box = {{ half_extents = [0.5, 0.3, 0.2] }} }}\nmass = 2\n{body}\n[run]\n{run}\n")
}

#[test]
fn explore() {
    for (name, text) in [
        ("flat elastic", box_scene("restitution = 1", "position = [0,0,1.45]", "until = 2")),
        ("flat half", box_scene("restitution = 0.5", "position = [0,0,1.45]", "until = 3")),
        ("flat plastic", box_scene("restitution = 0", "position = [0,0,1.45]", "until = 3")),
        ("edge elastic", box_scene("restitution = 1", "position = [0,0,1.45]\norientation = { bryan = [0.3,0,0] }", "until = 1")),
        ("corner elastic", box_scene("restitution = 1", "position = [0,0,1.45]\norientation = { bryan = [0.3,0.2,0] }", "until = 1")),
        ("corner half", box_scene("restitution = 0.5", "position = [0,0,1.45]\norientation = { bryan = [0.3,0.2,0] }", "until = 5")),
        ("rests", box_scene("restitution = 0.5", "position = [0,0,0.2]", "until = 3")),
        ("slides", box_scene("kind = { coulomb = 0.3 }\nrestitution = 0.5", "position = [0,0,0.2]\nvelocity=[1,0.5,0]", "until = 3")),
        ("tumbles", box_scene("kind = { coulomb = 0.3 }\nrestitution = 0.5", "position = [0,0,1.2]\nvelocity=[1,0.5,0]\nangular_velocity=[3,4,5]", "until = 5")),
    ] {
        let start = std::time::Instant::now();
        let (simulation, memory) = run(&scene(&text));
        show(name, &simulation, &memory);
        println!("took {:?}", start.elapsed());
    }
}

fn on_incline(shape: &str, surface: &str, angle: f64, height: f64, rest: &str, until: f64) -> String {
    let (s, c) = angle.sin_cos();
    format!("carom = 1\n[world]\ngravity = [{:?}, 0, {:?}]\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[surface]\n{surface}\n[[body]]\nname = \"box\"\nshape = {shape}\nmass = 2\nposition=[0,0,{height}]\n{rest}\n[run]\nuntil = {until}\n", 10.0*s, -10.0*c)
}

#[test]
fn explore2() {
    let cyl = "{ cylinder = { radius = 0.5, half_length = 1 } }";
    let side = "orientation = { bryan = [1.5707963267948966, 0, 0] }";
    for (name, text) in [
        ("cylinder rolls rough", on_incline(cyl, "kind=\"rough\"\nrestitution=0", 0.2, 0.5, side, 2.0)),
        ("cylinder rolls coulomb", on_incline(cyl, "kind={coulomb=0.3}\nrestitution=0", 0.2, 0.5, side, 2.0)),
        ("cylinder slides coulomb", on_incline(cyl, "kind={coulomb=0.1}\nrestitution=0", 0.5, 0.5, side, 2.0)),
        ("cylinder stands", on_incline(cyl, "kind={coulomb=0.3}\nrestitution=0", 0.1, 1.0, "", 1.0)),
        ("cylinder tips", on_incline(cyl, "kind={coulomb=0.9}\nrestitution=0", 0.6, 1.0, "", 0.3)),
        ("box slides down", on_incline("{ box = { half_extents = [0.5,0.5,0.1] } }", "kind={coulomb=0.3}\nrestitution=0", 0.4, 0.1, "", 1.0)),
        ("box tips", on_incline("{ box = { half_extents = [0.1,0.5,0.5] } }", "kind={coulomb=0.9}\nrestitution=0", 0.4, 0.5, "", 1.0)),
        ("capsule", on_incline("{ capsule = { half_length = 1, radius = 0.1 } }", "restitution=1", 0.0, 2.0, "orientation = { bryan = [0.7, 0, 0] }", 2.0)),
        ("cone on side", on_incline("{ cone = { radius = 0.5, height = 1 } }", "kind={coulomb=0.9}\nrestitution=0", 0.0, 1.0, "orientation = { bryan = [1, 0, 0] }\nangular_velocity=[0,0,1]", 2.0)),
        ("disc", on_incline("{ disc = { radius = 0.5, rounding = 0.01 } }", "kind=\"rough\"\nrestitution=0", 0.0, 0.51, "orientation = { bryan = [1.5707963267948966, 0, 0] }\nvelocity=[1,0,0]\nangular_velocity=[0,2,0.1]", 2.0)),
    ] {
        let start = std::time::Instant::now();
        let (simulation, memory) = run(&scene(&text));
        show(name, &simulation, &memory);
        println!("took {:?}", start.elapsed());
    }
}

#[test]
fn explore3() {
    let table = "[[body]]\nname = \"table\"\nshape = { box = { half_extents = [1, 1, 0.5] } }\nmass = 1\nposition = [0, 0, -0.5]\nfixed = true\n";
    let book = |rest: &str| format!("[[body]]\nname = \"book\"\nshape = {{ box = {{ half_extents = [0.2, 0.15, 0.05] }} }}\nmass = 1\n{rest}\n");
    let head = |s: &str| format!("carom = 1\n[world]\ngravity = [0, 0, -10]\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\noffset = -1\n[surface]\n{s}\n");
    let tail = |t: f64| format!("[run]\nuntil = {t}\n");
    let mut dominoes = head("kind = { coulomb = 0.3 }\nrestitution = 0.2");
    for k in 0..3 {
        let x = 0.4 * f64::from(k);
        let push = if k == 0 { "angular_velocity = [0, 1.5, 0]" } else { "" };
        dominoes += &format!("[[body]]\nname = \"d{k}\"\nshape = {{ box = {{ half_extents = [0.05, 0.2, 0.5] }} }}\nmass = 1\nposition = [{x}, 0, -0.5]\n{push}\n");
    }
    dominoes += &tail(2.0);
    for (name, text) in [
        ("drops on table", head("restitution = 0.5") + table + &book("position = [0,0,0.3]\norientation = { bryan = [0,0,0.3] }") + &tail(1.0)),
        ("drops smooth plastic", head("restitution = 0") + table + &book("position = [0,0,0.3]\norientation = { bryan = [0.1,0.2,0.3] }") + &tail(2.0)),
        ("rests", head("kind = { coulomb = 0.3 }\nrestitution = 0") + table + &book("position = [0,0,0.05]\norientation = { bryan = [0,0,0.3] }") + &tail(1.0)),
        ("slides off", head("kind = { coulomb = 0.2 }\nrestitution = 0") + table + &book("position = [0.7,0,0.05]\nvelocity = [2, 0, 0]\norientation = { bryan = [0,0,0.3] }") + &tail(1.5)),
        ("dominoes", dominoes),
    ] {
        let start = std::time::Instant::now();
        let (simulation, memory) = run(&scene(&text));
        show(name, &simulation, &memory);
        println!("took {:?}", start.elapsed());
    }
}
