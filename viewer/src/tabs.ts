// The tabs beside the picture.

const TABS = ['plots', 'events', 'scene', 'result'] as const;

export type Tab = (typeof TABS)[number];

export function isTab(name: string): name is Tab {
  return (TABS as readonly string[]).includes(name);
}

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
