import { describe, expect, it } from 'vitest';
import { forceAt, heldForces, lasting } from './forces';
import { frameBytes, type Header, type RunEvent, type State } from './protocol';
import { Keyframes } from './keyframes';
import { keyTimes } from './share';
import { Series, Timeline } from './timeline';

const header = (floats = 13): Header => ({
  title: '',
  source: null,
  text: '',
  until: 1,
  sample: 0.5,
  repeatable: true,
  on_paradox: 'hold',
  gravity: [0, 0, 0],
  periodic: null,
  floats_per_body: floats,
  bodies: [
    {
      name: 'ball',
      fixed: false,
      mass: 1,
      inertia: [1, 1, 1],
      shape: { kind: 'sphere', semi_axes: [1, 1, 1], exponent: 2 },
    },
  ],
  planes: [],
  joints: [],
});

function frames(floats: number, rows: [time: number, x: number, v: number][]): ArrayBuffer {
  const bytes = frameBytes(1, floats);
  const data = new ArrayBuffer(bytes * rows.length);
  rows.forEach(([time, x, v], i) => {
    new Float64Array(data, i * bytes, 9).set([time, 0.5 * v * v, 0, v, 0, 0, 0, 0, 0]);
    const state = [x, 0, 0, 1, 0, 0, 0, v, 0, 0, 0, 0, 0];
    new Float32Array(data, i * bytes + 72, floats).set(state.slice(0, floats));
  });
  return data;
}

const state = (x: number, v: number): State => ({
  position: [x, 0, 0],
  orientation: [1, 0, 0, 0],
  velocity: [v, 0, 0],
  angular_velocity: [0, 0, v],
});

function event(number: number, time: number, x: number, before: number, after: number): RunEvent {
  return {
    number,
    time,
    time_error: 0,
    kind: 'impact',
    bodies: ['wall', 'ball'],
    image: null,
    point: [x, 0, 0],
    normal: [1, 0, 0],
    gap: 0,
    approach: before,
    separation: after,
    impulse: 3,
    impulse_vector: [-3, 0, 0],
    type: 'normal',
    g2: null,
    g3: null,
    force_slope: null,
    energy_before: 1,
    energy_after: 1,
    states: [{ body: 0, before: state(x, before), after: state(x, after) }],
  };
}

/** The program's answer for one ball: at each key a place, and velocities before and after. */
function keyframesData(
  from: number,
  until: number,
  keys: [t: number, x: number, before: number, after: number][],
): ArrayBuffer {
  const data = new ArrayBuffer(24 + 112 * keys.length);
  new Float64Array(data, 0, 2).set([from, until]);
  new Uint32Array(data, 16, 1).set([keys.length]);
  keys.forEach(([t, x, before, after], i) => {
    new Float64Array(data, 24 + 8 * i, 1).set([t]);
    const states = [before, after].flatMap((v) => [x, 0, 0, 1, 0, 0, 0, v, 0, 0, 0, 0, 0]);
    new Float32Array(data, 24 + 8 * keys.length + 104 * i, 26).set(states);
  });
  return data;
}

const keyframes = (...given: Parameters<typeof keyframesData>): Keyframes =>
  new Keyframes(keyframesData(...given), 1);

/** A ball that flies at speed 1 to x = 0.3, and back at speed 2: |x − 0.3| has a corner between two frames. */
function bounced(floats = 13): Timeline {
  const timeline = new Timeline(header(floats));
  timeline.add({ kind: 'frames', data: frames(floats, [[0, 0, 1]]) });
  timeline.add({
    kind: 'frames',
    data: frames(floats, [
      [0.5, -0.1, -2],
      [1, -1.1, -2],
    ]),
  });
  timeline.add({ kind: 'events', events: [event(0, 0.3, 0.3, 1, -2)] });
  return timeline;
}

const x = (timeline: Timeline, t: number): number => {
  const out = new Float64Array(7);
  timeline.poses(t, out);
  return out[0];
};

describe('a timeline', () => {
  it('does not interpolate across an event', () => {
    for (const floats of [13, 7]) {
      const timeline = bounced(floats);
      for (const t of [0, 0.1, 0.29999, 0.3]) expect(x(timeline, t)).toBeCloseTo(t, 7);
      for (const t of [0.3, 0.30001, 0.45, 0.5, 0.8, 1])
        expect(x(timeline, t)).toBeCloseTo(0.3 - 2 * (t - 0.3), 6);
    }
  });

  it('stays at the last frame where nothing says what happened, and goes as repeated once that has come', () => {
    const timeline = new Timeline(header());
    timeline.add({
      kind: 'frames',
      data: frames(13, [
        [0, 0, 1],
        [0.5, -0.1, -2],
        [1, -1.1, -2],
      ]),
    });
    timeline.add({ kind: 'complete', until: 0 });
    expect(timeline.missing(0)).toBeNull();
    expect(timeline.missing(0.2)).toEqual([0, 0.5]);
    for (const t of [0, 0.1, 0.49]) expect(x(timeline, t)).toBe(0);
    for (const t of [0.5, 0.75, 0.99]) expect(x(timeline, t)).toBeCloseTo(-0.1, 6);
    // It was struck at 0.3; the answer goes to 0.4 at first.
    const part = (from: number, until: number, keys: [t: number, x: number, v0: number, v1: number][]) =>
      timeline.addPart(keyframes(from, until, keys));
    part(0, 0.4, [
      [0, 0, 1, 1],
      [0.3, 0.3, 1, -2],
      [0.4, 0.1, -2, -2],
    ]);
    expect(timeline.missing(0.2)).toBeNull();
    expect(timeline.missing(0.45)).toEqual([0.4, 0.5]);
    expect(timeline.missing(timeline.knownUntil(0.2))).toEqual([0.4, 0.5]);
    for (const t of [0, 0.1, 0.29]) expect(x(timeline, t)).toBeCloseTo(t, 6);
    for (const t of [0.3, 0.35, 0.39]) expect(x(timeline, t)).toBeCloseTo(0.3 - 2 * (t - 0.3), 6);
    expect(x(timeline, 0.45)).toBe(0);
    expect(timeline.knownFrom(0.2)).toBe(timeline.start);
    expect(timeline.knownFrom(0.45)).toBe(0.45);
    part(0.4, 0.5, [
      [0.4, 0.1, -2, -2],
      [0.5, -0.1, -2, -2],
    ]);
    expect(x(timeline, 0.45)).toBeCloseTo(0, 6);
    expect(timeline.knownFrom(0.45)).toBe(timeline.start);
  });

  it('refuses an answer that is cut', () => {
    const whole = keyframesData(0, 1, [[0, 0, 1, 1]]);
    expect(() => new Keyframes(whole.slice(0, whole.byteLength - 8), 1)).toThrow('broken');
  });

  it('gives the same in any order of times', () => {
    const timeline = bounced();
    const times = [0.9, 0.1, 0.31, 0.29, 0.5, 0.3];
    const first = times.map((t) => x(timeline, t));
    expect(
      times
        .reverse()
        .map((t) => x(timeline, t))
        .reverse(),
    ).toEqual(first);
    const path = new Float32Array(6);
    x(timeline, 0.9);
    timeline.path(0, Float64Array.from([0.2, 0.4]), path);
    expect(path[0]).toBeCloseTo(0.2, 6);
    expect(path[3]).toBeCloseTo(0.1, 6);
    expect(x(timeline, 0.9)).toBe(first[0]);
  });

  it('has the velocity after an event at its time', () => {
    const timeline = bounced();
    expect(timeline.state(0, 0.3).velocity[0]).toBe(-2);
    expect(timeline.state(0, 0.2999).velocity[0]).toBeCloseTo(1, 6);
    expect(timeline.spin(0, 0.3)).toEqual([0, 0, -2]);
  });

  it('steps from event to event, several contacts of one instant being one', () => {
    const timeline = bounced();
    timeline.add({
      kind: 'events',
      events: [event(1, 0.7, -0.5, -2, 1), event(1, 0.7, -0.5, -2, 1), event(2, 0.9, 0, 1, 1)],
    });
    expect(timeline.eventAfter(0)).toBe(0);
    expect(timeline.eventAfter(0.3)).toBe(1);
    expect(timeline.eventAfter(0.7)).toBe(3);
    expect(timeline.eventBefore(0.9)).toBe(1);
    expect(timeline.eventBefore(0.7)).toBe(0);
    expect(timeline.eventBefore(0.3)).toBe(-1);
  });

  it('shows the last frame while more is to come, and goes on when it has', () => {
    const timeline = new Timeline(header());
    timeline.add({ kind: 'frames', data: frames(13, [[0, 0, 1]]) });
    expect(x(timeline, 0.25)).toBe(0);
    timeline.add({ kind: 'frames', data: frames(13, [[0.5, 0.5, 1]]) });
    expect(x(timeline, 0.25)).toBe(0.25);
  });

  it('refuses a frame that is cut', () => {
    const timeline = new Timeline(header());
    expect(() => timeline.add({ kind: 'frames', data: frames(13, [[0, 0, 1]]).slice(0, 64) })).toThrow('cut');
  });
});

describe('held forces', () => {
  /** Gravity −4 along x, a force that rises as 6t from t = 0.2 to 0.8, mass 1: v = −4t + 3(t − 0.2)². */
  const speed = (t: number): number => -4 * t + (t < 0.2 ? 0 : 3 * (Math.min(t, 0.8) - 0.2) ** 2);

  function held(): Timeline {
    const timeline = new Timeline({ ...header(), gravity: [-4, 0, 0], until: 1, sample: 0.1 });
    const rows = Array.from({ length: 11 }, (_, i): [number, number, number] => [i / 10, 0, speed(i / 10)]);
    timeline.add({ kind: 'frames', data: frames(13, rows) });
    const begin = { ...event(0, 0.2, 0, speed(0.2), speed(0.2)), kind: 'hold_begin' };
    const end = { ...event(1, 0.8, 0, speed(0.8), speed(0.8)), kind: 'hold_end' };
    timeline.add({ kind: 'events', events: [begin, end] });
    return timeline;
  }

  it('mean force of each interval / the force in its middle, gravity taken out', () => {
    const [hold] = heldForces(held());
    expect(hold).toMatchObject({ from: 0.2, until: 0.8, body: 0 });
    expect(hold.times.length).toBe(6);
    hold.times.forEach((t, i) => expect(hold.forces[i][0]).toBeCloseTo(6 * (t - 0.2), 5));
    expect(forceAt(hold, 0.1)).toBeNull();
    expect(forceAt(hold, 0.5)?.[0]).toBeCloseTo(1.8, 5);
    expect(forceAt(hold, 0.81)).toBeNull();
  });

  it('the sum of the means / the impulse of the hold', () => {
    const [hold] = heldForces(held());
    expect(hold.forces.reduce((sum, force) => sum + 0.1 * force[0], 0)).toBeCloseTo(3 * 0.36, 5);
  });

  it('a contact that comes to rest lasts to the end', () => {
    const rest = { ...event(0, 0.3, 0, 0, 0), kind: 'rest' };
    expect(lasting([rest], 2)).toEqual([{ bodies: ['wall', 'ball'], from: 0.3, until: 2 }]);
  });
});

it('a model has a key at every event', () => {
  const times = keyTimes(bounced());
  expect([...times]).toEqual([0, 0.3, 0.5, 1]);
});

it('a series finds its place', () => {
  const series = new Series();
  for (let i = 0; i < 1000; i++) series.push(i);
  expect(series.upTo(-1)).toBe(0);
  expect(series.upTo(17)).toBe(18);
  expect(series.upTo(17.5)).toBe(18);
  expect(series.upTo(5000)).toBe(1000);
});
