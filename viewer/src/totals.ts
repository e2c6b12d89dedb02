// Energy, momentum and angular momentum over a run, with the jumps that impacts make.
//
// The program sends them with the frames, and each event's energies and impulse. Between two frames a total changes by the jumps of
// the events there, which are known, and by what acts all the time, which is spread evenly:
//   P(t) = P₀ + Σ_{t_k < t} J_k + (P₁ − P₀ − Σ J_k) (t − t₀)/h
// An impact between free bodies changes neither total; a plane or a fixed body that is struck takes up J, and x × J about the
// origin. The potential energy does not jump: at an event it is that of gravity at the bodies' places, and the rest (springs) is
// taken as linear between the frames.

import type { Header, RunEvent, Vector } from './protocol';
import { TOTALS } from './protocol';
import type { Timeline } from './timeline';

/** Rows of numbers over time; the time comes first. An event has two rows with one time, before and after. */
export type Rows = number[][];

/** More points than this are thinned before they are drawn. */
const MOST = 6000;

/** At most so many places of bodies are looked up for the potential energy at events. */
const MOST_PLACES = 2_000_000;

interface Jump {
  time: number;
  momentum: Vector;
  spin: Vector;
  before: number;
  after: number;
}

const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** Which names take up momentum without moving. */
export function immovable(header: Header): Set<string> {
  const fixed = header.bodies.filter((body) => body.fixed).map((body) => body.name);
  return new Set([...fixed, ...header.planes.map((plane) => plane.name)]);
}

/** What an event adds to the totals of the bodies that move. */
export function jumpOf(event: RunEvent, still: ReadonlySet<string>): { momentum: Vector; spin: Vector } {
  const [first, second] = event.bodies.map((name) => still.has(name));
  const sign = first === second ? 0 : first ? 1 : -1;
  // What a contact exerts while it lasts is spread over its time already.
  const momentum = (event.kind === 'impact' ? event.impulse_vector : [0, 0, 0]).map(
    (j) => sign * j,
  ) as Vector;
  return { momentum, spin: cross(event.point, momentum) };
}

function jumps(timeline: Timeline): Jump[] {
  const still = immovable(timeline.header);
  const found: Jump[] = [];
  let number = -1;
  for (const event of timeline.events) {
    const { momentum, spin } = jumpOf(event, still);
    const last = found[found.length - 1];
    if (event.number === number && last !== undefined) {
      // Several contacts of one event: its energies are the event's, its impulses each contact's.
      last.momentum = last.momentum.map((p, k) => p + momentum[k]) as Vector;
      last.spin = last.spin.map((l, k) => l + spin[k]) as Vector;
      continue;
    }
    number = event.number;
    found.push({ time: event.time, momentum, spin, before: event.energy_before, after: event.energy_after });
  }
  return found;
}

/** The gravitational potential energy of all bodies at a time; places are put into `poses`. */
function gravity(timeline: Timeline, t: number, poses: Float64Array): number {
  const { bodies, gravity: g } = timeline.header;
  timeline.poses(t, poses);
  let sum = 0;
  for (let i = 0; i < bodies.length; i++) {
    if (bodies[i].fixed) continue;
    for (let k = 0; k < 3; k++) sum -= bodies[i].mass * g[k] * poses[7 * i + k];
  }
  return sum;
}

/** Times, then total, kinetic and potential energy, momentum, angular momentum. */
export function totals(timeline: Timeline): Rows {
  const frames = timeline.times.length;
  const stride = Math.ceil(frames / MOST);
  const all = jumps(timeline);
  const shown = all.length <= MOST ? all : [];
  const falling = timeline.header.gravity.some((g) => g !== 0);
  const placed = falling && shown.length * timeline.bodies <= MOST_PLACES;
  const poses = new Float64Array(7 * timeline.bodies);
  const at = (frame: number, column: number): number => timeline.totals.at(TOTALS * frame + column);
  const rows: Rows = [];
  let next = 0;
  let previous = -1;
  for (let frame = 0; frame < frames; frame += 1) {
    if (frame % stride !== 0 && frame !== frames - 1) continue;
    const t1 = timeline.times.at(frame);
    const here: Jump[] = [];
    while (next < shown.length && shown[next].time <= t1) here.push(shown[next++]);
    if (previous >= 0 && here.length > 0) {
      const t0 = timeline.times.at(previous);
      const part = (t: number): number => (t1 > t0 ? (t - t0) / (t1 - t0) : 1);
      const ends = [previous, frame];
      const rest = placed
        ? ends.map((end) => at(end, 1) - gravity(timeline, timeline.times.at(end), poses))
        : ends.map((end) => at(end, 1));
      const sums = new Array<number>(6).fill(0);
      const vector = ({ momentum, spin }: Jump): number[] => [...momentum, ...spin];
      for (const jump of here) vector(jump).forEach((j, k) => (sums[k] += j));
      const drift = sums.map((sum, k) => at(frame, 2 + k) - at(previous, 2 + k) - sum);
      const so = sums.map((_, k) => at(previous, 2 + k));
      for (const jump of here) {
        const s = part(jump.time);
        const potential =
          (1 - s) * rest[0] + s * rest[1] + (placed ? gravity(timeline, jump.time, poses) : 0);
        const put = (energy: number): void => {
          rows.push([
            jump.time,
            energy,
            energy - potential,
            potential,
            ...so.map((value, k) => value + s * drift[k]),
          ]);
        };
        put(jump.before);
        vector(jump).forEach((j, k) => (so[k] += j));
        put(jump.after);
      }
    }
    const [kinetic, potential] = [at(frame, 0), at(frame, 1)];
    rows.push([t1, kinetic + potential, kinetic, potential, ...[2, 3, 4, 5, 6, 7].map((k) => at(frame, k))]);
    previous = frame;
  }
  return rows;
}

/** How far a quantity strays at most, relative to a scale of its own; null where that is more than rounding can make. */
export function conserved(rows: Rows, columns: readonly number[], scale: number): number | null {
  if (rows.length < 2 || !(scale > 0)) return null;
  let far = 0;
  for (const column of columns) {
    let low = Infinity;
    let high = -Infinity;
    for (const row of rows) {
      low = Math.min(low, row[column]);
      high = Math.max(high, row[column]);
    }
    far = Math.max(far, high - low);
  }
  return far <= ROUNDING * scale ? far / scale : null;
}

// Errors of long runs are a few 1e-12; what changes by physics changes by far more.
export const ROUNDING = 1e-9;

/** Scales of energy, momentum and angular momentum: the largest energies, √(2 T M), and that times the distance from the origin. */
export function scales(timeline: Timeline, rows: Rows): { energy: number; momentum: number; spin: number } {
  let [energy, kinetic, spin] = [0, 0, 0];
  for (const row of rows) {
    energy = Math.max(energy, Math.abs(row[2]), Math.abs(row[3]));
    kinetic = Math.max(kinetic, row[2]);
    spin = Math.max(spin, Math.hypot(row[7], row[8], row[9]));
  }
  const { bodies } = timeline.header;
  const mass = bodies.reduce((sum, body) => sum + (body.fixed ? 0 : body.mass), 0);
  const momentum = Math.sqrt(2 * kinetic * mass);
  const poses = new Float64Array(7 * timeline.bodies);
  let distance = 0;
  for (const t of [timeline.start, timeline.end]) {
    timeline.poses(t, poses);
    bodies.forEach((body, i) => {
      const x = Math.hypot(poses[7 * i], poses[7 * i + 1], poses[7 * i + 2]);
      if (!body.fixed) distance = Math.max(distance, x);
    });
  }
  return { energy, momentum, spin: Math.max(spin, momentum * distance) };
}
