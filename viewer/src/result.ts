// How the run ended: audit, notes, performance, and the bodies at the end.

import { element } from './dom';
import { count, full, short, vector, words } from './format';
import type { Timeline } from './timeline';

const STOPPED: Record<string, string> = {
  until: 'The run reached its end.',
  max_events: 'The run reached max_events.',
  paradox: 'The run stopped at a paradox, as requested.',
  interrupted: 'The run was stopped.',
};

/** What the run's counts and largest errors are called, where people want to know them; the rest is under "Details". */
const COUNTS: Record<string, string> = {
  events: 'events',
  impacts: 'impacts',
  grazes: 'grazes',
  holds: 'sustained contacts',
  wall_s: 'computed in (s)',
};
const ERRORS: Record<string, string> = {
  energy_error_max: 'energy, relative',
  linear_error_max: 'momentum, relative',
  angular_error_max: 'angular momentum, relative',
  gap_min: 'smallest gap (m)',
};

// A number with its name in the document; zero counts of what did not happen are left out.
function entry(list: HTMLElement, name: string, label: string, value: number, text: string): void {
  list.append(
    element('dt', {}, label),
    element('dd', { 'data-fact': name, 'data-value': full(value) }, text),
  );
}

export function showResult(place: HTMLElement, timeline: Timeline): void {
  const { header, ending } = timeline;
  const list = element('dl', { class: 'facts' });
  const fact = (name: string, text: string, value?: number | null): void => {
    list.append(
      element('dt', {}, name),
      element('dd', { 'data-fact': name, 'data-value': value === undefined ? undefined : full(value) }, text),
    );
  };
  place.replaceChildren(element('h2', {}, header.title));
  if (header.source !== null && header.source !== '')
    place.append(element('p', { class: 'hint' }, header.source));
  fact('bodies', count(header.bodies.length), header.bodies.length);
  fact('until', `${short(header.until)} s`, header.until);
  fact('sampling interval', `${short(header.sample)} s`, header.sample);
  fact('on a paradox', header.on_paradox);
  if (ending === null) {
    place.append(element('p', {}, 'The run is in progress.'), list);
    return;
  }
  place.append(
    element('p', { 'data-stopped': ending.stopped }, STOPPED[ending.stopped] ?? words(ending.stopped)),
  );
  const inner = element('dl', { class: 'facts' });
  for (const [name, value] of Object.entries(ending.performance)) {
    if (typeof value !== 'number') continue;
    const text = Number.isInteger(value) ? count(value) : short(value, 4);
    const label = COUNTS[name];
    if (label === undefined) entry(inner, words(name), words(name), value, text);
    else if (value !== 0) entry(list, words(name), label, value, text);
  }
  const audit = element('dl', { class: 'facts' });
  for (const [name, value] of Object.entries(ending.audit)) {
    if (typeof value !== 'number') continue;
    const text = Number.isInteger(value) ? count(value) : short(value, 3);
    const label = ERRORS[name];
    if (label === undefined) entry(inner, name, words(name), value, text);
    else entry(audit, name, label, value, text);
  }
  place.append(list, element('h2', {}, 'Audit: largest errors'), audit);
  place.append(element('details', {}, element('summary', {}, 'Details'), inner));
  if (ending.notes.length > 0) {
    place.append(
      element('h2', {}, 'Notes'),
      element('ul', { class: 'notes' }, ...ending.notes.map((note) => element('li', {}, note))),
    );
  }
  const final = Object.entries(ending.final ?? {}).slice(0, 40);
  if (final.length === 0) return;
  const body = element('tbody');
  for (const [name, state] of final) {
    body.append(
      element(
        'tr',
        { 'data-body': name },
        element('th', { scope: 'row' }, name),
        element('td', { 'data-value': JSON.stringify(state.position) }, vector(state.position)),
        element('td', { 'data-value': JSON.stringify(state.velocity) }, vector(state.velocity)),
      ),
    );
  }
  const head = element(
    'tr',
    {},
    ...['body', 'position', 'velocity'].map((name) => element('th', { scope: 'col' }, name)),
  );
  const table = element('table', {}, element('caption', {}, 'At the end'), element('thead', {}, head), body);
  place.append(
    element(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Bodies at the end' },
      table,
    ),
  );
}
