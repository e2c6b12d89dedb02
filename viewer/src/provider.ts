// Who answers the page's questions: the program that serves it, or the same answers compiled for the browser, in a worker.

import type {
  Check,
  Classification,
  Comparison,
  Diagnostic,
  GapCurve,
  Message,
  RunRequest,
  Start,
} from './protocol';

/** An answer that is not the one asked for, in the program's words. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly diagnostics: Diagnostic[] = [],
  ) {
    super(message);
  }

  /** What the body of an answer says, or just its status. */
  static of(status: number, body: unknown): Refusal {
    const { error, diagnostics } = (body ?? {}) as { error?: string; diagnostics?: Diagnostic[] };
    const message = error ?? diagnostics?.[0]?.message ?? `The program answered ${status}.`;
    return new Refusal(message, status, diagnostics ?? []);
  }
}

export interface Provider {
  /** Whether runs outlast the page: an address may then name one. */
  readonly lasting: boolean;
  start(): Promise<Start>;
  check(text: string, signal: AbortSignal): Promise<Check>;
  /** Starts a run and gives its id. */
  begin(request: RunRequest): Promise<string>;
  /** The messages of a run, from its first, until it ends or the signal says enough. */
  stream(id: string, signal: AbortSignal): AsyncGenerator<Message[]>;
  stop(id: string): Promise<void>;
  /** Gives up what is being started, if that is possible. */
  cancel(): boolean;
  /** The keyframes from one time to another, or as far as one answer goes; without the head of the chunk. */
  keyframes(id: string, from: number, until: number): Promise<ArrayBuffer>;
  gap(id: string, event: number, span: number, points: number): Promise<GapCurve>;
  compare(id: string, event: number): Promise<Comparison>;
  classify(id: string, event: number): Promise<Classification>;
  runDocument(id: string): Promise<Blob>;
}
