// So many nodes that the TTL annotation changes: upstream updates each node at its next event.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, noNodes } from "./node-steps.ts"
import { settle } from "./steps.ts"

const named = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `n${String(from + index).padStart(3, "0")}`)
const created = (from: number, to: number): Step[] => named(from, to).map((name) => nodeNamed(name))
const speak = (from: number, to: number, said: string): Step[] =>
  named(from, to).map((name) => ({ patch: ["nodes", `NAMESPACE-${name}`], with: { metadata: { labels: { said } } } }))
const deleted = (from: number, to: number): Step[] =>
  named(from, to).map((name) => ({ delete: ["nodes", `NAMESPACE-${name}`] }))
/** Twice: upstream looks at nodes every 5 s, and says nothing of those that are gone by then. */
const seen = [settle, settle]

export const manyNodesScenarios: readonly Scenario[] = [
  { name: "there are a hundred nodes", steps: [noNodes, ...created(0, 100), settle, ...speak(0, 100, "a")] },
  { name: "there are more than a hundred nodes", steps: [noNodes, ...created(0, 101), settle, ...speak(0, 101, "a")] },
  {
    name: "there are more than a hundred nodes, and then ninety",
    steps: [noNodes, ...created(0, 101), ...seen, ...deleted(0, 11), settle, ...speak(11, 101, "a")],
  },
  {
    name: "there are more than a hundred nodes, and then less than ninety",
    steps: [noNodes, ...created(0, 101), ...seen, ...deleted(0, 12), settle, ...speak(12, 101, "a")],
  },
]
