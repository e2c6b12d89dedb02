import { describe, expect, it } from 'vitest';
import { gridLines, superellipsoid } from './surface';

/** log Γ (Lanczos), good to 1e-13 here. */
function gamma(z: number): number {
  const g = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const x = g.slice(1).reduce((sum, value, i) => sum + value / (z + i), g[0]);
  const t = z + 6.5;
  return Math.sqrt(2 * Math.PI) * t ** (z - 0.5) * Math.exp(-t) * x;
}

/** The volume of |x|^p + |y|^p + |z|^p ≤ 1: (2 Γ(1 + 1/p))³ / Γ(1 + 3/p). */
const volume = (p: number): number => (2 * gamma(1 + 1 / p)) ** 3 / gamma(1 + 3 / p);

function meshVolume(p: number, cells: number): number {
  const { positions: x, indices } = superellipsoid(p, cells);
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

describe('the mesh of a superellipsoid', () => {
  for (const p of [2, 2.5, 4, 8, 20]) {
    it(`lies on the surface, p = ${p}, with the gradient's normals`, () => {
      const { positions, normals } = superellipsoid(p, 12);
      for (let i = 0; i < positions.length; i += 3) {
        const point = [...positions.subarray(i, i + 3)];
        expect(Math.abs(point.reduce((sum, x) => sum + Math.abs(x) ** p, 0) - 1)).toBeLessThan(4e-7 * p);
        const gradient = point.map((x) => Math.sign(x) * Math.abs(x) ** (p - 1));
        const length = Math.hypot(...gradient);
        gradient.forEach((g, k) => expect(Math.abs(normals[i + k] - g / length)).toBeLessThan(2e-6 * p));
      }
    });

    it(`encloses the volume of the closed form, p = ${p}, outside out, with an error of second order`, () => {
      const coarse = Math.abs(meshVolume(p, 14) / volume(p) - 1);
      const fine = Math.abs(meshVolume(p, 28) / volume(p) - 1);
      expect(fine).toBeLessThan(0.004);
      expect(Math.log2(coarse / fine)).toBeGreaterThan(1.7);
    });

    it(`turns its normal by little from line to line, and leaves no flat bare, p = ${p}`, () => {
      const lines = gridLines(28, p);
      for (let i = 1; i < lines.length; i++) {
        const angle = (u: number): number => Math.atan(Math.sign(u) * Math.abs(u) ** (p - 1));
        expect(Math.abs(angle(lines[i]) - angle(lines[i - 1]))).toBeLessThan(0.13);
        expect(lines[i] - lines[i - 1]).toBeGreaterThan(0);
        expect(lines[i] - lines[i - 1]).toBeLessThan(0.17);
      }
    });
  }
});
