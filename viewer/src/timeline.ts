// All that is known of a run: frames and events; and where every body is at any time between.
//
// The keyframes of a body are the frames and its own events. At an event the position is continuous and the velocity
// jumps: up to it the state before counts, from it the state after, and nothing is interpolated across.
//
// Where the events came without the states of their bodies, or did not come, bodies have collided between two frames and nothing
// may be interpolated. There the keyframes are those that the program repeats the run for (`Parts`); until they have come, and
// if they cannot come, bodies stay where the last frame has them.

import { pose, prepare, SEGMENT, STATE, velocity } from './interpolation';
import { type Keyframes, Parts } from './keyframes';
import { frameBytes, TOTALS } from './protocol';
import type { Ending, Header, Message, Progress, RunEvent, State, Vector } from './protocol';

/** Numbers that grow at the end. */
export class Series {
  private store = new Float64Array(64);
  length = 0;

  push(...values: number[]): void {
    if (this.length + values.length > this.store.length) {
      const larger = new Float64Array(2 * (this.length + values.length));
      larger.set(this.store.subarray(0, this.length));
      this.store = larger;
    }
    for (const value of values) this.store[this.length++] = value;
  }

  at(index: number): number {
    return this.store[index];
  }

  set(index: number, value: number): void {
    this.store[index] = value;
  }

  get data(): Float64Array {
    return this.store;
  }

  view(): Float64Array {
    return this.store.subarray(0, this.length);
  }

  /** How many are at most `value`, the series rising. */
  upTo(value: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.store[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A frame's bodies: where in which numbers they begin. */
interface Place {
  floats: Float32Array;
  at: number;
}

interface Bracket {
  last: number;
  here: Place;
  next: Place | null;
}

interface Chunk {
  first: number;
  floats: Float32Array;
}

// A body's events: times, and for each the state before and the state after.
class Jumps {
  times = new Series();
  states = new Series();
  last = -1;
}

function stateNumbers(state: State): number[] {
  return [...state.position, ...state.orientation, ...state.velocity, ...state.angular_velocity];
}

export class Timeline {
  readonly bodies: number;
  readonly floats: number;
  readonly times = new Series();
  readonly totals = new Series();
  readonly events: RunEvent[] = [];
  readonly eventTimes = new Series();
  progress: Progress | null = null;
  ending: Ending | null = null;
  largestImpulse = 0;
  /** Counts what was added, for those who draw it. */
  version = 0;
  /** Up to when the events have come with the states of their bodies. */
  completeUntil = Infinity;

  private readonly frameFloats: number;
  private readonly headFloats = 2 * (1 + TOTALS);
  private chunks: Chunk[] = [];
  private jumps: (Jumps | undefined)[];
  private parts = new Parts();
  // Prepared segments, one a body, and when each begins and ends.
  private segments: Float64Array;
  private from: Float64Array;
  private until: Float64Array;
  private widths: Uint8Array;
  private bracket: Bracket | null = null;

  constructor(readonly header: Header) {
    this.bodies = header.bodies.length;
    this.floats = header.floats_per_body;
    this.frameFloats = frameBytes(this.bodies, this.floats) / 4;
    this.jumps = new Array<Jumps | undefined>(this.bodies);
    this.widths = new Uint8Array(this.bodies);
    this.segments = new Float64Array(this.bodies * SEGMENT);
    this.from = new Float64Array(this.bodies).fill(Infinity);
    this.until = new Float64Array(this.bodies).fill(-Infinity);
  }

  /** Takes in what the stream brought; the header has made the timeline. */
  add(message: Message): void {
    switch (message.kind) {
      case 'frames':
        this.addFrames(message.data);
        break;
      case 'events':
        for (const event of message.events) this.addEvent(event);
        break;
      case 'progress':
        this.progress = message.progress;
        break;
      case 'ending':
        this.ending = message.ending;
        break;
      case 'complete':
        this.completeUntil = Math.min(this.completeUntil, message.until);
        break;
      case 'header':
        break;
    }
    this.from.fill(Infinity);
    this.bracket = null;
    this.version++;
  }

  private addFrames(data: ArrayBuffer): void {
    const bytes = 4 * this.frameFloats;
    const many = Math.floor(data.byteLength / bytes);
    if (many * bytes !== data.byteLength) throw new Error('the stream is broken: a frame is cut');
    const doubles = new Float64Array(data);
    const stride = bytes / 8;
    this.chunks.push({ first: this.times.length, floats: new Float32Array(data) });
    for (let i = 0; i < many; i++) {
      this.times.push(doubles[i * stride]);
      this.totals.push(...doubles.subarray(i * stride + 1, i * stride + 1 + TOTALS));
    }
  }

  private addEvent(event: RunEvent): void {
    for (const { body, before, after } of event.states ?? []) {
      const jumps = (this.jumps[body] ??= new Jumps());
      // Several contacts of one event repeat the states of their bodies.
      if (jumps.last === event.number) continue;
      jumps.last = event.number;
      jumps.times.push(event.time);
      jumps.states.push(...stateNumbers(before), ...stateNumbers(after));
    }
    delete event.states;
    this.events.push(event);
    this.eventTimes.push(event.time);
    if (event.kind === 'impact') this.largestImpulse = Math.max(this.largestImpulse, Math.abs(event.impulse));
  }

  /** Takes in the keyframes of a part of the run. */
  addPart(part: Keyframes): void {
    this.parts.add(part);
    this.from.fill(Infinity);
    this.version++;
  }

  /** The interval to ask for so that the bodies' places at a time are known; null if they are. */
  missing(t: number): [number, number] | null {
    if (t < this.completeUntil || !this.ready || this.parts.at(t) !== null) return null;
    const last = this.lastFrame(t);
    if (last + 1 >= this.times.length || this.times.at(last) === t) return null;
    return [t > this.times.at(last) ? this.askFrom(last, t) : this.times.at(last), this.times.at(last + 1)];
  }

  // What of the interval is known from its beginning on need not be asked for again.
  private askFrom(last: number, t: number): number {
    let from = this.times.at(last);
    for (let part = this.parts.at(from); part !== null && part.until <= t; part = this.parts.at(from))
      from = part.until;
    return from;
  }

  /** A time just after what is known from a time on without a break. */
  knownUntil(t: number): number {
    let until = t;
    for (let part = this.parts.at(t); part !== null; part = this.parts.at(until)) until = part.until;
    const frame = this.times.upTo(until);
    // At a frame nothing is missing, just after it something may be.
    return frame < this.times.length ? 0.5 * (until + this.times.at(frame)) : until;
  }

  /** From when on the motion up to a time is known without a break. */
  knownFrom(t: number): number {
    if (t < this.completeUntil) return this.start;
    const from = this.parts.knownFrom(t);
    return from <= this.completeUntil ? this.start : from;
  }

  /** The last time that is known. */
  get end(): number {
    const frame = this.times.length > 0 ? this.times.at(this.times.length - 1) : 0;
    const event = this.eventTimes.length > 0 ? this.eventTimes.at(this.eventTimes.length - 1) : 0;
    return Math.max(frame, event);
  }

  get start(): number {
    return this.times.length > 0 ? this.times.at(0) : 0;
  }

  get ready(): boolean {
    return this.times.length > 0;
  }

  private frame(index: number): Place {
    let low = 0;
    let high = this.chunks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.chunks[middle].first <= index) low = middle;
      else high = middle;
    }
    const chunk = this.chunks[low];
    return { floats: chunk.floats, at: (index - chunk.first) * this.frameFloats + this.headFloats };
  }

  // The frames around a time are looked up once for all bodies.
  private bracketAt(last: number): Bracket {
    if (this.bracket?.last !== last) {
      const next = last + 1 < this.times.length ? this.frame(last + 1) : null;
      this.bracket = { last, here: this.frame(last), next };
    }
    return this.bracket;
  }

  // The segment of a body that holds t: from the later of the last frame and the last event to the earlier of the next.
  private segment(body: number, t: number, last: number): void {
    if (t >= this.completeUntil) {
      this.repeated(body, t, last);
      return;
    }
    const jumps = this.jumps[body];
    const lastEvent = jumps === undefined ? -1 : jumps.times.upTo(t) - 1;
    const width = this.floats;
    let t0 = this.times.at(last);
    const { here, next } = this.bracketAt(last);
    let a: Float32Array | Float64Array = here.floats;
    let ai = here.at + body * width;
    if (jumps !== undefined && lastEvent >= 0 && jumps.times.at(lastEvent) >= t0) {
      t0 = jumps.times.at(lastEvent);
      a = jumps.states.data;
      ai = (2 * lastEvent + 1) * STATE;
    }
    let t1 = Infinity;
    let b = a;
    let bi = ai;
    if (next !== null) {
      t1 = this.times.at(last + 1);
      b = next.floats;
      bi = next.at + body * width;
    }
    if (jumps !== undefined && lastEvent + 1 < jumps.times.length && jumps.times.at(lastEvent + 1) <= t1) {
      t1 = jumps.times.at(lastEvent + 1);
      b = jumps.states.data;
      bi = 2 * (lastEvent + 1) * STATE;
    }
    this.put(body, width, t0, a, ai, t1, b, bi);
  }

  // Where the stream does not say what happened: from the part that holds t, or at rest where the last frame has the body.
  private repeated(body: number, t: number, last: number): void {
    const part = this.parts.at(t);
    const key = part?.at(body, t) ?? -1;
    if (part === null || key < 0) {
      const { here } = this.bracketAt(last);
      const at = here.at + body * this.floats;
      const t1 = last + 1 < this.times.length ? this.times.at(last + 1) : Infinity;
      this.put(body, 7, this.times.at(last), here.floats, at, t1, here.floats, at);
      return;
    }
    const { states, times } = part;
    const after = (2 * key + 1) * STATE;
    const ends = key + 1 >= part.first[body + 1];
    const t1 = ends ? part.until : times[key + 1];
    // Without a next key there is nowhere to go to.
    const next = ends ? after : 2 * (key + 1) * STATE;
    this.put(body, ends ? 7 : STATE, times[key], states, after, t1, states, next);
    this.until[body] = Math.min(t1, part.until);
  }

  private put(
    body: number,
    width: number,
    t0: number,
    a: Float32Array | Float64Array,
    ai: number,
    t1: number,
    b: Float32Array | Float64Array,
    bi: number,
  ): void {
    this.widths[body] = width;
    prepare(this.segments, body * SEGMENT, width, t0, a, ai, Number.isFinite(t1) ? t1 : t0, b, bi);
    this.from[body] = t0;
    this.until[body] = t1;
  }

  private lastFrame(t: number): number {
    return Math.max(0, this.times.upTo(t) - 1);
  }

  /** The poses of all bodies at time t, seven numbers each: position, quaternion wxyz. */
  poses(t: number, out: Float64Array): void {
    const last = this.lastFrame(t);
    for (let body = 0; body < this.bodies; body++) {
      if (!(t >= this.from[body] && t < this.until[body])) this.segment(body, t, last);
      pose(out, 7 * body, this.segments, SEGMENT * body, this.widths[body], t);
    }
  }

  /** The state of one body at time t: pose and velocity; the angular velocity is that of the keyframe before. */
  state(body: number, t: number): { pose: Float64Array; velocity: Float64Array } {
    if (!(t >= this.from[body] && t < this.until[body])) this.segment(body, t, this.lastFrame(t));
    const out = { pose: new Float64Array(7), velocity: new Float64Array(3) };
    pose(out.pose, 0, this.segments, SEGMENT * body, this.widths[body], t);
    velocity(out.velocity, 0, this.segments, SEGMENT * body, t);
    return out;
  }

  /** The positions of a body at rising times, three numbers each. */
  path(body: number, times: Float64Array, out: Float32Array): void {
    const kept = { from: this.from[body], until: this.until[body], width: this.widths[body] };
    const segment = this.segments.slice(body * SEGMENT, (body + 1) * SEGMENT);
    for (let i = 0; i < times.length; i++) {
      const t = times[i];
      if (!(t >= this.from[body] && t < this.until[body])) this.segment(body, t, this.lastFrame(t));
      pose(scratch, 0, this.segments, SEGMENT * body, this.widths[body], t);
      out[3 * i] = scratch[0];
      out[3 * i + 1] = scratch[1];
      out[3 * i + 2] = scratch[2];
    }
    this.segments.set(segment, body * SEGMENT);
    this.from[body] = kept.from;
    this.until[body] = kept.until;
    this.widths[body] = kept.width;
  }

  /** The angular velocity of a body at the keyframe at or before t; null where frames carry none. */
  spin(body: number, t: number): [number, number, number] | null {
    if (this.floats !== STATE || !this.ready) return null;
    const part = t >= this.completeUntil ? this.parts.at(t) : null;
    const key = part?.at(body, t) ?? -1;
    if (part !== null && key >= 0) {
      const at = (2 * key + 1) * STATE + 10;
      return [part.states[at], part.states[at + 1], part.states[at + 2]];
    }
    const last = this.lastFrame(t);
    const jumps = this.jumps[body];
    const event = jumps === undefined ? -1 : jumps.times.upTo(t) - 1;
    if (jumps !== undefined && event >= 0 && jumps.times.at(event) >= this.times.at(last)) {
      const at = (2 * event + 1) * STATE + 10;
      return [jumps.states.at(at), jumps.states.at(at + 1), jumps.states.at(at + 2)];
    }
    const { floats, at } = this.frame(last);
    const w = at + body * this.floats + 10;
    return [floats[w], floats[w + 1], floats[w + 2]];
  }

  /** A body's velocities at its keyframes from one time to another, before and after each; none without velocities. */
  velocities(body: number, from: number, until: number): { time: number; before: Vector; after: Vector }[] {
    if (this.floats !== STATE) return [];
    const keys: { time: number; before: Vector; after: Vector }[] = [];
    const jumps = this.jumps[body];
    let jump = 0;
    const put = (limit: number): void => {
      while (jumps !== undefined && jump < jumps.times.length && jumps.times.at(jump) <= limit) {
        const time = jumps.times.at(jump);
        const at = (i: number): number => jumps.states.at(2 * STATE * jump + i);
        if (time >= from) keys.push({ time, before: [at(7), at(8), at(9)], after: [at(20), at(21), at(22)] });
        jump++;
      }
    };
    const last = this.times.upTo(until);
    for (let i = Math.max(0, this.times.upTo(from) - 1); i < last; i++) {
      const time = this.times.at(i);
      put(time);
      if (time < from || keys[keys.length - 1]?.time === time) continue;
      const { floats, at } = this.frame(i);
      const v = at + body * this.floats + 7;
      const velocity: Vector = [floats[v], floats[v + 1], floats[v + 2]];
      keys.push({ time, before: velocity, after: velocity });
    }
    put(until);
    return keys;
  }

  /** The totals at the frame at or before t. */
  totalsAt(t: number): Float64Array {
    const at = this.lastFrame(t) * TOTALS;
    return this.totals.data.subarray(at, at + TOTALS);
  }

  /** The index of the first event after t; with `strict` false, at or after it. */
  eventAfter(t: number, strict = true): number {
    const index = this.eventTimes.upTo(t);
    if (strict) return index;
    let first = index;
    while (first > 0 && this.eventTimes.at(first - 1) === t) first--;
    return first;
  }

  /** The index of the first event of the last instant before t; −1 if there is none. */
  eventBefore(t: number): number {
    let index = this.eventAfter(t, false) - 1;
    while (index > 0 && this.eventTimes.at(index - 1) === this.eventTimes.at(index)) index--;
    return index;
  }
}

const scratch = new Float64Array(7);
