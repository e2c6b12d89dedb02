import { describe, expect, it } from 'vitest';
import { frameBytes, type Header, type RunEvent } from './protocol';
import { Timeline } from './timeline';
import { conserved, jumpOf, scales, totals } from './totals';

const G = 10;

const header: Header = {
  title: '',
  source: null,
  text: '',
  until: 1,
  sample: 0.5,
  repeatable: false,
  on_paradox: 'hold',
  gravity: [0, 0, -G],
  periodic: null,
  floats_per_body: 13,
  bodies: [
    {
      name: 'ball',
      fixed: false,
      mass: 2,
      inertia: [1, 1, 1],
      shape: { kind: 'sphere', semi_axes: [0, 0, 0], exponent: 2 },
    },
  ],
  planes: [{ name: 'floor', normal: [0, 0, 1], offset: 0 }],
  joints: [],
};

/** A ball of two kilograms that falls from z₀ and bounces at T with half its speed. */
const Z0 = 0.45;
const T = Math.sqrt((2 * Z0) / G);
const fall = (t: number): [z: number, v: number] => {
  if (t < T) return [Z0 - 0.5 * G * t * t, -G * t];
  const s = t - T;
  const up = 0.5 * G * T;
  return [up * s - 0.5 * G * s * s, up - G * s];
};

function bouncing(): Timeline {
  const timeline = new Timeline(header);
  const times = [0, 0.2, 0.4, 0.5];
  const bytes = frameBytes(1, 13);
  const data = new ArrayBuffer(bytes * times.length);
  times.forEach((t, i) => {
    const [z, v] = fall(t);
    new Float64Array(data, i * bytes, 9).set([t, v * v, 2 * G * z, 0, 0, 2 * v, 0, 0, 0]);
    new Float32Array(data, i * bytes + 72, 13).set([1, 0, z, 1, 0, 0, 0, 0, 0, v, 0, 0, 0]);
  });
  timeline.add({ kind: 'frames', data });
  const state = (v: number) => ({
    position: [1, 0, 0] as [number, number, number],
    orientation: [1, 0, 0, 0] as [number, number, number, number],
    velocity: [0, 0, v] as [number, number, number],
    angular_velocity: [0, 0, 0] as [number, number, number],
  });
  timeline.add({
    kind: 'events',
    events: [impact(T, [{ body: 0, before: state(-G * T), after: state(0.5 * G * T) }])],
  });
  return timeline;
}

function impact(time: number, states: RunEvent['states']): RunEvent {
  const [before, after] = [(G * T) ** 2, (0.5 * G * T) ** 2];
  return {
    number: 0,
    time,
    time_error: 0,
    kind: 'impact',
    bodies: ['floor', 'ball'],
    image: null,
    point: [1, 0, 0],
    normal: [0, 0, 1],
    gap: 0,
    approach: -G * T,
    separation: 0.5 * G * T,
    impulse: 3 * G * T,
    impulse_vector: [0, 0, 3 * G * T],
    type: 'normal',
    g2: null,
    g3: null,
    force_slope: null,
    energy_before: before,
    energy_after: after,
    ...(states === undefined ? {} : { states }),
  };
}

describe('totals', () => {
  it('jump at an impact, and nowhere else', () => {
    const rows = totals(bouncing());
    expect(rows.map(([t]) => t)).toEqual([0, 0.2, T, T, 0.4, 0.5]);
    const [before, after] = [rows[2], rows[3]];
    // Total and kinetic energy fall by three quarters at the time of the impact; the potential is zero there.
    expect(before[1]).toBeCloseTo((G * T) ** 2, 5);
    expect(after[1]).toBeCloseTo(0.25 * (G * T) ** 2, 5);
    expect(before[2]).toBeCloseTo((G * T) ** 2, 5);
    expect(after[2]).toBeCloseTo(0.25 * (G * T) ** 2, 5);
    expect(before[3]).toBeCloseTo(0, 5);
    expect(after[3]).toBeCloseTo(0, 5);
    // Momentum falls by m g t up to the impact, where it jumps by the impulse.
    expect(before[6]).toBeCloseTo(-2 * G * T, 10);
    expect(after[6]).toBeCloseTo(G * T, 10);
    // Its moment about the origin, the ball being at x = 1: x × J = −J in y; the frames were given none of their own.
    expect(after[8] - before[8]).toBeCloseTo(-3 * G * T, 10);
  });

  it('are told to be conserved only where they are', () => {
    const rows = totals(bouncing());
    const { energy, momentum } = scales(bouncing(), rows);
    expect(energy).toBeCloseTo((G * T) ** 2, 4);
    expect(conserved(rows, [1], energy)).toBeNull();
    expect(conserved(rows, [4, 5], momentum)).toBe(0);
    expect(conserved(rows, [6], momentum)).toBeNull();
    const shaken = rows.map((row, i) => [row[0], 7 + 3e-14 * (i % 2)]);
    expect(conserved(shaken, [1], 7)).toBeCloseTo(3e-14 / 7, 16);
    expect(conserved(shaken.slice(0, 1), [1], 7)).toBeNull();
  });

  it('take no impulse from an impact of two free bodies', () => {
    const still = new Set(['floor', 'rock']);
    const event = impact(0, undefined);
    expect(jumpOf({ ...event, bodies: ['a', 'b'] }, still).momentum.map(Math.abs)).toEqual([0, 0, 0]);
    expect(jumpOf(event, still).momentum).toEqual([0, 0, 3 * G * T]);
    expect(jumpOf({ ...event, bodies: ['a', 'rock'] }, still).momentum[2]).toBe(-3 * G * T);
    expect(jumpOf({ ...event, kind: 'hold_end' }, still).momentum[2]).toBe(0);
  });
});
