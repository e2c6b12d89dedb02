// The engine as WebAssembly. Questions are answered in their order; runs in progress go on in short slices between them, so that none
// has to wait and any run can be stopped.

import type { FromWorker, Question, ToWorker } from './questions';

interface Engine {
  memory: WebAssembly.Memory;
  carom_room(length: number): number;
  carom_ask(): number;
  carom_answer(): number;
}

interface Answer {
  status: number;
  more: boolean;
  body: ArrayBuffer;
}

/** How long a slice may take, in milliseconds, and how many steps it can have at most. */
const SLICE = 30;
const MOST_STEPS = 1 << 16;

interface Going {
  began: number;
  steps: number;
}

let engine: Engine | null = null;
let ended = false;
const waiting: { number: number; question: Question }[] = [];
const going = new Map<number, Going>();
const channel = new MessageChannel();

const send = (message: FromWorker, transfer: Transferable[] = []): void =>
  (self as unknown as Worker).postMessage(message, transfer);

function ask(question: Question): Answer {
  if (engine === null) throw new Error('the engine is not there');
  const text = new TextEncoder().encode(JSON.stringify(question));
  const room = engine.carom_room(text.length);
  new Uint8Array(engine.memory.buffer, room, text.length).set(text);
  const length = engine.carom_ask();
  // The memory may have grown, and its old buffer is gone then.
  const bytes = new Uint8Array(engine.memory.buffer, engine.carom_answer(), length).slice();
  const head = new DataView(bytes.buffer, 0, 8);
  return {
    status: head.getUint32(0, true),
    more: head.getUint32(4, true) === 1,
    body: bytes.buffer.slice(8),
  };
}

// Nothing can be said of the engine's memory after it has trapped.
function fail(error: unknown): void {
  ended = true;
  going.clear();
  send({ fatal: error instanceof Error ? error.message : String(error) });
}

function answer(number: number, question: Question): void {
  if (ended) return;
  try {
    const asked =
      question.ask === 'stop' ? { ...question, wall_s: seconds(going.get(question.id)?.began) } : question;
    const { status, more, body } = ask(asked);
    if (question.ask === 'begin' && status === 201) {
      const { id } = JSON.parse(new TextDecoder().decode(body)) as { id: number };
      going.set(id, { began: performance.now(), steps: 1 });
      channel.port2.postMessage(null);
    }
    if (question.ask === 'stop') {
      going.delete(question.id);
      send({ news: question.id });
    }
    send({ number, status, more, body }, [body]);
  } catch (error) {
    fail(error);
  }
}

const seconds = (began: number | undefined): number =>
  began === undefined ? 0 : (performance.now() - began) / 1000;

// One slice for each run in progress.
function turn(): void {
  if (ended || going.size === 0) return;
  try {
    for (const [id, run] of going) {
      const begun = performance.now();
      const { more } = ask({ ask: 'advance', id, steps: run.steps, wall_s: seconds(run.began) });
      const took = performance.now() - begun;
      if (took < 0.5 * SLICE) run.steps = Math.min(MOST_STEPS, 2 * run.steps);
      if (took > 2 * SLICE) run.steps = Math.max(1, run.steps >> 1);
      if (!more) going.delete(id);
      send({ news: id });
    }
  } catch (error) {
    fail(error);
  }
  channel.port2.postMessage(null);
}

channel.port1.onmessage = turn;

async function load(address: string): Promise<void> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the engine could not be loaded: ${address} answered ${response.status}`);
  const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), {});
  engine = instance.exports as unknown as Engine;
  for (const { number, question } of waiting.splice(0)) answer(number, question);
}

self.onmessage = ({ data }: MessageEvent<ToWorker>): void => {
  if ('engine' in data) load(data.engine).catch(fail);
  else if (engine === null) waiting.push(data);
  else answer(data.number, data.question);
};
