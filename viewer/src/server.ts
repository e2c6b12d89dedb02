// The program's addresses, all below the page's own.

import { Decoder } from './protocol';
import type { Message, RunRequest } from './protocol';
import { type Provider, Refusal } from './provider';

async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal('The program does not answer. Is carom view still running?', 0);
  }
  if (response.ok) return response;
  throw Refusal.of(response.status, await response.json().catch(() => ({})));
}

async function get<T>(path: string, options: RequestInit = {}): Promise<T> {
  return (await ask(path, options)).json() as Promise<T>;
}

const post = (type: string, body: string): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'Content-Type': type },
});

const run = (id: string): string => `api/runs/${encodeURIComponent(id)}`;

async function* stream(id: string, signal: AbortSignal): AsyncGenerator<Message[]> {
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

export const server: Provider = {
  lasting: true,
  start: () => get('api/start'),
  check: (text, signal) => get('api/check', { ...post('text/plain; charset=utf-8', text), signal }),
  begin: async (request: RunRequest) =>
    String((await get<{ id: number }>('api/runs', post('application/json', JSON.stringify(request)))).id),
  stream,
  stop: async (id) => void (await ask(`${run(id)}/stop`, { method: 'POST' })),
  // Bodies that are being placed are placed to the end.
  cancel: () => false,
  keyframes: async (id, from, until) =>
    (await (await ask(`${run(id)}/keyframes?from=${from}&until=${until}`)).arrayBuffer()).slice(8),
  gap: (id, event, span, points) => get(`${run(id)}/gap?event=${event}&span=${span}&points=${points}`),
  compare: (id, event) => get(`${run(id)}/compare?event=${event}`),
  classify: (id, event) => get(`${run(id)}/classify?event=${event}`),
  runDocument: async (id) => (await ask(`${run(id)}/document`)).blob(),
};
