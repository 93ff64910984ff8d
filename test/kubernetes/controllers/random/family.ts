// What families of scenarios by chance have in common.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { PodReport, Scenario, Step } from "../scenario.ts"
import { settle } from "../scenarios/steps.ts"

/** Something of any settings, and what users and nodes may do to it. */
export type Family = (random: Random) => Omit<Scenario, "name">

/** Each when all has come to rest after the one before. */
export const oneByOne = (steps: readonly Step[]): Step[] => steps.flatMap((step) => [step, settle])

/** Several one right after the other, before all comes to rest. */
export function inBursts(random: Random, steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => (chance(random, 0.4) ? [step, settle] : [step])).concat(settle)
}

/** As many as chance has it. */
export function some<T>(random: Random, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: least + random(most - least + 1) }, make)
}

export const maybe = (random: Random, probability: number, fields: object): object =>
  chance(random, probability) ? fields : {}

/** It may come too late, or be forbidden: to both sides alike. */
export const refusable = (step: Step): Step =>
  "settle" in step || "until" in step ? step : { ...step, mayBeRefused: true }

/** What has it stays until the scenario ends, or until it is taken off. */
export const held = { finalizers: ["example.com/hold"] }

/** Of the first, or of all. */
export const reported = (random: Random, reports: readonly PodReport[]): Step => ({
  pods: pick(random, reports),
  ...maybe(random, 0.6, { count: 1 + random(3) }),
})

/** A merge patch takes away what it says nothing of only if it says so. */
export function instead(keys: readonly string[], fields: object): object {
  return { ...Object.fromEntries(keys.map((key) => [key, null])), ...fields }
}
