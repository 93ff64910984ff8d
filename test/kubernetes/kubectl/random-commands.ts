// Random commands of kubectl, from templates (random-templates.ts).

import { chance, createRandom, pick, type Random } from "../../../apimachinery/testing/random.ts"
import { literals, scripts, templates, words } from "./random-templates.ts"
import type { Step } from "./session.ts"

const length = 60
/** Of what is in brackets. */
const probability = 0.3

/** Objects are written by several commands, so each session begins with all of them. */
export function randomSession(seed: number): Step[] {
  const random = createRandom(seed)
  const commands = Array.from({ length }, () => commandOf(random, pick(random, pick(random, templates))))
  return [{ command: "create -f all.yaml" }, ...commands]
}

function commandOf(random: Random, template: string): Step {
  const command = filled(random, template).trim().replaceAll(/ +/g, " ")
  return /^(edit|apply edit)/.test(command)
    ? { command, env: { KUBE_EDITOR: `sed -i '${pick(random, scripts)}'` } }
    : { command }
}

/** Of words in angle brackets one is chosen, as between parentheses; what is in square brackets may be left out. */
function filled(random: Random, template: string): string {
  for (let text = template; ;) {
    const [part, open, inner] =
      /(\[)([^[\]]*)\]/.exec(text) ?? /(<)(\w+)>/.exec(text) ?? /(\()([^()]*)\)/.exec(text) ?? []
    if (part === undefined || inner === undefined) return withLiterals(random, text)
    const choose = (): string => pick(random, open === "<" ? (words[inner] ?? []) : inner.split("|"))
    const value = open === "[" ? (chance(random, probability) ? inner : "") : choose()
    text = text.replace(part, () => value)
  }
}

/** What has brackets of its own. */
function withLiterals(random: Random, text: string): string {
  return text.replaceAll(/%(\w+)/g, (_, name: string) => pick(random, literals[name] ?? []))
}
