// The scene's text, with the program's own diagnostics in place as one types.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { json } from '@codemirror/legacy-modes/mode/javascript';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { type Diagnostic as Mark, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Text } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import * as api from './api';
import { button, element, part } from './dom';
import type { Check, Diagnostic } from './protocol';

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--syntax-comment)', fontStyle: 'italic' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--syntax-string)' },
  { tag: [tags.number, tags.bool, tags.atom], color: 'var(--syntax-number)' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--syntax-name)' },
  { tag: [tags.heading, tags.keyword], color: 'var(--syntax-head)', fontWeight: '600' },
]);

const WAIT = 300;

/** The offset of a place, line and column from one, the column in characters; kept inside the text. */
export function offsetOf(text: Text, line: number, column: number): number {
  const row = text.line(Math.min(Math.max(1, line), text.lines));
  let units = 0;
  let characters = 1;
  for (const character of row.text) {
    if (characters >= column) break;
    units += character.length;
    characters++;
  }
  return row.from + units;
}

export class Editor {
  private view: EditorView;
  private list = part('diagnostics');
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked: AbortController | null = null;
  private language = new Compartment();
  /** Called with each answer of the program. */
  onCheck: (check: Check) => void = () => undefined;
  onChange: () => void = () => undefined;

  constructor(place: HTMLElement, run: () => void) {
    this.view = new EditorView({
      parent: place,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          lintGutter(),
          this.language.of(StreamLanguage.define(toml)),
          syntaxHighlighting(colours),
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                run();
                return true;
              },
            },
            indentWithTab,
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          EditorView.contentAttributes.of({ 'aria-label': 'Scene text' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) this.later();
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    const mode = text.trimStart().startsWith('{') ? json : toml;
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      effects: this.language.reconfigure(StreamLanguage.define(mode)),
    });
    this.mark([]);
  }

  private later(): void {
    this.onChange();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), WAIT);
  }

  /** Asks the program what it thinks of the text. */
  async check(): Promise<void> {
    this.asked?.abort();
    this.asked = new AbortController();
    try {
      const answer = await api.check(this.text, this.asked.signal);
      this.mark(answer.ok ? answer.warnings : answer.diagnostics, answer.ok ? 'warning' : 'error');
      this.onCheck(answer);
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return;
      this.list.replaceChildren(
        element('li', { class: 'error' }, error instanceof Error ? error.message : String(error)),
      );
    }
  }

  /** Shows diagnostics in the text and below it. */
  mark(diagnostics: Diagnostic[], severity: 'error' | 'warning' = 'error'): void {
    const text = this.view.state.doc;
    const marks: Mark[] = [];
    for (const diagnostic of diagnostics) {
      if (diagnostic.line === 0) continue;
      const from = offsetOf(text, diagnostic.line, diagnostic.column);
      const to = Math.max(
        from,
        offsetOf(text, diagnostic.end_line || diagnostic.line, diagnostic.end_column || diagnostic.column),
      );
      marks.push({ from, to, severity, message: sentence(diagnostic) });
    }
    this.view.dispatch(setDiagnostics(this.view.state, marks));
    this.list.replaceChildren(...diagnostics.map((diagnostic) => this.entry(diagnostic, severity)));
    this.list.hidden = diagnostics.length === 0;
  }

  /** Brings the first mistake that has a place into view, the cursor at it. */
  reveal(diagnostics: Diagnostic[]): void {
    const first = diagnostics.find(({ line }) => line > 0);
    if (first !== undefined) this.goTo(first);
  }

  private entry(diagnostic: Diagnostic, severity: string): HTMLElement {
    if (diagnostic.line === 0) return element('li', { class: severity }, sentence(diagnostic));
    const place = button(`line ${diagnostic.line}`, () => this.goTo(diagnostic), { class: 'link' });
    return element(
      'li',
      { class: severity, 'data-line': diagnostic.line },
      place,
      ` ${sentence(diagnostic)}`,
    );
  }

  private goTo(diagnostic: Diagnostic): void {
    const at = offsetOf(this.view.state.doc, diagnostic.line, diagnostic.column);
    this.view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    this.view.focus();
  }
}

function sentence({ path, message, expected }: Diagnostic): string {
  const where = path === null || path === undefined || path === '' ? '' : `${path}: `;
  const right =
    expected === null || expected === undefined || expected === '' ? '' : ` Expected: ${expected}`;
  return `${where}${message}${right}`;
}
