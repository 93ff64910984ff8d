// Texts that almost have a format: those of the scenarios, changed at random.

import { createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { formatTexts, formatTextSteps, urlSteps } from "../cases/custom-format-texts.ts"
import type { Scenario } from "../scenario.ts"

const perFormat = 40
const urls = 80
/** That of the rules about them. */
const longestUrl = 100

export function randomFormatTextScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const texts = Object.entries(formatTexts).map(([format, known]) => [
    format,
    Array.from({ length: perFormat }, () => changed(random, known)),
  ])
  const steps = formatTextSteps(Object.fromEntries(texts) as Record<string, string[]>)
  return {
    name: `texts of formats in a custom resource at random, seed ${seed}`,
    steps,
    anyOrder: true,
    byChance: true,
  }
}

export function randomUrlScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const texts = Array.from({ length: urls }, () =>
    changed(random, formatTexts["uri"] ?? [])
      .slice(0, longestUrl)
      .toWellFormed(),
  )
  return {
    name: `URLs in a custom resource at random, seed ${seed}`,
    steps: urlSteps(texts),
    anyOrder: true,
    byChance: true,
  }
}

function changed(random: Random, known: readonly string[]): string {
  let characters = Array.from(pick(random, known))
  for (let count = random(4); count > 0; count--) {
    const other = Array.from(pick(random, known))
    const at = random(characters.length + 1)
    const change = pick(random, changes)
    characters = change(characters, { at, other, random })
  }
  return characters.join("").toWellFormed()
}

type Change = (text: string[], about: { at: number; other: readonly string[]; random: Random }) => string[]

const changes: readonly Change[] = [
  (text, { at }) => text.toSpliced(at, 1),
  (text, { at }) => text.toSpliced(at, 0, ...text.slice(at, at + 1)),
  (text, { at, other, random }) => text.toSpliced(at, 0, ...other.slice(random(other.length + 1)).slice(0, 3)),
  (text, { at, other, random }) => text.toSpliced(at, 1, ...(other.length === 0 ? [] : [pick(random, other)])),
  (text, { at, other }) => [...text.slice(0, at), ...other.slice(at)],
  (text, { at, random }) => text.toSpliced(at, 0, pick(random, Array.from("\u0000\t\n ü😀%-.:@/0aZ"))),
]
