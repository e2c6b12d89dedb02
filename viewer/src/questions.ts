// What the page and its worker say to each other; the questions are those of crates/carom-wasm/src/desk.rs.

import type { RunRequest } from './protocol';

export type Question =
  | { ask: 'start' }
  | { ask: 'check'; text: string }
  | { ask: 'begin'; request: RunRequest }
  | { ask: 'advance'; id: number; steps: number; wall_s: number }
  | { ask: 'stop'; id: number; wall_s: number }
  | { ask: 'chunks'; id: number; from: number }
  | { ask: 'keyframes'; id: number; from: number; until: number }
  | { ask: 'gap'; id: number; event: number; span: number; points: number }
  | { ask: 'compare' | 'classify'; id: number; event: number }
  | { ask: 'document'; id: number };

/** What the page sends: the address of the engine first, then questions with their numbers. */
export type ToWorker = { engine: string } | { number: number; question: Question };

/** What the worker sends: answers, the number of a run that has gone on, or why it is at an end. */
export type FromWorker =
  { number: number; status: number; more: boolean; body: ArrayBuffer } | { news: number } | { fatal: string };
