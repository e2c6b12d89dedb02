// A picture of a scene before it has run: bodies where they start, with their velocities, planes and box.
//
// The page reads just enough of the file for that. What it cannot read it leaves out; the program's word counts, not this.

import { parse } from 'smol-toml';
import {
  frameBytes,
  TOTALS,
  type Body,
  type Header,
  type Quaternion,
  type Shape,
  type Vector,
} from './protocol';
import { Timeline } from './timeline';

type Table = Record<string, unknown>;

const table = (value: unknown): Table =>
  typeof value === 'object' && value !== null ? (value as Table) : {};
const tables = (value: unknown): Table[] => (Array.isArray(value) ? value.map(table) : []);
const number = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

function vector(value: unknown, otherwise: Vector): Vector {
  const fits = Array.isArray(value) && value.length === 3 && value.every((v) => typeof v === 'number');
  return fits ? (value as Vector) : otherwise;
}

function shape(value: unknown): Shape {
  const given = table(value);
  const superellipsoid = table(given['superellipsoid']);
  if ('sphere' in given) {
    const r = number(table(given['sphere'])['radius'], 1);
    return { kind: 'sphere', semi_axes: [r, r, r], exponent: 2 };
  }
  if ('ellipsoid' in given) {
    return {
      kind: 'ellipsoid',
      semi_axes: vector(table(given['ellipsoid'])['semi_axes'], [1, 1, 1]),
      exponent: 2,
    };
  }
  if ('superellipsoid' in given) {
    return {
      kind: 'superellipsoid',
      semi_axes: vector(superellipsoid['semi_axes'], [1, 1, 1]),
      exponent: number(superellipsoid['exponent'], 2),
    };
  }
  return edged(given) ?? { kind: 'point', semi_axes: [0, 0, 0], exponent: 2 };
}

/** A body with flats and edges; null for a polyhedron, whose hull the program makes. */
function edged(given: Table): Shape | null {
  const of = (kind: Shape['kind'], [a, b, c]: Vector, rounding: number): Shape => ({
    kind,
    semi_axes: [a + rounding, b + rounding, c + rounding],
    exponent: 2,
    rounding,
  });
  for (const kind of ['box', 'cylinder', 'capsule', 'cone', 'disc'] as const) {
    if (!(kind in given)) continue;
    const sizes = table(given[kind]);
    const [radius, rounding] = [number(sizes['radius'], 1), number(sizes['rounding'], 0)];
    const half = number(sizes['half_length'], 1);
    if (kind === 'box') return of(kind, vector(sizes['half_extents'], [1, 1, 1]), rounding);
    if (kind === 'cylinder') return of(kind, [radius, radius, half], rounding);
    if (kind === 'capsule') return of(kind, [0, 0, half], radius);
    if (kind === 'disc') return of(kind, [radius, radius, 0], rounding);
    const height = number(sizes['height'], 1);
    return { ...of(kind, [radius, radius, height / 2], rounding), base: -height / 4 };
  }
  return null;
}

type Matrix = [Vector, Vector, Vector];

/** The unit quaternion of a rotation matrix given by its columns, the body's axes in the world. */
function fromAxes([x, y, z]: Matrix): Quaternion {
  // The largest of the four squares is divided by, so that no sign is lost (Shepperd 1978).
  const trace = x[0] + y[1] + z[2];
  const squares = [1 + trace, 1 + 2 * x[0] - trace, 1 + 2 * y[1] - trace, 1 + 2 * z[2] - trace];
  const largest = squares.indexOf(Math.max(...squares));
  const off = [y[2] - z[1], z[0] - x[2], x[1] - y[0]];
  const sums = [y[2] + z[1], z[0] + x[2], x[1] + y[0]];
  const q = [
    [squares[0], off[0], off[1], off[2]],
    [off[0], squares[1], sums[2], sums[1]],
    [off[1], sums[2], squares[2], sums[0]],
    [off[2], sums[1], sums[0], squares[3]],
  ][largest];
  const length = Math.hypot(...q);
  return q.map((v) => v / length) as Quaternion;
}

function orientation(value: unknown): Quaternion {
  if (Array.isArray(value) && value.length === 4 && value.every((v) => typeof v === 'number')) {
    const length = Math.hypot(...(value as number[])) || 1;
    return value.map((v: number) => v / length) as Quaternion;
  }
  const given = table(value);
  const axes = given['axes'];
  if (Array.isArray(axes) && axes.length === 3)
    return fromAxes(axes.map((axis) => vector(axis, [1, 0, 0])) as Matrix);
  const bryan = vector(given['bryan'], [0, 0, 0]);
  const [a, b, c] = bryan.map((angle) => [Math.cos(angle / 2), Math.sin(angle / 2)]);
  // Rx(ψ) Ry(θ) Rz(φ).
  return [
    a[0] * b[0] * c[0] - a[1] * b[1] * c[1],
    a[1] * b[0] * c[0] + a[0] * b[1] * c[1],
    a[0] * b[1] * c[0] - a[1] * b[0] * c[1],
    a[0] * b[0] * c[1] + a[1] * b[1] * c[0],
  ];
}

/** A joint as far as it is drawn: at a point, or a weld. */
export interface SketchedJoint {
  bodies: string[];
  kind: { point: Vector } | { weld: true };
}

function joint(given: Table): SketchedJoint | null {
  const kind = table(given['kind']);
  const bodies = Array.isArray(given['bodies'])
    ? given['bodies'].filter((name) => typeof name === 'string')
    : [];
  const seat = table(kind['hinge'] ?? kind['ball']);
  if (Array.isArray(seat['point'])) return { bodies, kind: { point: vector(seat['point'], [0, 0, 0]) } };
  return 'weld' in kind ? { bodies, kind: { weld: true } } : null;
}

/** The scene's tables, and its joints; null where the text is neither TOML nor JSON. */
export function parseScene(text: string): { scene: Table; joints: SketchedJoint[] } | null {
  try {
    const scene = table(text.trimStart().startsWith('{') ? JSON.parse(text) : parse(text));
    return {
      scene,
      joints: tables(scene['joint'])
        .map(joint)
        .filter((found) => found !== null),
    };
  } catch {
    return null;
  }
}

/** A timeline of the scene's first instant; null where the text says too little. */
export function sketch(text: string): Timeline | null {
  const read = parseScene(text);
  if (read === null) return null;
  const { scene } = read;
  const world = table(scene['world']);
  const given = tables(scene['body']);
  if (given.length === 0) return null;
  const bodies: Body[] = given.map((body) => ({
    name: String(body['name'] ?? ''),
    fixed: body['fixed'] === true,
    mass: 1,
    inertia: [1, 1, 1],
    shape: shape(body['shape']),
  }));
  const planes = tables(scene['plane']).map((plane) => {
    const normal = vector(plane['normal'], [0, 0, 1]);
    const length = Math.hypot(...normal) || 1;
    return {
      name: '',
      normal: normal.map((v) => v / length) as Vector,
      offset: number(plane['offset'], 0) / length,
    };
  });
  const gravity = vector(world['gravity'], [0, 0, 0]);
  const periodic = Array.isArray(world['periodic']) ? vector(world['periodic'], [0, 0, 0]) : null;
  const header: Header = {
    title: '',
    source: null,
    text,
    until: 0,
    sample: 0,
    repeatable: false,
    on_paradox: 'hold',
    gravity,
    periodic,
    floats_per_body: 13,
    bodies,
    planes,
    joints: read.joints.map(({ bodies: members }) => ({ name: '', bodies: members })),
  };
  const timeline = new Timeline(header);
  const data = new ArrayBuffer(frameBytes(bodies.length, 13));
  const floats = new Float32Array(data, 8 * (1 + TOTALS));
  given.forEach((body, i) => {
    floats.set(vector(body['position'], [0, 0, 0]), 13 * i);
    floats.set(orientation(body['orientation']), 13 * i + 3);
    floats.set(vector(body['velocity'], [0, 0, 0]), 13 * i + 7);
  });
  timeline.add({ kind: 'frames', data });
  return timeline;
}
