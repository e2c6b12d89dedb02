// The program's addresses, all below the page's own.

import { Decoder } from './protocol';
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
}

async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal('The program does not answer. Is carom view still running?', 0);
  }
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => ({}));
  const { error, diagnostics } = body as { error?: string; diagnostics?: Diagnostic[] };
  const first = diagnostics?.[0]?.message;
  throw new Refusal(
    error ?? first ?? `The program answered ${response.status}.`,
    response.status,
    diagnostics ?? [],
  );
}

async function get<T>(path: string): Promise<T> {
  return (await ask(path)).json() as Promise<T>;
}

const run = (id: string): string => `api/runs/${encodeURIComponent(id)}`;

export const start = (): Promise<Start> => get<Start>('api/start');

export async function check(text: string, signal: AbortSignal): Promise<Check> {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  return (await ask('api/check', { method: 'POST', body: text, headers, signal })).json() as Promise<Check>;
}

/** Starts a run and gives its id. */
export async function begin(request: RunRequest): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await ask('api/runs', { method: 'POST', body: JSON.stringify(request), headers });
  return String(((await response.json()) as { id: number }).id);
}

/** The messages of a run, from its first, until it ends or the signal says enough. */
export async function* stream(id: string, signal: AbortSignal): AsyncGenerator<Message[]> {
  const response = await ask(`${run(id)}/stream`, { signal });
  if (response.body === null) throw new Refusal('The program sent no stream.', response.status);
  const reader = response.body.getReader();
  const decoder = new Decoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const messages = decoder.push(value);
    if (messages.length > 0) yield messages;
  }
  if (!decoder.whole) throw new Refusal('The connection was interrupted.', response.status);
}

export async function stop(id: string): Promise<void> {
  await ask(`${run(id)}/stop`, { method: 'POST' });
}

export function gap(id: string, event: number, span: number, points: number): Promise<GapCurve> {
  return get<GapCurve>(`${run(id)}/gap?event=${event}&span=${span}&points=${points}`);
}

export const compare = (id: string, event: number): Promise<Comparison> =>
  get<Comparison>(`${run(id)}/compare?event=${event}`);

export const classify = (id: string, event: number): Promise<Classification> =>
  get<Classification>(`${run(id)}/classify?event=${event}`);

export async function runDocument(id: string): Promise<Blob> {
  return (await ask(`${run(id)}/document`)).blob();
}
