// Texts that are YAML for the most part: pieces of it in other YAML.

import { createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"

const bases = [
  "a: b\n",
  "a:\n  b: c\n  d: [e, f]\n",
  "x:\n- a\n- b: c\n  d: e\n",
  "a: &x {b: c}\nd: *x\n",
  "a: 'q'\nb: \"r\"\n",
]
const pieces = [
  [
    "a",
    "- ",
    "-",
    "? ",
    "?",
    ": ",
    ":",
    "a: ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ",",
    "\n",
    "\n  ",
    "\n ",
    " ",
    "\t",
    "#",
    "# c",
  ],
  [
    "'",
    '"',
    "&a ",
    "*a",
    "!!str ",
    "!!int ",
    "!x ",
    "! ",
    "|",
    "|2",
    ">-",
    "---",
    "...",
    "%",
    "<<: ",
    "~",
    "@",
    "\\",
    "=",
    "1",
  ],
].flat()
/** Of one scenario. */
const texts = 150

export function randomYaml(seed: number): string[] {
  const random = createRandom(seed)
  return Array.from({ length: texts }, () => changed(random, pick(random, bases)))
}

function changed(random: Random, base: string): string {
  let text = base
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(text.length + 1)
    text =
      random(5) === 0
        ? text.slice(0, at) + text.slice(at + 1)
        : text.slice(0, at) + pick(random, pieces) + text.slice(at)
  }
  return text
}
