// The answers to the page's questions, from whoever the page was made for: `data-engine` of its root says who.

import { server } from './server';
import { worker } from './worker';

export { Refusal } from './provider';

const provider = globalThis.document?.documentElement.dataset['engine'] === 'worker' ? worker : server;

export const {
  lasting,
  start,
  check,
  begin,
  stream,
  stop,
  cancel,
  keyframes,
  gap,
  compare,
  classify,
  runDocument,
} = provider;
