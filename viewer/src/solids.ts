// Bodies with flats, edges and corners as triangles: polyhedra and bodies of revolution, grown by a ball.
//
// A rounded polyhedron is made of its faces moved out, strips of cylinders along its edges, and at each corner the part of a ball that
// faces the directions between the normals of the faces there. A body of revolution is a profile of points with normals, turned about z.

import type { Shape, Vector } from './protocol';
import type { Mesh } from './surface';

const add = (a: Vector, b: Vector, factor = 1): Vector => [
  a[0] + factor * b[0],
  a[1] + factor * b[1],
  a[2] + factor * b[2],
];
const sub = (a: Vector, b: Vector): Vector => add(a, b, -1);
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Vector): Vector => {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** A share of the way along the great circle from one unit vector to another. */
function between(a: Vector, b: Vector, share: number): Vector {
  const angle = Math.atan2(Math.hypot(...cross(a, b)), dot(a, b));
  const sine = Math.sin(angle);
  if (sine < 1e-9) return a;
  const [p, q] = [Math.sin((1 - share) * angle) / sine, Math.sin(share * angle) / sine];
  return [p * a[0] + q * b[0], p * a[1] + q * b[1], p * a[2] + q * b[2]];
}

class Builder {
  private readonly positions: number[] = [];
  private readonly normals: number[] = [];
  private readonly indices: number[] = [];

  point(at: Vector, normal: Vector): number {
    this.positions.push(...at);
    this.normals.push(...normal);
    return this.positions.length / 3 - 1;
  }

  triangle(a: number, b: number, c: number): void {
    this.indices.push(a, b, c);
  }

  /** Rows of equally many points: triangles between each row and the next. */
  grid(rows: number[][]): void {
    for (let i = 0; i + 1 < rows.length; i++) {
      for (let j = 0; j + 1 < rows[i].length; j++) {
        this.triangle(rows[i][j], rows[i + 1][j], rows[i + 1][j + 1]);
        this.triangle(rows[i][j], rows[i + 1][j + 1], rows[i][j + 1]);
      }
    }
  }

  mesh(): Mesh {
    return {
      positions: Float32Array.from(this.positions),
      normals: Float32Array.from(this.normals),
      indices: Uint32Array.from(this.indices),
    };
  }
}

/** A convex polyhedron of corners and faces, counterclockwise from outside, grown by a ball; `arcs` pieces along each rounding. */
export function polyhedron(corners: Vector[], faces: number[][], rounding: number, arcs: number): Mesh {
  const builder = new Builder();
  const normals = faces.map((face) => {
    const rest = face.slice(1, -1).map((corner, k): Vector => {
      const [a, b, c] = [corners[face[0]], corners[corner], corners[face[k + 2]]];
      return cross(sub(b, a), sub(c, a));
    });
    return unit(rest.reduce((sum, part) => add(sum, part)));
  });
  faces.forEach((face, k) => {
    const points = face.map((corner) =>
      builder.point(add(corners[corner], normals[k], rounding), normals[k]),
    );
    for (let i = 1; i + 1 < points.length; i++) builder.triangle(points[0], points[i], points[i + 1]);
  });
  if (rounding <= 0) return builder.mesh();
  // The face on the left of a way from corner to corner.
  const left = new Map<string, number>();
  // And of each corner the next along each face, by face.
  faces.forEach((face, k) =>
    face.forEach((corner, i) => left.set(`${corner} ${face[(i + 1) % face.length]}`, k)),
  );
  const steps = Array.from({ length: arcs + 1 }, (_, j) => j / arcs);
  for (const [way, here] of left) {
    const [from, to] = way.split(' ').map(Number);
    const there = left.get(`${to} ${from}`);
    if (there === undefined || from > to) continue;
    const directions = steps.map((share) => between(normals[here], normals[there], share));
    builder.grid(
      directions.map((n) => [from, to].map((corner) => builder.point(add(corners[corner], n, rounding), n))),
    );
  }
  corners.forEach((corner, number) => {
    const start = faces.findIndex((face) => face.includes(number));
    if (start < 0) return;
    const around: number[] = [];
    let face = start;
    do {
      around.push(face);
      const outline = faces[face];
      const at = outline.indexOf(number);
      face = left.get(`${number} ${outline[(at + outline.length - 1) % outline.length]}`) ?? start;
    } while (face !== start && around.length <= faces.length);
    const middle = unit(around.map((k) => normals[k]).reduce((sum, n) => add(sum, n)));
    around.forEach((k, i) => {
      const next = around[(i + 1) % around.length];
      const rim = steps.map((share) => between(normals[k], normals[next], share));
      builder.grid(
        steps.map((share) =>
          rim.map((end) => {
            const n = between(middle, end, share);
            return builder.point(add(corner, n, rounding), n);
          }),
        ),
      );
    });
  });
  return builder.mesh();
}

/** A point of a profile: distance from the axis, height, and the angle of the normal above the horizontal. */
type Point = [number, number, number];

/** A quarter or another part of a circle about a place. */
function arc(
  [rho, z]: [number, number],
  radius: number,
  [from, to]: [number, number],
  pieces: number,
): Point[] {
  const count = radius > 0 ? pieces : 1;
  return Array.from({ length: count + 1 }, (_, i): Point => {
    const angle = from + ((to - from) * i) / count;
    return [rho + radius * Math.cos(angle), z + radius * Math.sin(angle), angle];
  });
}

/** A profile from below upwards, turned about z. */
function turned(profile: Point[], around: number): Mesh {
  const builder = new Builder();
  const columns = Array.from({ length: around + 1 }, (_, j) => {
    const angle = (2 * Math.PI * j) / around;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return profile.map(([rho, z, tilt]) =>
      builder.point([rho * cos, rho * sin, z], [Math.cos(tilt) * cos, Math.cos(tilt) * sin, Math.sin(tilt)]),
    );
  });
  builder.grid(columns);
  return builder.mesh();
}

const UP = Math.PI / 2;

/** The corners and faces of a box. */
function box([a, b, c]: number[]): [Vector[], number[][]] {
  const corners = Array.from({ length: 8 }, (_, k): Vector => [
    k & 1 ? a : -a,
    k & 2 ? b : -b,
    k & 4 ? c : -c,
  ]);
  const faces = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
  ];
  return [corners, faces];
}

/** The surface of a shape with flats and edges, in its own size; null for any other. */
export function solid(shape: Shape, cells: number): Mesh | null {
  const rounding = shape.rounding ?? 0;
  const [x, , z] = shape.semi_axes.map((axis) => axis - rounding);
  const arcs = Math.max(2, Math.round(cells / 4));
  switch (shape.kind) {
    case 'box': {
      const [corners, faces] = box(shape.semi_axes.map((axis) => axis - rounding));
      return polyhedron(corners, faces, rounding, arcs);
    }
    case 'polyhedron':
      return polyhedron(shape.vertices ?? [], shape.faces ?? [], rounding, arcs);
    case 'cylinder':
    case 'capsule':
    case 'disc': {
      const profile: Point[] = [
        [0, -z - rounding, -UP],
        ...arc([x, -z], rounding, [-UP, 0], arcs),
        ...arc([x, z], rounding, [0, UP], arcs),
        [0, z + rounding, UP],
      ];
      return turned(profile, 4 * cells);
    }
    case 'cone': {
      const [base, height] = [shape.base ?? 0, 2 * z];
      const steep = Math.atan2(x, height);
      const profile: Point[] = [
        [0, base - rounding, -UP],
        ...arc([x, base], rounding, [-UP, steep], arcs),
        ...arc([0, base + height], rounding, [steep, UP], arcs),
      ];
      return turned(profile, 4 * cells);
    }
    default:
      return null;
  }
}

/** The point of such a shape that is farthest along a direction, in its axes; null for any other. */
export function farthest(shape: Shape, n: Vector): Vector | null {
  const rounding = shape.rounding ?? 0;
  const [x, y, z] = shape.semi_axes.map((axis) => axis - rounding);
  const out = Math.hypot(n[0], n[1]) || 1;
  const rim = (radius: number, height: number): Vector => [
    (radius * n[0]) / out,
    (radius * n[1]) / out,
    height,
  ];
  const higher = (points: Vector[]): Vector => points.reduce((a, b) => (dot(b, n) > dot(a, n) ? b : a));
  let point: Vector;
  switch (shape.kind) {
    case 'box':
      point = [x * Math.sign(n[0]), y * Math.sign(n[1]), z * Math.sign(n[2])];
      break;
    case 'cylinder':
    case 'capsule':
    case 'disc':
      point = rim(x, z * Math.sign(n[2]));
      break;
    case 'cone':
      point = higher([rim(x, shape.base ?? 0), [0, 0, (shape.base ?? 0) + 2 * z]]);
      break;
    case 'polyhedron':
      point = higher(shape.vertices ?? [[0, 0, 0]]);
      break;
    default:
      return null;
  }
  return add(point, unit(n), rounding);
}
