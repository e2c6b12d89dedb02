// What happened between two samples, asked for as it is watched.

import * as api from './api';
import { Keyframes } from './keyframes';
import type { Session } from './session';

/** What is shown between samples: what happened; the last sample, until the program answers; the last sample, as nothing else is known. */
export type Between = 'exact' | 'coming' | 'samples';

export class Watcher {
  private asking = false;
  private session: Session | null = null;
  /** Something has come. */
  onChange: () => void = () => undefined;

  /** Looks after another run from now on. */
  load(session: Session | null): void {
    this.session = session;
  }

  /** What is shown at a time; asks for what is missing there or, if nothing is, for what comes after it. */
  at(t: number): Between {
    const timeline = this.session?.timeline ?? null;
    if (timeline === null || this.session === null) return 'exact';
    const missing = timeline.missing(t);
    if (missing !== null && !timeline.header.repeatable) return 'samples';
    const wanted = missing ?? timeline.missing(timeline.knownUntil(t));
    if (wanted !== null && timeline.header.repeatable && !this.asking)
      void this.ask(this.session, wanted[0], wanted[1]);
    return missing === null ? 'exact' : 'coming';
  }

  private async ask(session: Session, from: number, until: number): Promise<void> {
    const { timeline } = session;
    if (timeline === null) return;
    this.asking = true;
    try {
      const part = new Keyframes(await api.keyframes(session.id, from, until), timeline.bodies);
      // An answer that leads nowhere would be asked for again and again.
      if (part.until > part.from) timeline.addPart(part);
      else timeline.header.repeatable = false;
    } catch {
      // The program no longer has the run, or cannot repeat it: samples are all there is.
      timeline.header.repeatable = false;
    }
    this.asking = false;
    if (session === this.session) this.onChange();
  }
}
