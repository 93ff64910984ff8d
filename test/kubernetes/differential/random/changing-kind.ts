// A kind Thing whose definition changes while it has objects. A version of its own tells when a server has taken a change over.

import { definitions } from "../cases/things.ts"
import { asTable } from "../generate/life-scenarios.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, type RequestStep } from "../scenario.ts"

export const versions = ["v1", "v2"]
/** Served in every round, with a column that tells which. */
export const marker = "v0marker0"

/** By version. */
export type Schemas = Readonly<Record<string, JsonObject>>

export const thingsOf = (group: string, version: string): string => `/apis/${group}/${version}/namespaces/@{ns}/things`

/** `subresources` is called for each version. */
export function versionsOf(schemas: Schemas, stored: string, subresources: () => JsonObject): JsonObject[] {
  return versions.map((name) => ({
    name,
    served: true,
    storage: name === stored,
    schema: { openAPIV3Schema: schemas[name] ?? {} },
    subresources: subresources(),
  }))
}

/** Of each round the definition has other versions. The first round, 0, creates it. */
export function defines(group: string, round: number, others: readonly JsonObject[]): RequestStep[] {
  const names = { plural: "things", singular: "thing", kind: "Thing" }
  const marking = {
    name: marker,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    additionalPrinterColumns: [{ name: `round${round}`, type: "string", jsonPath: ".spec" }],
  }
  const spec = { versions: [...others, marking] }
  const write =
    round === 0
      ? post(definitions, {
          metadata: { name: `things.${group}` },
          spec: { group, scope: "Namespaced", names, ...spec },
        })
      : patch(`${definitions}/things.${group}`, mergePatch, { spec })
  const isTakenOver = { headers: asTable, untilText: `"round${round}"` }
  return [{ ...write, label: `WRITE ${round}` }, get(thingsOf(group, marker), isTakenOver)]
}
