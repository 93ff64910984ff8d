// Waits for what a server's own controller writes to an object shortly after its creation: whether it precedes the next request
// would be random on both servers.

import { get, type Scenario, type Step } from "../scenario.ts"
import type { Kind } from "./objects.ts"

/** By resource: text in the object's JSON after that write. */
const written: ReadonlyMap<string, string> = new Map([["flowschemas", `"Dangling"`]])

/** The object was rejected. */
const notMade = `"NotFound"`

export function settling(kind: Kind, scenarios: Scenario[]): Scenario[] {
  const untilText = written.get(kind.facts.resource)
  if (untilText === undefined) return scenarios
  const settled = (step: Step): Step[] => {
    const name = nameOfCreated(kind, step)
    return name === undefined
      ? [step]
      : [step, get(`${kind.path}/${name}`, { untilText: [untilText, notMade], label: "GET settled" })]
  }
  return scenarios.map((scenario) => ({ ...scenario, steps: scenario.steps.flatMap(settled) }))
}

function nameOfCreated(kind: Kind, step: Step): string | undefined {
  if ("watch" in step || step.method !== "POST" || step.path !== kind.path) return undefined
  const { metadata } = step.body as { metadata?: { name?: string } }
  return metadata?.name
}
