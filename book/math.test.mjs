// Run by `npm test`, which `cargo xtask book` calls.

import assert from "node:assert/strict";
import test from "node:test";
import { chapter, formula } from "./math.mjs";

test("a formula is MathML without its source", () => {
  const math = formula("y^+ = -k\\, y^-", false);
  assert.match(math, /^<math xmlns="http:\/\/www.w3.org\/1998\/Math\/MathML">.*<\/math>$/);
  assert.doesNotMatch(math, /annotation|\n/);
});

test("what Markdown would read as its own is written as entities", () => {
  assert.doesNotMatch(formula("a * b_{[1]} | c", false).replace(/<[^>]*>/g, ""), /[*_[\]|]/);
});

test("formulas are set, inline and displayed", () => {
  const text = chapter("Where $g = 0$:\n\n$$\ng'' < 0\n$$\n");
  assert.equal(text.match(/<math/g).length, 2);
  assert.match(text, /display="block"/);
  assert.doesNotMatch(text, /\$/);
});

test("code and a dollar by itself stay as they are", () => {
  const code = "```console\n$ carom run a.toml\n$ echo $?\n```\n\n`$x$` costs \\$5 or 5 $ in all.\n";
  assert.equal(chapter(code), code);
});

test("a formula that has no meaning ends the build", () => {
  assert.throws(() => chapter("$\\frac{1$"), /KaTeX/);
});
