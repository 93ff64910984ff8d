// Zones of which so many nodes were down that none was marked for eviction, and some speak again: the others have ten seconds more, in
// which they may recover, too. All is looked at before these are over.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, noNodes, saysAt } from "./node-steps.ts"
import { settle } from "./steps.ts"

/** Longer than upstream waits until it looks again. */
const seen = [settle, settle, settle]
const say = (minute: number, status: string, names: readonly string[]): Step[] =>
  names.map((name) => saysAt(`2026-01-01T00:0${minute}:00Z`, name, ["Ready", status]))
const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }
const isMarked = (name: string): Step => ({ until: ["nodes", `NAMESPACE-${name}`], has: { spec: { taints: [taint] } } })
const isMarkedNoMore = (name: string): Step => ({
  until: ["nodes", `NAMESPACE-${name}`],
  has: {},
  lacks: { spec: { taints: [taint] } },
})

/** Nodes by their names, with their zones; those that go down, of which the first speaks again. */
const recovering = (zones: Readonly<Record<string, string>>, down: readonly string[]): Step[] => {
  const names = Object.keys(zones)
  const [first = ""] = down
  return [
    noNodes,
    ...names.map((name) => nodeNamed(name, zones[name])),
    ...say(1, "True", names),
    ...seen,
    ...say(2, "False", down),
    ...down.map(isMarked),
    ...seen,
    ...say(3, "True", [first]),
    isMarkedNoMore(first),
    settle,
  ]
}

export const recoveringZoneScenarios: readonly Scenario[] = [
  {
    name: "most nodes of a zone are down and one speaks again",
    steps: recovering({ a: "x", b: "x", c: "x", d: "x", z: "z" }, ["a", "b", "c"]),
  },
  { name: "all nodes are down and one speaks again", steps: recovering({ a: "x", b: "y" }, ["a", "b"]) },
]
