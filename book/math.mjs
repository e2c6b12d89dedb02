// The book's formulas: a preprocessor of mdBook. It reads [context, book] as JSON from standard input, turns $…$ and
// $$…$$ outside code into MathML by KaTeX, and writes the book back. A formula that KaTeX does not understand ends the
// build with its chapter and text.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import katex from "katex";

// What Markdown would read as its own between the tags of a formula.
const MARKS = /[*_`[\]\\|~$#]/g;

/** One formula as MathML on one line, safe inside Markdown. */
export function formula(tex, display) {
  const html = katex.renderToString(tex.trim(), {
    displayMode: display,
    output: "mathml",
    strict: "error",
    throwOnError: true,
  });
  // KaTeX wraps the formula, and repeats its source for copying; only the formula itself is wanted.
  const math = html
    .replace(/^<span[^>]*>/, "")
    .replace(/<\/span>$/, "")
    .replace(/<annotation[^>]*>[\s\S]*?<\/annotation>/g, "")
    .replace(/\s*\n\s*/g, " ");
  return math.replace(/>([^<]*)</g, (_, text) => `>${text.replace(MARKS, (mark) => `&#${mark.charCodeAt(0)};`)}<`);
}

/** A chapter with its formulas set; code, in blocks or inline, is left as it is. */
export function chapter(text) {
  const parts = /^(```|~~~)[\s\S]*?^\1[^\S\n]*$|(`+)[\s\S]*?[^`]\2(?!`)|\\\$|\$\$([\s\S]+?)\$\$|\$([^\s$](?:[^$]*?[^\s$])?)\$/gm;
  return text.replace(parts, (whole, _fence, _tick, displayed, inline) => {
    if (displayed !== undefined) return formula(displayed, true);
    if (inline !== undefined) return formula(inline, false);
    return whole;
  });
}

function walk(items) {
  for (const item of items) {
    if (!item.Chapter) continue;
    try {
      item.Chapter.content = chapter(item.Chapter.content);
    } catch (error) {
      throw new Error(`${item.Chapter.path}: ${error.message}`);
    }
    walk(item.Chapter.sub_items);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  // mdBook asks first whether this preprocessor serves a renderer: it serves HTML.
  if (process.argv[2] === "supports") process.exit(process.argv[3] === "html" ? 0 : 1);
  const [, book] = JSON.parse(readFileSync(0, "utf8"));
  walk(book.items);
  process.stdout.write(JSON.stringify(book));
}
