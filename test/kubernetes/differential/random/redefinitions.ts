// Random changes of a definition while there are objects: other schemas, defaults, rules, subresources and columns, another stored
// version, versions that are served no longer.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { chance, createRandom, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { applyPatch, type Scenario, type Step } from "../scenario.ts"
import { defines, marker } from "./changing-kind.ts"
import { titled } from "./titled.ts"
import { versionOf } from "./version-schemas.ts"
import { at, group, stepOf, versionNames } from "./versions.ts"

const rounds = 5
const stepsOfRound = 8

export function randomRedefinitionScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length: rounds }, (_, round) => {
    const made = versionsOf(random)
    const served = made.filter((version) => version.served).map(({ name }) => name)
    const context = { random, versions: [...served, marker] }
    const between = Array.from({ length: stepsOfRound }, () => stepOf(context)).flat()
    return [...defines(group, round, made), ...between.flatMap((step) => typed(step, made))]
  })
  return { name: `redefinitions at random, seed ${seed}`, steps: titled(steps.flat()), anyOrder: true, byChance: true }
}

/** Applies have fields of their version: of several others upstream tells one at random. */
function typed(step: Step, versions: readonly JsonObject[]): Step[] {
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

function versionsOf(random: Random) {
  const stored = random(versionNames.length)
  return versionNames.map((name, index) => ({
    ...accepted(versionOf(random)),
    name,
    served: chance(random, 0.75),
    storage: index === stored,
  }))
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
