import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../protocol';
import { saying, timelineOf } from './player';

/** A chunk as the program writes it. */
function chunk(kind: number, payload: Uint8Array): Uint8Array {
  const padded = new Uint8Array(8 + 8 * Math.ceil(payload.length / 8)).fill(32);
  const head = new DataView(padded.buffer);
  head.setUint32(0, kind, true);
  head.setUint32(4, padded.length - 8, true);
  padded.set(payload, 8);
  return padded;
}

const json = (kind: number, value: unknown): Uint8Array =>
  chunk(kind, new TextEncoder().encode(JSON.stringify(value)));

function frame(time: number, height: number): Uint8Array {
  const bytes = new Uint8Array(72 + 4 * 14);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, time, true);
  [0, 0, height, 1, 0, 0, 0, 0, 0, -1].forEach((x, i) => view.setFloat32(72 + 4 * i, x, true));
  return bytes;
}

const shape = { kind: 'sphere', semi_axes: [0.5, 0.5, 0.5], exponent: 2 };
const header = {
  title: null,
  text: '',
  until: 1,
  sample: 1,
  gravity: [0, 0, 0],
  periodic: null,
  floats_per_body: 13,
  bodies: [{ name: 'ball', fixed: false, mass: 1, inertia: [1, 1, 1], shape }],
  planes: [],
  joints: [],
};

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

describe('a whole stream', () => {
  it('is a timeline, wherever in memory it lies', () => {
    const stream = joined(
      json(1, header),
      chunk(2, joined(frame(0, 2), frame(1, 1))),
      json(5, { stopped: 'until' }),
    );
    // As anywidget hands it over: a view into a larger buffer, at any offset.
    const shifted = new Uint8Array(stream.length + 3);
    shifted.set(stream, 3);
    const timeline = timelineOf(shifted.subarray(3));
    expect(timeline.end).toBe(1);
    expect(timeline.ending?.stopped).toBe('until');
    const poses = new Float64Array(7);
    timeline.poses(0.5, poses);
    expect(poses[2]).toBeCloseTo(1.5, 6);
  });

  it('is refused where it is broken', () => {
    expect(() => timelineOf(new Uint8Array(0))).toThrow('broken');
    expect(() => timelineOf(json(1, header))).toThrow('broken');
    const cut = joined(json(1, header), chunk(2, frame(0, 2)), new Uint8Array(9));
    expect(() => timelineOf(cut)).toThrow('broken');
  });
});

it('an event is said in a line', () => {
  const event = {
    kind: 'impact',
    bodies: ['ball', 'floor'],
    type: 'normal',
    time: 0.5,
    impulse: 2,
  } as unknown as RunEvent;
  expect(saying(event)).toBe('impact of ball and floor (normal) at t = 0.5 s, impulse 2 N s');
});
