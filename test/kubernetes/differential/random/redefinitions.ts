// Random changes of a definition while there are objects: other schemas, defaults, rules, subresources and columns, another stored
// version, versions that are served no longer. A version of its own tells when a server has taken a change over.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { chance, createRandom, type Random } from "../../../../apimachinery/testing/random.ts"
import { definitions } from "../cases/things.ts"
import { asTable } from "../generate/life-scenarios.ts"
import type { JsonObject } from "../generate/objects.ts"
import { applyPatch, get, mergePatch, patch, post, type RequestStep, type Scenario, type Step } from "../scenario.ts"
import { titled } from "./titled.ts"
import { versionOf } from "./version-schemas.ts"
import { at, group, stepOf, versionNames } from "./versions.ts"

const rounds = 5
const stepsOfRound = 8

export function randomRedefinitionScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length: rounds }, (_, round) => {
    const { spec, served } = definitionOf(random, round)
    const context = { random, versions: served }
    const between = Array.from({ length: stepsOfRound }, () => stepOf(context)).flat()
    return [...defines(spec, round), ...between.flatMap((step) => typed(step, spec))]
  })
  return { name: `redefinitions at random, seed ${seed}`, steps: titled(steps.flat()), anyOrder: true, byChance: true }
}

function defines(spec: JsonObject, round: number): RequestStep[] {
  const names = { plural: "things", singular: "thing", kind: "Thing" }
  const write =
    round === 0
      ? post(definitions, {
          metadata: { name: `things.${group}` },
          spec: { group, scope: "Namespaced", names, ...spec },
        })
      : patch(`${definitions}/things.${group}`, mergePatch, { spec })
  return [write, get(at(marker), { headers: asTable, untilText: columnOf(round) })]
}

/** Applies have fields of their version: of several others upstream tells one at random. */
function typed(step: Step, { versions }: JsonObject): Step[] {
  if ("watch" in step || step.contentType !== applyPatch || step.path.includes("/scale")) return [step]
  const version = (versions as Loose[]).find(({ name }) => step.path.startsWith(`${at(name)}/`))
  const { properties = {} } = version?.["schema"].openAPIV3Schema ?? {}
  const body = structuredClone(step.body) as Loose
  delete body["bogus"]
  if (properties.spec === undefined) return []
  for (const part of ["spec", "status"])
    for (const name of Object.keys(body[part] ?? {}))
      if (!(name in properties[part].properties)) delete body[part][name]
  return [{ ...step, body: body as Json }]
}

const marker = "v0marker0"
const columnOf = (round: number): string => `"round${round}"`

function definitionOf(random: Random, round: number): { spec: JsonObject; served: string[] } {
  const stored = random(versionNames.length)
  const versions = versionNames.map((name, index) => ({
    ...accepted(versionOf(random)),
    name,
    served: chance(random, 0.75),
    storage: index === stored,
  }))
  const served = versions.filter((version) => version.served).map(({ name }) => name)
  const column = { name: `round${round}`, type: "string", jsonPath: ".spec" }
  const marking = {
    name: marker,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    additionalPrinterColumns: [column],
  }
  return { spec: { versions: [...versions, marking] }, served: [...served, marker] }
}

/** Rules for these have no bounds. */
const costly: ReadonlySet<string> = new Set(["amount", "labels", "when"])

/** Without what the servers would refuse: it is another generator's. */
function accepted(version: JsonObject): JsonObject {
  const { schema, selectableFields = [], ...rest } = structuredClone(version) as Loose
  const { spec } = schema.openAPIV3Schema.properties
  const has = (name = ""): boolean => Object.hasOwn(spec.properties, name) && !costly.has(name)
  const { "x-kubernetes-validations": rules } = spec
  if (rules !== undefined) {
    delete spec.default
    spec["x-kubernetes-validations"] = rules
      .filter(({ rule }: Loose) =>
        [...rule.matchAll(/(?:[sS]elf|value\(\))\.([a-z]+)\b(?!\()/g)].every(([, name]) => has(name)),
      )
      .map(({ messageExpression: _costly, ...rule }: Loose) => rule)
  }
  const selectable = selectableFields.filter(({ jsonPath }: Loose) => has(jsonPath.slice(".spec.".length)))
  return { ...rest, schema, ...(selectable.length === 0 ? {} : { selectableFields: selectable }) }
}
