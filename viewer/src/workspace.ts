// One run on the page: stage, clock, plots, events, the scene's text and the result.

import { packed, type View, viewOf } from './address';
import * as api from './api';
import { type Between, Watcher } from './between';
import { Clock, speedFor } from './clock';
import { Caption, isParadox, Other } from './compare';
import { announce, element, part } from './dom';
import { Detail } from './detail';
import { Editor } from './editor';
import { EventTable } from './events';
import { type Hold, heldForces } from './forces';
import { count, short } from './format';
import { gapOver, joined } from './gaps';
import { bindKeys } from './keys';
import { Plots } from './plots';
import type { Check, OnParadox, RunEvent, RunRequest } from './protocol';
import { showCost, showPicked } from './readout';
import { showResult } from './result';
import { Session } from './session';
import { Stage, type Layers } from './stage';
import { isTab, Tabs } from './tabs';
import { ShareMenu } from './takeaway';
import { onTheme, reducedMotion } from './theme';
import type { Timeline } from './timeline';
import { Transport } from './transport';

// With at most this many events, playing slows down at each of them by default.
const FEW_EVENTS = 40;
// How long, in seconds of the viewer's time, an event stays visible.
const LINGER = 0.8;
// How much of the viewer's time, at the speed chosen, a trail is long.
const TRAIL = 2.5;
// A scene that records no samples is run with this many, as there would be nothing to see.
const SAMPLES = 1000;

export class Workspace {
  private clock = new Clock();
  private stage: Stage;
  private caption = new Caption('hold');
  private transport: Transport;
  private plots: Plots;
  private table: EventTable;
  private detail: Detail;
  private editor: Editor;
  private tabs = new Tabs();
  private session: Session | null = null;
  private other: Other | null = null;
  private holds: Hold[] = [];
  private between = new Watcher();
  private shownBetween: Between = 'exact';
  private share: ShareMenu;
  private dirty = true;
  private before = 0;
  private added = false;
  private name = 'scene';
  /** How the next run that is opened is seen. */
  view: View = {};
  private lastListed = 0;
  /** Whether a run has been asked for and not begun. */
  private starting = false;
  /** Whether the text was changed since it was opened. */
  private edited = false;

  constructor() {
    this.stage = new Stage(
      part('first-stage'),
      'The bodies in three dimensions; drag to rotate, scroll to zoom',
    );
    part('first-stage').append(this.caption.root);
    this.caption.root.hidden = true;
    this.transport = new Transport(this.clock, () => this.redraw());
    this.plots = new Plots(part('plots'), (time) => this.seek(time));
    this.table = new EventTable((index) => this.choose(index));
    this.detail = new Detail(part('detail'));
    this.editor = new Editor(part('editor'), () => void this.run());
    this.detail.clear();
    this.clock.distance = (time) => this.nearestEvent(time);
    this.transport.onEvent = (index) => this.choose(index, false);
    this.stage.onMove = () => this.align(this.stage, this.other?.stage);
    this.stage.onPick = () => this.redraw();
    this.between.onChange = () => this.redraw();
    this.bind();
    this.share = new ShareMenu({
      title: () => this.timeline?.header.title ?? this.name,
      text: () => this.editor.text,
      run: () => this.id,
      link: () => this.link(),
      timeline: () => this.timeline,
      canvases: () => {
        this.draw();
        return [this.stage.canvas, ...(this.other === null ? [] : [this.other.stage.canvas])];
      },
      replay: () => {
        this.clock.seek(0);
        this.clock.play();
        this.redraw();
      },
    });
    onTheme(() => {
      this.stage.paint();
      this.other?.stage.paint();
      this.transport.drawTicks(true);
      this.redraw();
    });
    // For the browser's console, and for tests: what is drawn, as numbers.
    Object.assign(window, {
      carom: {
        time: () => this.clock.time,
        header: () => this.timeline?.header ?? null,
        sampleTimes: () => Array.from(this.timeline?.times.view() ?? []),
        poses: () => Array.from(this.stage.places),
      },
    });
    requestAnimationFrame((now) => this.frame(now));
  }

  get id(): string | null {
    return this.session?.id ?? null;
  }

  private get timeline(): Timeline | null {
    return this.session?.timeline ?? null;
  }

  setText(text: string, name: string): void {
    this.editor.text = text;
    this.edited = false;
    this.name = name;
    part('title').textContent = name;
    part('check').textContent = '';
  }

  private bind(): void {
    part('run').addEventListener('click', () => void this.run());
    part('stop').addEventListener('click', () => {
      if (this.starting && api.cancel()) return;
      void this.session?.stop().catch((e: Error) => announce(e.message, 'error'));
    });
    part('fit').addEventListener('click', () => this.stage.fit());
    part('paradox').addEventListener('click', () => void this.toggleOther());
    part<HTMLSelectElement>('follow').addEventListener('change', (event) => {
      const value = (event.target as HTMLSelectElement).value;
      const follow = value === 'none' || value === 'all' ? value : Number(value);
      this.stage.setFollow(follow);
      this.other?.stage.setFollow(follow);
    });
    for (const box of document.querySelectorAll<HTMLInputElement>('[data-layer]')) {
      box.addEventListener('change', () => {
        this.stage.layers[box.dataset['layer'] as keyof Layers] = box.checked;
        this.redraw();
      });
    }
    this.editor.onCheck = (check) => this.checked(check);
    this.editor.onChange = () => {
      this.edited = true;
      part('check').textContent = '';
    };
    this.tabs.onShow = () => {
      this.table.update(true);
      this.redraw();
    };
    bindKeys({
      toggle: () => this.transport.toggle(),
      step: (intervals) => this.transport.step(intervals),
      event: (direction) => this.transport.event(direction),
      start: () => this.seek(0),
      end: () => this.seek(this.clock.end),
      fit: () => this.stage.fit(),
      help: () => part<HTMLDialogElement>('manual').showModal(),
    });
  }

  /** Simulates the text as it stands, with a sampling interval other than its own if one is given. */
  async run(sample?: number): Promise<void> {
    const choice = part<HTMLSelectElement>('on-paradox').value;
    const request: RunRequest = { text: this.editor.text };
    if (choice !== '') request.on_paradox = choice as OnParadox;
    if (sample !== undefined) request.sample = sample;
    part('progress').hidden = false;
    part('progress-text').textContent = 'Starting';
    part<HTMLProgressElement>('progress-bar').removeAttribute('value');
    try {
      this.starting = true;
      const id = await api.begin(request).finally(() => (this.starting = false));
      this.editor.mark([]);
      if (!api.lasting && this.edited)
        history.replaceState(null, '', `#text/${await packed(this.editor.text)}`);
      await this.attach(id, false);
    } catch (error) {
      this.refused(error);
    }
  }

  private refused(error: unknown): void {
    if (this.session?.running !== true) part('progress').hidden = true;
    if (error instanceof api.Refusal && error.diagnostics.length > 0) {
      this.tabs.show('scene');
      this.editor.mark(error.diagnostics);
      this.editor.reveal(error.diagnostics);
      announce('The scene has mistakes; each is marked at its line.', 'error');
      return;
    }
    announce(error instanceof Error ? error.message : String(error), 'error');
  }

  /** Shows a run of the program by its id; `adopt` takes its text into the editor. */
  async attach(id: string, adopt = true): Promise<void> {
    this.leave();
    announce('');
    const session = new Session(id);
    this.session = session;
    this.between.load(session);
    if (api.lasting) history.replaceState(null, '', `#run/${encodeURIComponent(id)}${viewOf(this.view)}`);
    session.onReady = (timeline) => this.ready(timeline, adopt);
    session.onChange = () => {
      this.added = true;
    };
    session.onEnd = () => this.ended(session);
    part('progress').hidden = false;
    await session.read();
  }

  /** Stops showing the run. */
  leave(): void {
    this.closeOther();
    this.session?.leave();
    this.session = null;
    this.between.load(null);
    this.clock.pause();
    part('progress').hidden = true;
  }

  private ready(timeline: Timeline, adopt: boolean): void {
    const { header } = timeline;
    if (adopt) this.setText(header.text, header.title);
    part('title').textContent = header.title;
    document.title = `carom: ${header.title}`;
    part('share').hidden = false;
    this.holds = [];
    this.clock.time = timeline.start;
    this.clock.end = timeline.end;
    this.clock.speed = speedFor(header.until);
    this.stage.load(timeline);
    this.transport.load(timeline);
    this.plots.reset();
    this.table.load(timeline);
    this.detail.clear();
    this.listBodies(timeline);
    showResult(part('result'), timeline);
    if (this.view.tab !== undefined && isTab(this.view.tab)) this.tabs.show(this.view.tab);
    this.plots.only(this.view.plots ?? null);
    if (this.view.time === undefined && !reducedMotion()) this.clock.play();
    this.added = true;
  }

  private ended(session: Session): void {
    if (session !== this.session) return;
    this.added = true;
    part('progress').hidden = true;
    if (session.error !== null) announce(session.error, 'error');
    const timeline = session.timeline;
    if (timeline === null) return;
    if (!timeline.ready && timeline.header.sample === 0 && session.error === null) {
      void this.run(timeline.header.until / SAMPLES);
      return;
    }
    showResult(part('result'), timeline);
    if (timeline.ending?.stopped === 'interrupted') announce('Stopped.');
    if (!this.transport.chosen) this.clock.speed = speedFor(timeline.end);
    this.transport.showSpeed();
    const slow = part<HTMLInputElement>('slow');
    slow.checked = timeline.events.length <= FEW_EVENTS;
    this.clock.slow = slow.checked;
    // What was measured from the first frames is measured again, unless one has looked around since.
    if (!this.stage.eye.moved) this.stage.load(timeline);
    this.holds = heldForces(timeline);
    this.stage.setHolds(this.holds);
    part<HTMLSelectElement>('follow').value = String(this.stage.eye.follow);
    part('paradox').hidden = !timeline.events.some(isParadox);
    void this.caption.load(session);
    if (timeline.events.length > 0) void this.showGap(timeline.events[0].bodies);
    if (this.view.time !== undefined) {
      this.clock.end = timeline.end;
      this.seek(this.view.time);
    }
    this.view = {};
    this.redraw();
  }

  /** The address of what is shown, with the scene in it. */
  private async link(): Promise<string> {
    const plots = this.plots.chosen;
    const view: View = {
      time: this.clock.time,
      tab: this.tabs.shown,
      ...(plots === null ? {} : { plots }),
    };
    const place = `#text/${await packed(this.editor.text)}${viewOf(view)}`;
    return new URL(place, location.href).href;
  }

  private listBodies(timeline: Timeline): void {
    const select = part<HTMLSelectElement>('follow');
    select.replaceChildren(
      element('option', { value: 'none' }, 'nothing'),
      element('option', { value: 'all' }, 'all bodies'),
      ...timeline.header.bodies.slice(0, 500).map((body, i) => element('option', { value: i }, body.name)),
    );
    select.value = String(this.stage.eye.follow);
  }

  private checked(check: Check): void {
    part('check').textContent = check.ok
      ? `Fine: ${count(check.bodies)} ${check.bodies === 1 ? 'body' : 'bodies'}.`
      : 'The scene has mistakes.';
  }

  private nearestEvent(time: number): number {
    const timeline = this.timeline;
    if (timeline === null) return Infinity;
    const next = timeline.eventTimes.upTo(time);
    const after = next < timeline.eventTimes.length ? timeline.eventTimes.at(next) - time : Infinity;
    const before = next > 0 ? time - timeline.eventTimes.at(next - 1) : Infinity;
    return Math.min(after, before);
  }

  private seek(time: number): void {
    this.clock.pause();
    this.clock.seek(time);
    this.redraw();
  }

  /** Goes to an event and shows all about it. */
  private choose(index: number, open = true): void {
    const timeline = this.timeline;
    const event = timeline?.events[index];
    if (timeline === null || timeline === undefined || event === undefined || this.session === null) return;
    this.seek(event.time);
    if (open) this.tabs.show('events');
    this.table.mark(index);
    void this.showGap(event.bodies);
    this.detail.show(event, {
      run: this.session.id,
      timeline,
      seek: (time) => this.seek(time),
      slowMotion: (from, until) => {
        this.clock.pass(from, until, 8);
        this.redraw();
      },
    });
  }

  // The gap over the whole run of the pair that one looks at.
  private gapOf = '';
  private async showGap(pair: [string, string]): Promise<void> {
    const { session, timeline } = this;
    const second = this.other?.session.done === true ? this.other.session : null;
    const asked = JSON.stringify([session?.id, second?.id, pair]);
    if (session === null || timeline === null || !session.done || asked === this.gapOf) return;
    this.gapOf = asked;
    let columns = await gapOver(session.id, timeline, pair).catch(() => null);
    if (columns !== null && second !== null && second.timeline !== null) {
      const others = await gapOver(second.id, second.timeline, pair).catch(() => null);
      if (others !== null) columns = joined(columns, others);
    }
    if (columns === null || asked !== this.gapOf) return;
    this.plots.setGap(pair, columns, timeline);
    this.redraw();
  }

  private async toggleOther(): Promise<void> {
    if (this.other !== null) {
      this.closeOther();
      return;
    }
    const timeline = this.timeline;
    if (timeline === null) return;
    const mine = timeline.header.on_paradox;
    const mode: OnParadox = mine === 'pass' ? 'hold' : 'pass';
    try {
      const id = await api.begin({ text: timeline.header.text, on_paradox: mode });
      this.caption.setName(mine);
      this.caption.root.hidden = false;
      const pair = timeline.events.find(isParadox)?.bodies;
      this.other = new Other(id, mode, this.stage, () => {
        this.redraw();
        if (pair !== undefined) void this.showGap(pair);
      });
      const second = this.other.stage;
      second.onMove = () => this.align(second, this.stage);
      part('paradox').textContent = 'One view';
      this.stage.refit();
      this.clock.seek(timeline.events.find(isParadox)?.time ?? 0);
      const hold = timeline.events.find((event) => event.kind.endsWith('_end'));
      if (!reducedMotion())
        this.clock.pass(0, Math.min(timeline.end, 4 * (hold?.time ?? timeline.end / 4)), 12);
    } catch (error) {
      this.refused(error);
    }
  }

  private closeOther(): void {
    if (this.other === null) return;
    this.other.close();
    this.other = null;
    this.caption.root.hidden = true;
    part('paradox').textContent = 'Hold versus pass';
    this.stage.refit();
    const pair = this.timeline?.events.find(isParadox)?.bodies;
    if (pair !== undefined) void this.showGap(pair);
    this.redraw();
  }

  // Two stages look from the same side; the one that is told to does not tell back.
  private aligning = false;
  private align(leader: Stage, follower: Stage | undefined): void {
    this.redraw();
    if (this.aligning || follower === undefined) return;
    this.aligning = true;
    follower.eye.lookLike(leader.eye);
    this.aligning = false;
  }

  private redraw(): void {
    this.dirty = true;
  }

  private frame(now: number): void {
    requestAnimationFrame((next) => this.frame(next));
    const seconds = Math.min(0.1, (now - this.before) / 1000);
    this.before = now;
    if (part('workspace').hidden) return;
    this.takeIn(now);
    this.clock.live = this.session?.running === true;
    // Like a film that is still loading: time waits for what is to be shown.
    if (this.shownBetween !== 'coming' && this.clock.advance(seconds)) this.dirty = true;
    this.share.frame(this.clock.playing);
    if (!this.dirty) return;
    this.dirty = false;
    this.draw();
    this.showPanels();
  }

  // What the stream brought goes to plots and table a few times a second, not with every frame.
  private takeIn(now: number): void {
    const timeline = this.timeline;
    if (timeline === null || !this.added || now - this.lastListed < 200) return;
    this.added = false;
    this.lastListed = now;
    this.clock.end = Math.max(timeline.end, this.other?.session.timeline?.end ?? 0);
    this.plots.update(timeline, this.holds);
    this.table.update();
    this.dirty = true;
    const { progress } = timeline;
    const whole = timeline.header.until;
    const reached = progress?.time ?? timeline.end;
    part<HTMLProgressElement>('progress-bar').value = whole > 0 ? reached / whole : 0;
    part('progress-text').textContent =
      `t = ${short(reached, 4)} of ${short(whole, 4)}, ${count(progress?.events ?? timeline.events.length)} events`;
  }

  private get recent(): number {
    const speed = this.clock.passage?.speed ?? this.clock.speed;
    const slow = this.clock.slow && this.clock.passage === null ? 0.35 : 1;
    return LINGER * speed * slow;
  }

  private draw(): void {
    this.showBetween(this.between.at(this.clock.time));
    const chosen: RunEvent | null = this.detail.shown;
    const trail = TRAIL * this.clock.speed;
    this.stage.draw(this.clock.time, this.recent, trail, chosen);
    this.other?.stage.draw(this.clock.time, this.recent, trail, null);
  }

  private showBetween(between: Between): void {
    if (between === this.shownBetween) return;
    this.shownBetween = between;
    const place = part('between');
    place.hidden = between === 'exact';
    place.dataset['between'] = between;
    place.textContent =
      between === 'coming'
        ? 'Computing what happened between the samples …'
        : 'Samples only: what happened between them was not recorded.';
  }

  private showPanels(): void {
    const { time } = this.clock;
    this.transport.show();
    if (this.tabs.shown === 'plots') this.plots.mark(time);
    if (this.tabs.shown === 'events') this.detail.mark(time);
    if (this.other !== null) {
      this.caption.show(time, this.holds);
      this.other.caption.show(time, this.other.holds);
    }
    showPicked(this.timeline, this.stage.selected, time);
    showCost(this.stage.cost);
  }
}
