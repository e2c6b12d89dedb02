// The motion of all bodies over a part of a run, keyframe by keyframe: what the program repeats for the page where samples do not say
// what happened between them.

import { STATE } from './interpolation';

/** A part of a run: the keys of body i are those from `first[i]` to `first[i + 1]`; each has a state before and a state after. */
export class Keyframes {
  readonly from: number;
  readonly until: number;
  readonly first: Uint32Array;
  readonly times: Float64Array;
  readonly states: Float32Array;
  readonly bytes: number;

  constructor(data: ArrayBuffer, bodies: number) {
    const head = new Float64Array(data, 0, 2);
    [this.from, this.until] = [head[0], head[1]];
    const counts = new Uint32Array(data, 16, bodies);
    this.first = new Uint32Array(bodies + 1);
    for (let i = 0; i < bodies; i++) this.first[i + 1] = this.first[i] + counts[i];
    const keys = this.first[bodies];
    const times = 16 + 8 * Math.ceil(bodies / 2);
    if (data.byteLength < times + (8 + 8 * STATE) * keys)
      throw new Error('the answer is broken: keyframes are missing');
    this.times = new Float64Array(data, times, keys);
    this.states = new Float32Array(data, times + 8 * keys, 2 * STATE * keys);
    this.bytes = data.byteLength;
  }

  /** The last key of a body at or before a time; −1 if there is none. */
  at(body: number, t: number): number {
    let low = this.first[body];
    let high = this.first[body + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= t) low = middle + 1;
      else high = middle;
    }
    return low > this.first[body] ? low - 1 : -1;
  }
}

// As much of a run is kept as fits, and in any case the part before the one that is watched and the one after.
const MOST_BYTES = 96e6;

/** The parts of a run that have been asked for, in the order of time. */
export class Parts {
  private all: Keyframes[] = [];
  private recent: Keyframes | null = null;

  /** The part that a time lies in. */
  at(t: number): Keyframes | null {
    if (this.recent !== null && this.recent.from <= t && t < this.recent.until) return this.recent;
    const found = this.all.find((part) => part.from <= t && t < part.until) ?? null;
    if (found !== null) this.recent = found;
    return found;
  }

  /** Adds a part; those farthest from it are forgotten when there is too much. */
  add(part: Keyframes): void {
    if (!(part.until > part.from)) return;
    this.all = this.all.filter(({ from, until }) => until <= part.from || from >= part.until);
    this.all.push(part);
    this.all.sort((a, b) => a.from - b.from);
    const distance = (other: Keyframes): number =>
      Math.max(other.from - part.until, part.from - other.until, 0);
    while (this.all.length > 3 && this.all.reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES) {
      const farthest = this.all.reduce((a, b) => (distance(b) > distance(a) ? b : a));
      this.all.splice(this.all.indexOf(farthest), 1);
    }
    this.recent = null;
  }

  /** From when on everything up to a time is known without a break. */
  knownFrom(t: number): number {
    let part = this.at(t);
    let known = t;
    while (part !== null) {
      known = part.from;
      const before = this.all[this.all.indexOf(part) - 1];
      part = before !== undefined && before.until >= known ? before : null;
    }
    return known;
  }
}
