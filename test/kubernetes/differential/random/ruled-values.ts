// Random rules in force, at every level of a schema: of items of lists and maps of every type, of structs in them, and of fields, about the
// old value, which may be optional. The definition changes in between, so that stored values no longer meet its rules.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  withQuery,
} from "../scenario.ts"
import { defines, type Schemas, thingsOf, versions, versionsOf } from "./changing-kind.ts"
import { ruledSchema, valueOf } from "./ruled-schema.ts"
import { titled } from "./titled.ts"
import { isJsonObject } from "./values.ts"

const group = "w@{id}.example.com"
const rounds = 4
const stepsOfRound = 12

const at = (version: string): string => thingsOf(group, version)

export function randomRuledValueScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const shape = random(2 ** 31)
  const steps = Array.from({ length: rounds }, (_, round) => {
    // The shape stays, and each round has other rules.
    const schemas = Object.fromEntries(
      versions.map((name) => [name, round === 0 ? ruledSchema(shape) : ruledSchema(shape, random)]),
    )
    const context: Context = { random, schemas }
    return [
      ...defines(
        group,
        round,
        versionsOf(schemas, pick(random, versions), () => ({ status: {} })),
      ),
      ...Array.from({ length: stepsOfRound }, () => pick(random, choices)(context)).flat(),
    ]
  })
  return { name: `rules in force at random, seed ${seed}`, steps: titled(steps.flat()), anyOrder: true, byChance: true }
}

interface Context {
  random: Random
  schemas: Schemas
}

type Choice = (context: Context) => RequestStep[]

const choices: readonly Choice[] = [
  creates,
  creates,
  replaces,
  replaces,
  merges,
  merges,
  merges,
  applies,
  applies,
  takes,
]

function thing({ random, schemas }: Context, version: string, name: string): JsonObject {
  const { properties } = schemas[version] as { properties: { spec: JsonObject; status: JsonObject } }
  return {
    apiVersion: `${group}/${version}`,
    kind: "Thing",
    metadata: { name },
    spec: valueOf(random, properties.spec),
    ...(chance(random, 0.3) ? { status: valueOf(random, properties.status) } : {}),
  }
}

function target(context: Context): { path: string; body: JsonObject } {
  const { random } = context
  const version = pick(random, versions)
  const name = pick(random, ["a", "a", "b"])
  const subresource = chance(random, 0.2) ? "/status" : ""
  return { path: `${at(version)}/${name}${subresource}`, body: thing(context, version, name) }
}

function creates(context: Context): RequestStep[] {
  const { random } = context
  const version = pick(random, versions)
  return [post(at(version), thing(context, version, pick(random, ["a", "b"])))]
}

function replaces(context: Context): RequestStep[] {
  const { path, body } = target(context)
  const metadata = { ...(body["metadata"] as JsonObject), resourceVersion: "@{now.metadata.resourceVersion}" }
  return [get(path, { save: "now" }), put(path, { ...body, metadata })]
}

function merges(context: Context): RequestStep[] {
  const { random } = context
  const { path, body } = target(context)
  const { spec, status = null } = body as { spec: JsonObject | null; status?: JsonObject }
  const some = Object.fromEntries(Object.entries(spec ?? {}).filter(() => chance(random, 0.4)))
  const change: JsonObject = chance(random, 0.3)
    ? { metadata: { labels: { l: pick(random, ["1", "2"]) } } }
    : { spec: some, ...(status === null ? {} : { status }) }
  return [patch(withQuery(path, chance(random, 0.3) ? "dryRun=All" : ""), mergePatch, change)]
}

function applies(context: Context): RequestStep[] {
  const { path, body } = target(context)
  const who = `fieldManager=${pick(context.random, ["one", "two"])}&force=true`
  return [patch(withQuery(path, who), applyPatch, declared(body))]
}

/** Of an unknown field and what is wrong beside it, upstream tells one at random. */
function declared(value: Json): Json {
  if (Array.isArray(value)) return value.map(declared)
  if (!isJsonObject(value)) return value
  const known = Object.entries(value).filter(([name]) => name !== "bogus")
  return Object.fromEntries(known.map(([name, inner]) => [name, declared(inner)]))
}

function takes(context: Context): RequestStep[] {
  const { random } = context
  const { path, body } = target(context)
  const field = pick(random, [...Object.keys((body["spec"] ?? {}) as JsonObject), "none"])
  return [patch(path, jsonPatch, [{ op: "remove", path: `/spec/${field}` }] as unknown as Json)]
}
