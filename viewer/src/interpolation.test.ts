import { describe, expect, it } from 'vitest';
import { pose, prepare, SEGMENT, velocity } from './interpolation';

/** Steady turning about one axis, and the centre on a parabola: the curves are these very ones. */
function steady(t: number): Float64Array {
  const axis = [2 / 7, 3 / 7, 6 / 7];
  const rate = 2.5;
  const half = 0.5 * rate * t;
  const [p, v, a] = [
    [1, -2, 3],
    [0.5, 4, -1],
    [0, 0.3, -9.81],
  ];
  return Float64Array.from([
    ...p.map((x, i) => x + v[i] * t + 0.5 * a[i] * t * t),
    Math.cos(half),
    ...axis.map((x) => x * Math.sin(half)),
    ...v.map((x, i) => x + a[i] * t),
    ...axis.map((x) => rate * x),
  ]);
}

/** A symmetric top in free flight: ω precesses about the angular momentum (Euler's case in closed form). */
function top(t: number): Float64Array {
  const [j1, j3] = [2, 1];
  const [transverse, spin] = [1.3, 2.1];
  const momentum = Math.hypot(j1 * transverse, j3 * spin);
  const precession = momentum / j1;
  const own = spin * (1 - j3 / j1);
  const tilt = Math.atan2(j1 * transverse, j3 * spin);
  // z–x–z angles: precession φ about the momentum, tilt θ, spin ψ.
  const [c, s] = [Math.cos(tilt / 2), Math.sin(tilt / 2)];
  const [phi, psi] = [precession * t, own * t];
  const q = [
    c * Math.cos((phi + psi) / 2),
    s * Math.cos((phi - psi) / 2),
    s * Math.sin((phi - psi) / 2),
    c * Math.sin((phi + psi) / 2),
  ];
  const body = [Math.sin(tilt) * Math.sin(phi), -Math.sin(tilt) * Math.cos(phi), Math.cos(tilt)];
  const w = body.map((x, i) => own * x + (i === 2 ? precession : 0));
  return Float64Array.from([0, 0, 0, ...q, 0, 0, 0, ...w]);
}

function error(motion: (t: number) => Float64Array, h: number, at: number): number {
  const segment = new Float64Array(SEGMENT);
  const out = new Float64Array(7);
  prepare(segment, 0, 13, 0, motion(0), 0, h, motion(h), 0);
  pose(out, 0, segment, 0, 13, at * h);
  const exact = motion(at * h);
  const sign = Math.sign(out.slice(3).reduce((sum, x, i) => sum + x * exact[3 + i], 0));
  return Math.max(...out.map((x, i) => Math.abs((i < 3 ? x : sign * x) - exact[i])));
}

describe('between two states', () => {
  it('steady turning on a parabola / the closed form, to rounding', () => {
    for (const h of [0.01, 0.3, 1.7, 5])
      for (const at of [0, 0.1, 0.5, 0.77, 1]) expect(error(steady, h, at)).toBeLessThan(1e-14);
  });

  it('a tumbling top / the closed form, with an error of fourth order', () => {
    const coarse = error(top, 0.2, 0.5);
    const fine = error(top, 0.1, 0.5);
    expect(coarse).toBeLessThan(2e-4);
    expect(Math.log2(coarse / fine)).toBeGreaterThan(3.8);
    expect(error(top, 0.2, 0)).toBeLessThan(1e-15);
    expect(error(top, 0.2, 1)).toBeLessThan(1e-15);
  });

  it('the velocity / the derivative of the position', () => {
    const segment = new Float64Array(SEGMENT);
    const out = new Float64Array(3);
    prepare(segment, 0, 13, 2, steady(2), 0, 2.5, steady(2.5), 0);
    velocity(out, 0, segment, 0, 2.2);
    const exact = steady(2.2);
    for (let i = 0; i < 3; i++) expect(out[i]).toBeCloseTo(exact[7 + i], 12);
  });

  it('without velocities: a line, and a turn at even speed', () => {
    const segment = new Float64Array(SEGMENT);
    const out = new Float64Array(7);
    const quarter = Math.SQRT1_2;
    prepare(
      segment,
      0,
      7,
      0,
      Float64Array.from([0, 0, 0, 1, 0, 0, 0]),
      0,
      1,
      Float64Array.from([2, 4, 6, -quarter, 0, 0, -quarter]),
      0,
    );
    pose(out, 0, segment, 0, 7, 0.25);
    expect(out[0]).toBeCloseTo(0.5, 14);
    // The same orientation with the other sign is a quarter turn, not three.
    expect(out[3]).toBeCloseTo(Math.cos(Math.PI / 16), 14);
    expect(out[6]).toBeCloseTo(Math.sin(Math.PI / 16), 14);
  });
});
