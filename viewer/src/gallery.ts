// The gallery: a card for each scene, with a picture of its start.

import { element, part } from './dom';
import type { GalleryEntry } from './protocol';
import { sketch } from './sketch';
import { Stage } from './stage';
import { onTheme } from './theme';

interface Card {
  entry: GalleryEntry;
  item: HTMLElement;
  canvas: HTMLCanvasElement;
  seen: boolean;
}

export class Gallery {
  private cards: Card[] = [];
  private stage: Stage | null = null;
  private waiting: Card[] = [];
  private busy = false;

  constructor(entries: GalleryEntry[], open: (entry: GalleryEntry) => void) {
    const list = part('cards');
    const watcher = new IntersectionObserver(
      (seen) => {
        for (const { target, isIntersecting } of seen) {
          const card = this.cards.find(({ canvas }) => canvas === target);
          if (!isIntersecting || card === undefined || card.seen) continue;
          card.seen = true;
          this.waiting.push(card);
        }
        this.work();
      },
      { rootMargin: '200px' },
    );
    for (const entry of entries) {
      const canvas = element('canvas', { width: 480, height: 270, 'aria-hidden': 'true' });
      const card = element(
        'button',
        { type: 'button', class: 'card', 'data-id': entry.id },
        canvas,
        element('span', { class: 'card-title' }, entry.title),
        element('span', { class: 'card-point' }, entry.point),
      );
      card.addEventListener('click', () => open(entry));
      const item = element('li', {}, card);
      list.append(item);
      this.cards.push({ entry, item, canvas, seen: false });
      watcher.observe(canvas);
    }
    const filter = part<HTMLInputElement>('gallery-filter');
    filter.addEventListener('input', () => this.filter(filter.value));
    onTheme(() => {
      this.waiting = this.cards.filter(({ seen }) => seen);
      this.work();
    });
  }

  // Cards whose words, or whose scene's own words, contain all that is looked for.
  private filter(wanted: string): void {
    const terms = wanted.toLowerCase().split(/\s+/);
    let found = 0;
    for (const { entry, item } of this.cards) {
      const text = `${entry.id} ${entry.title} ${entry.point} ${entry.text}`.toLowerCase();
      item.hidden = !terms.every((term) => text.includes(term));
      if (!item.hidden) found++;
    }
    part('gallery-count').textContent = wanted.trim() === '' ? '' : `${found} of ${this.cards.length} scenes`;
  }

  // One picture at a time, between two frames, all by one renderer.
  private work(): void {
    if (this.busy) return;
    const card = this.waiting.shift();
    if (card === undefined) {
      this.stage?.dispose();
      this.stage = null;
      return;
    }
    this.busy = true;
    requestAnimationFrame(() => {
      this.picture(card);
      this.busy = false;
      this.work();
    });
  }

  private picture({ entry, canvas }: Card): void {
    const timeline = sketch(entry.text);
    const context = canvas.getContext('2d');
    if (timeline === null || context === null) return;
    try {
      this.stage ??= new Stage(part('darkroom'), 'Pictures for the gallery');
      this.stage.layers = {
        trails: false,
        contacts: false,
        impulses: false,
        forces: false,
        spins: false,
        names: false,
        velocities: true,
      };
      this.stage.load(timeline);
      this.stage.draw(0, 0, 0, null);
      context.drawImage(this.stage.canvas, 0, 0, canvas.width, canvas.height);
    } catch {
      // Without WebGL the cards do without pictures.
      this.waiting = [];
    }
  }
}
