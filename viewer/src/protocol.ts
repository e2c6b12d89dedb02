// What the program and the page say to each other: JSON documents, and for a run one stream of chunks.
//
// A chunk is u32 kind, u32 length of the payload in bytes (a multiple of 8), payload; all little-endian.

export type Vector = [number, number, number];
export type Quaternion = [number, number, number, number];

export interface Diagnostic {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  path: string | null;
  message: string;
  expected: string | null;
}

export interface GalleryEntry {
  id: string;
  title: string;
  point: string;
  text: string;
}

export type Opening =
  | { kind: 'gallery' }
  | { kind: 'scene'; name: string; text: string }
  | { kind: 'run'; name: string; text: string; id: number };

export interface Start {
  version: string;
  gallery: GalleryEntry[];
  open: Opening;
}

export type Check =
  | { ok: true; title: string | null; bodies: number; warnings: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

export type OnParadox = 'hold' | 'pass' | 'stop';

export interface RunRequest {
  text: string;
  until?: number;
  sample?: number;
  max_events?: number;
  on_paradox?: OnParadox;
}

export interface Shape {
  kind:
    | 'sphere'
    | 'ellipsoid'
    | 'superellipsoid'
    | 'point'
    | 'box'
    | 'cylinder'
    | 'capsule'
    | 'cone'
    | 'disc'
    | 'polyhedron';
  /** Of bodies with flats and edges half their extents, rounding included. */
  semi_axes: Vector;
  exponent: number;
  /** The radius of the ball that a body with flats and edges is grown by. */
  rounding?: number;
  /** z of the base of a cone. */
  base?: number;
  /** Of a polyhedron: its corners, and its faces as lists of them, counterclockwise from outside. */
  vertices?: Vector[];
  faces?: number[][];
}

export interface Body {
  name: string;
  fixed: boolean;
  mass: number;
  inertia: Vector;
  shape: Shape;
}

export interface Plane {
  name: string;
  normal: Vector;
  offset: number;
}

export interface Header {
  title: string;
  source: string | null;
  text: string;
  until: number;
  sample: number;
  /** Whether the program can say what happened between two samples. */
  repeatable: boolean;
  on_paradox: OnParadox;
  gravity: Vector;
  periodic: Vector | null;
  floats_per_body: number;
  bodies: Body[];
  planes: Plane[];
  joints: { name: string; bodies: string[] }[];
}

export interface State {
  position: Vector;
  orientation: Quaternion;
  velocity: Vector;
  angular_velocity: Vector;
}

export interface RunEvent {
  number: number;
  time: number;
  time_error: number;
  kind: string;
  bodies: [string, string];
  image: Vector | null;
  point: Vector;
  normal: Vector;
  gap: number;
  approach: number;
  separation: number;
  impulse: number;
  impulse_vector: Vector;
  type: string;
  g2: number | null;
  g3: number | null;
  force_slope: number | null;
  energy_before: number;
  energy_after: number;
  states?: { body: number; before: State; after: State }[];
}

export interface Progress {
  time: number;
  events: number;
  impacts: number;
  wall_s: number;
}

/** A mean with its standard error; both null where nothing could be measured. */
export interface Estimate {
  mean: number | null;
  error: number | null;
}

/** A function of the lag. */
export interface LagCurve {
  time: number[];
  value: number[];
  diffusion: number | null;
}

/** Averages of a gas: estimates by name, and curves. */
export interface Observables {
  g_r: { r: number[]; g: number[] } | null;
  msd: LagCurve;
  vacf: LagCurve;
  [estimate: string]: unknown;
}

export interface Ending {
  stopped: string;
  notes: string[];
  audit: Record<string, unknown>;
  performance: Record<string, number>;
  final: Record<string, State>;
  observables?: Observables | null;
  error?: string | null;
}

export interface GapCurve {
  pair: [string, string];
  times: number[];
  gap: (number | null)[];
  free: (number | null)[];
}

export interface LawOutcome {
  bodies: Record<string, [Vector, Vector]>;
  approach: number[];
  separation: number[];
  impulse: number[];
  energy_before: number;
  energy_after: number;
  energy_change: number;
  velocity_unique: boolean;
  impulse_unique: boolean;
  consistent: boolean;
  admissible: boolean;
  steps: number;
  notes: string[];
}

export interface Comparison {
  title: string;
  contacts: string[];
  laws: Record<string, LawOutcome>;
}

export interface Classification {
  contact: Record<string, unknown>;
  svg: string | null;
}

export type Message =
  | { kind: 'header'; header: Header }
  | { kind: 'frames'; data: ArrayBuffer }
  | { kind: 'events'; events: RunEvent[] }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'complete'; until: number }
  | { kind: 'ending'; ending: Ending };

/** Numbers before the bodies in a frame: the time, then the totals. */
export const TOTALS = 8;

/** Bytes of a frame: time and totals in f64, the bodies in f32, padded to 8. */
export function frameBytes(bodies: number, floatsPerBody: number): number {
  return 8 * (1 + TOTALS) + 8 * Math.ceil((4 * bodies * floatsPerBody) / 8);
}

// A chunk that says that it is longer than this is not one of the program's.
const LONGEST = 1 << 30;

/** Cuts a stream of bytes, arriving in any pieces, into messages. */
export class Decoder {
  private pieces: Uint8Array[] = [];
  private held = 0;

  /** Takes the next bytes, gives the messages that are whole by now. */
  push(bytes: Uint8Array): Message[] {
    this.pieces.push(bytes);
    this.held += bytes.length;
    const messages: Message[] = [];
    for (;;) {
      const head = this.peek(8);
      if (head === null) break;
      const view = new DataView(head.buffer, head.byteOffset, 8);
      const kind = view.getUint32(0, true);
      const length = view.getUint32(4, true);
      if (length % 8 !== 0 || length > LONGEST)
        throw new Error(`the stream is broken: a chunk of ${length} bytes`);
      if (this.held < 8 + length) break;
      this.take(8);
      const message = read(kind, this.take(length));
      if (message !== null) messages.push(message);
    }
    return messages;
  }

  /** Whether the stream ended between two chunks. */
  get whole(): boolean {
    return this.held === 0;
  }

  private peek(length: number): Uint8Array | null {
    if (this.held < length) return null;
    const first = this.pieces[0];
    if (first !== undefined && first.length >= length) return first;
    const joined = this.take(length);
    this.pieces.unshift(joined);
    this.held += joined.length;
    return joined;
  }

  // Bytes of their own, at an address that typed arrays of f64 accept.
  private take(length: number): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      const first = this.pieces[0];
      if (first === undefined) throw new Error('the stream is broken: bytes are missing');
      const used = Math.min(first.length, length - filled);
      taken.set(first.subarray(0, used), filled);
      filled += used;
      if (used === first.length) this.pieces.shift();
      else this.pieces[0] = first.subarray(used);
    }
    this.held -= length;
    return taken;
  }
}

// Kinds that a later program may add are passed over.
function read(kind: number, payload: Uint8Array<ArrayBuffer>): Message | null {
  switch (kind) {
    case 1:
      return { kind: 'header', header: titled(json<Header>(payload)) };
    case 2:
      return { kind: 'frames', data: payload.buffer };
    case 3:
      return { kind: 'events', events: json<{ events: RunEvent[] }>(payload).events };
    case 4:
      return { kind: 'progress', progress: json<Progress>(payload) };
    case 5:
      return { kind: 'ending', ending: { ...NOTHING, ...json<Partial<Ending>>(payload) } };
    case 7:
      return { kind: 'complete', until: json<{ until: number }>(payload).until };
    default:
      return null;
  }
}

// A run that was cut off ends without much to say.
const NOTHING: Ending = { stopped: 'interrupted', notes: [], audit: {}, performance: {}, final: {} };

function titled(header: Header): Header {
  return { ...header, title: header.title ?? 'A scene without a title' };
}

function json<T>(payload: Uint8Array): T {
  return JSON.parse(new TextDecoder().decode(payload)) as T;
}
