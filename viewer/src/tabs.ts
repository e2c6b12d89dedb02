// The tabs beside the picture.

export type Tab = 'plots' | 'events' | 'scene' | 'result';

export class Tabs {
  shown: Tab = 'plots';
  onShow: (tab: Tab) => void = () => undefined;
  private tabs = [...document.querySelectorAll<HTMLButtonElement>('.panel [role=tab]')];

  constructor() {
    for (const tab of this.tabs) {
      tab.addEventListener('click', () => this.show(Tabs.nameOf(tab)));
      tab.addEventListener('keydown', (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step === undefined) return;
        const next = this.tabs[(this.tabs.indexOf(tab) + step + this.tabs.length) % this.tabs.length];
        this.show(Tabs.nameOf(next));
        next.focus();
      });
    }
  }

  private static nameOf(tab: HTMLElement): Tab {
    return tab.getAttribute('aria-controls') as Tab;
  }

  show(name: Tab): void {
    this.shown = name;
    for (const tab of this.tabs) {
      const chosen = Tabs.nameOf(tab) === name;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      const panel = document.getElementById(Tabs.nameOf(tab));
      if (panel !== null) panel.hidden = !chosen;
    }
    this.onShow(name);
  }
}
