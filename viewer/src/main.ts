// The page: what is open, and how its parts hang together.

import './style.css';
import { parsePlace, unpacked, type View } from './address';
import * as api from './api';
import { bindBeginnings } from './begin';
import { announce, part } from './dom';
import { Gallery } from './gallery';
import type { Start } from './protocol';
import { onTheme, theme, toggle, watch } from './theme';
import { Workspace } from './workspace';

function showTheme(): void {
  part('theme').setAttribute('aria-label', theme() === 'dark' ? 'Switch to light' : 'Switch to dark');
}

function complain(error: unknown): void {
  announce(error instanceof Error ? error.message : String(error), 'error');
}

class Page {
  private workspace: Workspace | null = null;
  private gallery: Gallery | null = null;

  constructor(private readonly start: Start) {
    part('version').textContent = `carom ${start.version}`;
    // Beside the playground lies the book; a program on its own has none.
    part('books').hidden = api.lasting;
    part('home').addEventListener('click', () => {
      location.hash = '#gallery';
    });
    bindBeginnings((text, name) => this.openText(text, name));
    window.addEventListener('hashchange', () => void this.go().catch(complain));
  }

  async open(): Promise<void> {
    const { open } = this.start;
    if (location.hash !== '') return this.go();
    if (open.kind === 'gallery') return this.showGallery();
    const workspace = this.showWorkspace();
    workspace.setText(open.text, open.name);
    if (open.kind === 'run') await workspace.attach(String(open.id));
    else await workspace.run();
  }

  private async go(): Promise<void> {
    const { kind, id, view } = parsePlace(location.hash);
    if (kind === 'run') {
      if (this.workspace?.id !== id) await this.showWorkspace(view).attach(id);
      else this.showWorkspace(view);
      return;
    }
    if (kind === 'text') return this.openText(await unpacked(id), 'A scene from a link', view);
    if (kind === 'scene') {
      const entry = this.start.gallery.find((found) => found.id === id);
      if (entry !== undefined) return this.openText(entry.text, entry.title, view);
    }
    this.showGallery();
  }

  private async openText(text: string, title: string, view: View = {}): Promise<void> {
    const workspace = this.showWorkspace(view);
    workspace.setText(text, title);
    await workspace.run();
  }

  private showGallery(): void {
    this.workspace?.leave();
    part('workspace').hidden = true;
    part('gallery').hidden = false;
    part('share').hidden = true;
    part('paradox').hidden = true;
    part('title').textContent = 'Gallery';
    document.title = 'carom: gallery';
    // By the address, so that the browser's way back leads to the gallery.
    this.gallery ??= new Gallery(this.start.gallery, ({ id }) => {
      location.hash = `#scene/${encodeURIComponent(id)}`;
    });
    announce('');
  }

  private showWorkspace(view: View = {}): Workspace {
    part('gallery').hidden = true;
    part('workspace').hidden = false;
    announce('');
    this.workspace ??= new Workspace();
    this.workspace.view = view;
    return this.workspace;
  }
}

watch();
showTheme();
onTheme(showTheme);
part('theme').addEventListener('click', toggle);
const manual = part<HTMLDialogElement>('manual');
part('help').addEventListener('click', () => manual.showModal());

// A menu closes when one clicks elsewhere or presses escape.
document.addEventListener('click', (event) => {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
    if (!menu.contains(event.target as Node)) menu.open = false;
  }
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.menu[open]')) {
    menu.open = false;
    menu.querySelector('summary')?.focus();
  }
});

api
  .start()
  .then((start) => new Page(start).open())
  .catch(complain);
