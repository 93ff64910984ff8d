// Groups differences into classes: the same position and the same message, except for names, numbers and values.

import { type Difference, faultsOf, print } from "./compare.ts"
import { kinds } from "./generate/objects.ts"

export function classOf(difference: Difference): string {
  const words = kindWords(difference.scenario)
  return [difference.at.replaceAll(/\d+/g, "N"), ...sides(difference).map((side) => shape(side, words))].join("\n")
}

/** For messages with several faults, those that only one of the two has. */
function sides({ kubernetes, polyplane }: Difference): unknown[] {
  if (typeof kubernetes !== "string" || typeof polyplane !== "string") return [kubernetes, polyplane]
  const [theirs, ours] = [kubernetes, polyplane].map(faultsOf)
  const only = (some: string[] = [], others: string[] = []): string[] => some.filter((one) => !others.includes(one))
  const found = [only(theirs, ours), only(ours, theirs)].map((texts) => texts.map((text) => withoutValues(text)))
  if (found.every((texts) => texts.length === 0)) return ["another order", ""]
  return found.map((texts) => [...new Set(texts)].toSorted().join("; "))
}

function withoutValues(text: string): string {
  return text
    .replaceAll(/\\?"(?:[^"\\]|\\.)*\\?"/g, '"…"')
    .replaceAll(/value: [^":][^:]*:/g, "value: …:")
    .replaceAll(/\[[^[\]]*\]/g, "[…]")
}

/** Matches all names of the scenario's kind. */
function kindWords(scenario: string): RegExp {
  const kind = kinds().find(({ title }) => scenario.startsWith(`${title} `))
  if (kind === undefined) return /^$/g
  const { group, kind: name, resource } = kind.facts
  return new RegExp([`${name}List`, name, resource, group].filter(Boolean).join("|"), "g")
}

function shape(value: unknown, words: RegExp): string {
  return print(value).replaceAll(words, "K").replaceAll(/\.K\b/g, "").replaceAll(/\d+/g, "N").slice(0, 400)
}
