// The menu of things to take away.

import * as api from './api';
import { announce, part } from './dom';
import { fileName } from './format';
import { download, Film, model, picture } from './share';
import { palette } from './theme';
import type { Timeline } from './timeline';

/** What the menu needs to know of what is open. */
export interface Open {
  title: () => string;
  text: () => string;
  run: () => string | null;
  link: () => Promise<string>;
  timeline: () => Timeline | null;
  /** The stages, drawn this very moment. */
  canvases: () => HTMLCanvasElement[];
  /** Plays from the start. */
  replay: () => void;
}

export class ShareMenu {
  private film: Film | null = null;

  constructor(private readonly open: Open) {
    this.bind('share-link', async () => {
      const link = await open.link();
      history.replaceState(null, '', link);
      await navigator.clipboard.writeText(link).then(
        () => announce('The link is copied: it has the scene in it, the time, and what is shown beside.'),
        // Without leave to write to the clipboard.
        () =>
          announce(
            'The link is in the address bar: it has the scene in it, the time, and what is shown beside.',
          ),
      );
    });
    this.bind('share-scene', () => {
      const text = open.text();
      const ending = text.trimStart().startsWith('{') ? 'json' : 'toml';
      download(new Blob([text], { type: 'text/plain' }), this.named(ending));
    });
    this.bind('share-run', async () => {
      const run = open.run();
      if (run !== null) download(await api.runDocument(run), this.named('run.json'));
    });
    this.bind('share-picture', async () => download(await picture(open.canvases()), this.named('png')));
    this.bind('share-film', () => this.record());
    this.bind('share-model', async () => {
      const timeline = open.timeline();
      if (timeline !== null) download(await model(timeline, palette()), this.named('glb'));
    });
  }

  private bind(id: string, action: () => Promise<void> | void): void {
    part(id).addEventListener('click', () => {
      part<HTMLDetailsElement>('share').open = false;
      Promise.resolve()
        .then(action)
        .catch((error: unknown) => announce(error instanceof Error ? error.message : String(error), 'error'));
    });
  }

  private named(ending: string): string {
    return `${fileName(this.open.title())}.${ending}`;
  }

  // The run is played from start to end while the first stage is recorded; pausing ends the film early.
  private async record(): Promise<void> {
    const [canvas] = this.open.canvases();
    if (this.film !== null || canvas === undefined) return;
    this.film = new Film(canvas);
    announce('Recording; pause to end it early.');
    this.open.replay();
    const film = await this.film.whole;
    this.film = null;
    announce('');
    download(film, this.named('webm'));
  }

  /** Called with every frame: a film ends when playing does. */
  frame(playing: boolean): void {
    if (!playing) this.film?.finish();
  }
}
