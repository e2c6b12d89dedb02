// The impact laws side by side on one event, as `carom compare` has them.

import { element } from './dom';
import { full, short, words } from './format';
import type { Comparison, LawOutcome } from './protocol';

const ORDER = ['newton_lcp', 'newton', 'poisson', 'sequential', 'reflection', 'decoupled'];

/** The laws in the order of the program's own table, others after them. */
export function lawOrder(laws: string[]): string[] {
  const place = (law: string): number => (ORDER.indexOf(law) + ORDER.length + 1) % (ORDER.length + 1);
  return [...laws].sort((a, b) => place(a) - place(b));
}

function remarks(outcome: LawOutcome): string {
  const said = [];
  if (!outcome.velocity_unique) said.push('velocities not unique');
  if (!outcome.impulse_unique) said.push('impulses not unique');
  if (!outcome.consistent) said.push('inconsistent');
  if (!outcome.admissible) said.push('not admissible');
  if (outcome.notes.some((note) => note.includes('not the one that the coefficient')))
    said.push('misses the restitution');
  return said.length === 0 ? 'unique, admissible' : said.join(', ');
}

/** A table: one row a law, with impulse and separation of each contact. */
export function lawTable(comparison: Comparison): HTMLElement {
  const number = (value: number | undefined, digits = 6): HTMLElement =>
    element('td', { class: 'number', 'data-value': full(value), title: full(value) }, short(value, digits));
  const head = element('tr', {}, element('th', { scope: 'col' }, 'law'));
  comparison.contacts.forEach((name) => {
    head.append(
      element('th', { scope: 'col' }, `impulse ${name}`),
      element('th', { scope: 'col' }, `separation ${name}`),
    );
  });
  head.append(element('th', { scope: 'col' }, 'energy change'), element('th', { scope: 'col' }, 'says'));
  const body = element('tbody');
  for (const law of lawOrder(Object.keys(comparison.laws))) {
    const outcome = comparison.laws[law];
    const row = element('tr', { 'data-law': law }, element('th', { scope: 'row' }, words(law)));
    comparison.contacts.forEach((_, i) =>
      row.append(number(outcome.impulse[i]), number(outcome.separation[i])),
    );
    const still = Math.abs(outcome.energy_change) <= 1e-12 * Math.abs(outcome.energy_before);
    row.append(
      element(
        'td',
        { class: 'number', 'data-value': full(outcome.energy_change) },
        still ? '~0' : short(outcome.energy_change, 5),
      ),
      element('td', { class: 'says' }, remarks(outcome)),
    );
    body.append(row);
  }
  const table = element(
    'table',
    { class: 'laws' },
    element('caption', {}, 'Every law on this impact'),
    element('thead', {}, head),
    body,
  );
  const notes = new Set(Object.values(comparison.laws).flatMap((outcome) => outcome.notes));
  const list = element('ul', { class: 'notes' }, ...[...notes].map((note) => element('li', {}, note)));
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Laws compared' },
    table,
    notes.size > 0 ? list : null,
  );
}
