// The table of events. Only the rows in view exist, so that a hundred thousand cost no more than twenty.

import { element, part } from './dom';
import { count, full, short, words } from './format';
import type { RunEvent } from './protocol';
import type { Timeline } from './timeline';

const ROW = 30;
const SPARE = 6;

/** Whether an event has the kind asked for and every word of the filter somewhere in its row. */
export function matches(event: RunEvent, kind: string, filter: string): boolean {
  if (kind !== '' && event.kind !== kind) return false;
  if (filter === '') return true;
  const row = `${event.number} ${event.kind} ${event.bodies.join(' ')} ${event.type}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => row.includes(word) || row.replaceAll('_', ' ').includes(word));
}

export class EventTable {
  private body = part('event-rows');
  private spacer = element('div', { class: 'spacer', role: 'presentation' });
  private filter = part<HTMLInputElement>('event-filter');
  private kind = part<HTMLSelectElement>('event-kind');
  private tally = part('event-count');
  private timeline: Timeline | null = null;
  private shown: number[] = [];
  private scanned = 0;
  private kinds = new Set<string>();
  private chosen = -1;
  private first = -1;
  private last = -1;

  constructor(private readonly choose: (index: number) => void) {
    this.body.append(this.spacer);
    this.body.addEventListener('scroll', () => this.draw(false));
    new ResizeObserver(() => this.draw(true)).observe(this.body);
    this.filter.addEventListener('input', () => this.refilter());
    this.kind.addEventListener('change', () => this.refilter());
    this.body.addEventListener('click', (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]');
      if (row !== null) this.choose(Number(row.dataset['index']));
    });
    this.body.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
      if (event.key === 'Enter') (event.target as HTMLElement).click();
      if (step === undefined || this.shown.length === 0) return;
      event.preventDefault();
      event.stopPropagation();
      const at = this.shown.indexOf(this.chosen);
      const next = Math.min(this.shown.length - 1, Math.max(0, (at < 0 ? -1 : at) + step));
      this.choose(this.shown[next]);
    });
  }

  load(timeline: Timeline): void {
    this.timeline = timeline;
    this.kinds.clear();
    this.kind.replaceChildren(element('option', { value: '' }, 'every kind'));
    this.filter.value = '';
    this.chosen = -1;
    this.refilter();
  }

  private refilter(): void {
    this.shown = [];
    this.scanned = 0;
    this.body.scrollTop = 0;
    this.update(true);
  }

  /** Takes in events that came since. */
  update(again = false): void {
    const events = this.timeline?.events ?? [];
    if (!again && this.scanned === events.length) return;
    const filter = this.filter.value.trim();
    for (; this.scanned < events.length; this.scanned++) {
      const event = events[this.scanned];
      if (!this.kinds.has(event.kind)) {
        this.kinds.add(event.kind);
        this.kind.append(element('option', { value: event.kind }, words(event.kind)));
      }
      if (matches(event, this.kind.value, filter)) this.shown.push(this.scanned);
    }
    this.tally.textContent = `${this.shown.length === events.length ? '' : `${count(this.shown.length)} of `}${count(events.length)} ${events.length === 1 ? 'row' : 'rows'}`;
    part('event-table').setAttribute('aria-rowcount', String(this.shown.length + 1));
    this.spacer.style.height = `${this.shown.length * ROW}px`;
    part('no-events').hidden = events.length > 0;
    this.draw(true);
  }

  /** Marks an event and brings it into view. */
  mark(index: number): void {
    this.chosen = index;
    const at = this.shown.indexOf(index);
    if (at >= 0) {
      const top = at * ROW;
      if (top < this.body.scrollTop) this.body.scrollTop = top;
      else if (top + ROW > this.body.scrollTop + this.body.clientHeight) {
        this.body.scrollTop = top + ROW - this.body.clientHeight;
      }
    }
    this.draw(true);
  }

  private draw(again: boolean): void {
    const height = this.body.clientHeight;
    if (height === 0) return;
    const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - SPARE);
    const last = Math.min(this.shown.length, Math.ceil((this.body.scrollTop + height) / ROW) + SPARE);
    if (!again && first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    const rows: HTMLElement[] = [];
    for (let i = first; i < last; i++) rows.push(this.row(i));
    // One row at a time can be tabbed to: the chosen one if it is there, else the first in view.
    const inView = Math.min(Math.ceil(this.body.scrollTop / ROW), this.shown.length - 1) - first;
    const tabbed = rows.find((row) => row.dataset['index'] === String(this.chosen)) ?? rows[inView];
    if (tabbed !== undefined) tabbed.tabIndex = 0;
    const focused = this.spacer.contains(document.activeElement);
    this.spacer.replaceChildren(...rows);
    if (focused) tabbed?.focus({ preventScroll: true });
  }

  private row(at: number): HTMLElement {
    const index = this.shown[at];
    const event = (this.timeline as Timeline).events[index];
    const change = event.energy_after - event.energy_before;
    const small = Math.abs(change) < 1e-12 * Math.abs(event.energy_before);
    const cell = (name: string, text: string, value?: number): HTMLElement =>
      element(
        'span',
        {
          role: 'gridcell',
          class: name,
          'data-value': value === undefined ? undefined : full(value),
          title: value === undefined ? text : full(value),
        },
        text,
      );
    const row = element(
      'div',
      {
        role: 'row',
        id: `event-${index}`,
        'aria-rowindex': at + 2,
        'aria-selected': index === this.chosen ? 'true' : 'false',
        'data-index': index,
        'data-kind': event.kind,
        tabindex: -1,
      },
      cell('number', String(event.number)),
      cell('time', short(event.time, 10), event.time),
      cell('kind', words(event.kind)),
      cell('bodies', event.bodies.join(' · ')),
      cell('type', words(event.type)),
      cell('impulse', event.impulse === 0 ? '–' : short(event.impulse, 4), event.impulse),
      cell('energy', small ? '0' : short(change, 3), change),
    );
    row.style.transform = `translateY(${at * ROW}px)`;
    return row;
  }
}
