// The engine in the browser: the same questions as to the program, put to a worker.

import { Decoder } from './protocol';
import type { Message } from './protocol';
import { type Provider, Refusal } from './provider';
import type { FromWorker, Question, ToWorker } from './questions';

interface Answer {
  status: number;
  more: boolean;
  body: ArrayBuffer;
}

/** Counts the chunks in some bytes. */
export function chunksIn(body: ArrayBuffer): number {
  const view = new DataView(body);
  let count = 0;
  for (let at = 0; at + 8 <= body.byteLength; at += 8 + view.getUint32(at + 4, true)) count++;
  return count;
}

class Desk {
  private worker: Worker | null = null;
  private asked = 0;
  private pending = new Map<number, { done: (answer: Answer) => void; failed: (error: Error) => void }>();
  private listeners = new Map<number, Set<() => void>>();

  private get there(): Worker {
    if (this.worker !== null) return this.worker;
    const worker = new Worker(new URL('./engine.worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.hear(data);
    worker.onerror = (event) => this.hear({ fatal: event.message });
    worker.postMessage({ engine: new URL('engine.wasm', document.baseURI).href } satisfies ToWorker);
    this.worker = worker;
    return worker;
  }

  private hear(message: FromWorker): void {
    if ('news' in message) {
      this.wake(message.news);
      return;
    }
    if ('fatal' in message) {
      // A fresh one is made for the next question; the runs of this one are gone.
      this.worker?.terminate();
      this.worker = null;
      const error = new Refusal(
        `The engine ended: ${message.fatal}. It starts again with the next run.`,
        500,
      );
      for (const { failed } of this.pending.values()) failed(error);
      this.pending.clear();
      for (const id of this.listeners.keys()) this.wake(id);
      return;
    }
    this.pending.get(message.number)?.done(message);
    this.pending.delete(message.number);
  }

  /** Ends the worker, with its runs; a fresh one is made for the next question. */
  end(why: string): void {
    this.worker?.terminate();
    this.worker = null;
    const error = new Refusal(why, 500);
    for (const { failed } of this.pending.values()) failed(error);
    this.pending.clear();
    for (const id of this.listeners.keys()) this.wake(id);
  }

  private wake(id: number): void {
    for (const listener of this.listeners.get(id) ?? []) listener();
  }

  async ask(question: Question): Promise<Answer> {
    const number = ++this.asked;
    const answer = await new Promise<Answer>((done, failed) => {
      this.pending.set(number, { done, failed });
      this.there.postMessage({ number, question } satisfies ToWorker);
    });
    if (answer.status < 300) return answer;
    throw Refusal.of(answer.status, JSON.parse(new TextDecoder().decode(answer.body)));
  }

  async json<T>(question: Question): Promise<T> {
    return JSON.parse(new TextDecoder().decode((await this.ask(question)).body)) as T;
  }

  /** Waits until a run has gone on, or the signal comes. */
  news(id: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const listeners = this.listeners.get(id) ?? new Set();
      this.listeners.set(id, listeners);
      const end = (): void => {
        listeners.delete(end);
        signal.removeEventListener('abort', end);
        done();
      };
      listeners.add(end);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }
}

const desk = new Desk();

async function* stream(run: string, signal: AbortSignal): AsyncGenerator<Message[]> {
  const id = Number(run);
  const decoder = new Decoder();
  let from = 0;
  let more = true;
  while (more && !signal.aborted) {
    // Asked for before the chunks are, so that no news is missed in between.
    const news = desk.news(id, signal);
    const answer = await desk.ask({ ask: 'chunks', id, from });
    more = answer.more;
    if (answer.body.byteLength > 0) {
      from += chunksIn(answer.body);
      yield decoder.push(new Uint8Array(answer.body));
    } else if (more) await news;
  }
  // Nobody else can watch it here.
  if (more) await desk.ask({ ask: 'stop', id, wall_s: 0 });
}

export const worker: Provider = {
  lasting: false,
  start: () => desk.json({ ask: 'start' }),
  check: async (text, signal) => {
    const checked = await desk.json<Awaited<ReturnType<Provider['check']>>>({ ask: 'check', text });
    signal.throwIfAborted();
    return checked;
  },
  begin: async (request) => String((await desk.json<{ id: number }>({ ask: 'begin', request })).id),
  stream,
  stop: async (id) => void (await desk.ask({ ask: 'stop', id: Number(id), wall_s: 0 })),
  cancel: () => {
    desk.end('Stopped.');
    return true;
  },
  keyframes: async (id, from, until) =>
    (await desk.ask({ ask: 'keyframes', id: Number(id), from, until })).body.slice(8),
  gap: (id, event, span, points) => desk.json({ ask: 'gap', id: Number(id), event, span, points }),
  compare: (id, event) => desk.json({ ask: 'compare', id: Number(id), event }),
  classify: (id, event) => desk.json({ ask: 'classify', id: Number(id), event }),
  runDocument: async (id) =>
    new Blob([(await desk.ask({ ask: 'document', id: Number(id) })).body], { type: 'application/json' }),
};
