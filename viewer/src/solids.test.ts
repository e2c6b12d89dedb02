import { describe, expect, it } from 'vitest';
import type { Shape, Vector } from './protocol';
import { farthest, solid } from './solids';
import type { Mesh } from './surface';

function volume({ positions: x, indices }: Mesh): number {
  let six = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [a, b, c] = [3 * indices[i], 3 * indices[i + 1], 3 * indices[i + 2]];
    six +=
      x[a] * (x[b + 1] * x[c + 2] - x[b + 2] * x[c + 1]) +
      x[a + 1] * (x[b + 2] * x[c] - x[b] * x[c + 2]) +
      x[a + 2] * (x[b] * x[c + 1] - x[b + 1] * x[c]);
  }
  return six / 6;
}

const corner: Vector[] = [
  [0, 0, 0],
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const faces = [
  [0, 2, 1],
  [0, 1, 3],
  [0, 3, 2],
  [1, 2, 3],
];
const r = 0.2;
const of = (kind: Shape['kind'], [a, b, c]: Vector, rounding: number, more: Partial<Shape> = {}): Shape => ({
  kind,
  semi_axes: [a + rounding, b + rounding, c + rounding],
  exponent: 2,
  rounding,
  base: 0,
  ...more,
});

// The corner of a cube grown by a ball: V + A r + ½ Σ L θ r² + 4π r³/3.
const area = 1.5 + Math.sqrt(3) / 2;
const bend = (3 * Math.PI) / 2 + 3 * Math.SQRT2 * (Math.PI - Math.acos(1 / Math.sqrt(3)));
const grown = 1 / 6 + area * r + 0.5 * bend * r * r + (4 / 3) * Math.PI * r ** 3;

describe('the mesh of a body with flats and edges', () => {
  const cases: [Shape, number][] = [
    [of('box', [1, 2, 3], 0), 48],
    [of('box', [1, 1, 1], r), 8 + 24 * r + 6 * Math.PI * r * r + (4 / 3) * Math.PI * r ** 3],
    [of('cylinder', [1, 1, 2], 0), 4 * Math.PI],
    [of('capsule', [0, 0, 2], 1), (4 + 4 / 3) * Math.PI],
    [of('cone', [1, 1, 1.5], 0, { base: -0.75 }), Math.PI],
    [of('polyhedron', [1, 1, 1], 0, { vertices: corner, faces }), 1 / 6],
    [of('polyhedron', [1, 1, 1], r, { vertices: corner, faces }), grown],
  ];
  for (const [shape, expected] of cases) {
    it(`holds the volume of a ${shape.kind}, rounded by ${shape.rounding}, seen from outside`, () => {
      const mesh = solid(shape, 48);
      expect(mesh).not.toBeNull();
      if (mesh !== null) expect(Math.abs(volume(mesh) / expected - 1)).toBeLessThan(3e-3);
    });
    it(`lies on the surface of that ${shape.kind}, with its normals`, () => {
      const { positions, normals } = solid(shape, 12) as Mesh;
      for (let i = 0; i < positions.length; i += 3) {
        const n = [...normals.subarray(i, i + 3)] as Vector;
        const height = (x: ArrayLike<number>) => x[0] * n[0] + x[1] * n[1] + x[2] * n[2];
        const top = farthest(shape, n) as Vector;
        expect(Math.abs(height(positions.subarray(i, i + 3)) - height(top))).toBeLessThan(2e-6);
      }
    });
  }
});
