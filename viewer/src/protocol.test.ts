import { describe, expect, it } from 'vitest';
import { Decoder, frameBytes, type Message } from './protocol';

function chunk(kind: number, payload: Uint8Array): Uint8Array {
  const out = new Uint8Array(8 + payload.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, kind, true);
  view.setUint32(4, payload.length, true);
  out.set(payload, 8);
  return out;
}

function jsonChunk(kind: number, value: unknown): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(value));
  const padded = new Uint8Array(8 * Math.ceil(text.length / 8)).fill(32);
  padded.set(text);
  return chunk(kind, padded);
}

function joined(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const frames = new Float64Array(18).map((_, i) => i / 7);
const bytes = joined([
  jsonChunk(1, { title: 'Nähe', bodies: [] }),
  chunk(2, new Uint8Array(frames.buffer)),
  jsonChunk(3, { events: [{ number: 4 }] }),
  jsonChunk(99, { later: true }),
  jsonChunk(4, { time: 0.5 }),
  jsonChunk(5, { stopped: 'until' }),
]);

describe('the stream', () => {
  it('is the same however it is cut', () => {
    for (const size of [1, 3, 7, 8, 16, 61, bytes.length]) {
      const decoder = new Decoder();
      const messages: Message[] = [];
      for (let at = 0; at < bytes.length; at += size)
        messages.push(...decoder.push(bytes.slice(at, at + size)));
      expect(decoder.whole).toBe(true);
      expect(messages.map(({ kind }) => kind)).toEqual(['header', 'frames', 'events', 'progress', 'ending']);
      expect(messages[0]).toMatchObject({ header: { title: 'Nähe' } });
      const data = messages[1].kind === 'frames' ? messages[1].data : new ArrayBuffer(0);
      expect([...new Float64Array(data)]).toEqual([...frames]);
    }
  });

  it('is refused when a length is no multiple of eight', () => {
    const broken = chunk(3, new Uint8Array(8));
    new DataView(broken.buffer).setUint32(4, 7, true);
    expect(() => new Decoder().push(broken)).toThrow('broken');
  });

  it('knows that it was cut off', () => {
    const decoder = new Decoder();
    decoder.push(bytes.slice(0, bytes.length - 3));
    expect(decoder.whole).toBe(false);
  });

  it('has a title in any case, and an end that says little is still one', () => {
    const messages = new Decoder().push(
      joined([jsonChunk(1, { title: null }), jsonChunk(5, { stopped: 'interrupted' })]),
    );
    expect(messages[0]).toMatchObject({ header: { title: 'A scene without a title' } });
    expect(messages[1]).toMatchObject({ ending: { notes: [], audit: {}, final: {} } });
  });
});

it('frames are padded to eight bytes', () => {
  expect(frameBytes(1, 13)).toBe(72 + 56);
  expect(frameBytes(2, 13)).toBe(72 + 104);
  expect(frameBytes(1, 7)).toBe(72 + 32);
});
