// Random scenarios of a kind: an object is created, then random requests follow. The same seed yields the same scenario.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { asUpdate, type JsonObject, type Kind, nameOf } from "../generate/objects.ts"
import {
  get,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  type Step,
  watch,
  withQuery,
} from "../scenario.ts"
import { mutated, oddText, replaced } from "./mutate.ts"
import { randomPatch } from "./patches.ts"
import { deleteOptions, getQuery, listQuery, randomHeaders, writeQuery } from "./queries.ts"
import { ruling } from "./ruling.ts"
import { titled } from "./titled.ts"
import { oddValue, plausibleValue } from "./values.ts"

/** Number of requests per scenario after the first. */
const length = 24

export function randomScenario(kind: Kind, seed: number): Scenario {
  const random = createRandom(seed)
  const context: Context = { random, kind, object: labelled(kind.object()) }
  const steps: Step[] = [
    { ...post(kind.path, context.object), save: "valid" },
    // Ruling resources are also written by upstream's own controllers.
    ...(chance(random, 0.3) && !ruling.has(kind.facts.resource) ? [randomWatch(context)] : []),
    ...Array.from({ length }, () => pick(random, choices)(context)).flat(),
  ]
  return { name: `${kind.title} at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

interface Context {
  random: Random
  kind: Kind
  object: JsonObject
}

type Choice = (context: Context) => Step[]

/** Each is chosen as often as it is listed. */
const choices: readonly Choice[] = [
  creates,
  creates,
  creates,
  creates,
  creates,
  updates,
  updates,
  updates,
  updates,
  patches,
  patches,
  patches,
  patches,
  subresources,
  subresources,
  subresources,
  reads,
  lists,
  deletes,
  odd,
]

function labelled(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), labels: { own: "@{id}" } } }
}

/** A dry run or a real write. */
function written({ random, kind }: Context, earnest: number): string {
  const isDry = ruling.has(kind.facts.resource) || !chance(random, earnest)
  const query = writeQuery(random)
  if (!isDry) return query.replaceAll(/dryRun=[^&]*&?/g, "")
  return query.includes("dryRun=All")
    ? query
    : ["dryRun=All", query.replaceAll(/dryRun=[^&]*&?/g, "")].filter(Boolean).join("&")
}

function creates(context: Context): RequestStep[] {
  const { random, kind } = context
  const made = chance(random, 0.5) ? kind.other() : kind.object()
  const object = mutated(random, labelled(made), kind.schema, 1 + random(4))
  const query = written(context, 0.1)
  return [post(withQuery(kind.path, query), object, randomHeaders(random, 0.15))]
}

function updates(context: Context): RequestStep[] {
  const { random, kind, object } = context
  const changed = mutated(random, object, kind.schema, 1 + random(3))
  const query = written(context, 0.35)
  const body = chance(random, 0.7) ? asUpdate(kind, changed) : changed
  return [put(withQuery(kind.objectPath, query), body, randomHeaders(random, 0.15))]
}

function patches(context: Context): RequestStep[] {
  return [patched(context, context.kind.objectPath, context.object)]
}

function patched(context: Context, path: string, object: JsonObject): RequestStep {
  const { random, kind } = context
  const { contentType, body, manager } = randomPatch(random, kind, object)
  const query = [
    written(context, 0.5),
    ...(manager === undefined ? [] : [`fieldManager=${manager}`]),
    ...(manager !== undefined && chance(random, 0.5) ? ["force=true"] : []),
  ]
  return patch(withQuery(path, query.filter(Boolean).join("&")), contentType, body, randomHeaders(random, 0.1))
}

function subresources(context: Context): Step[] {
  const { random, kind, object } = context
  const known = kind.facts.subresources.filter(({ name }) => ["status", "scale"].includes(name))
  if (known.length === 0) return updates(context)
  const { name } = pick(random, known)
  const path = `${kind.objectPath}/${name}`
  if (name === "scale") return [scaled(context, path)]
  const schema = kind.schema.fields?.["status"]?.schema
  const status = schema === undefined ? {} : plausibleValue(random, schema, "status")
  const whole = { ...object, status }
  if (chance(random, 0.15)) return [get(withQuery(path, getQuery(random)), randomHeaders(random))]
  if (chance(random, 0.4)) return [patched(context, path, mutated(random, whole, kind.schema, 1))]
  return [
    put(
      withQuery(path, written(context, 0.5)),
      asUpdate(kind, mutated(random, whole, kind.schema, random(3))),
      randomHeaders(random, 0.1),
    ),
  ]
}

function scaled(context: Context, path: string): RequestStep {
  const { random, kind } = context
  const replicas = chance(random, 0.7) ? random(5) : oddValue(random)
  const scale: JsonObject = { metadata: { name: nameOf(kind.object()) }, spec: { replicas } }
  if (chance(random, 0.3)) scale["apiVersion"] = pick(random, ["autoscaling/v1", "apps/v1", "v1"])
  if (chance(random, 0.3)) scale["kind"] = pick(random, ["Scale", "Bogus"])
  const query = written(context, 0.5)
  if (chance(random, 0.2)) return get(path, randomHeaders(random))
  if (chance(random, 0.5)) return put(withQuery(path, query), scale)
  const apply = `fieldManager=${pick(random, ["one", "two"])}&force=${pick(random, ["true", "false"])}`
  return pick(random, [
    patch(withQuery(path, query), "application/merge-patch+json", { spec: { replicas } }),
    patch(withQuery(path, query), "application/json-patch+json", [
      { op: pick(random, ["replace", "add", "remove"]), path: "/spec/replicas", value: replicas },
    ]),
    patch(withQuery(withQuery(path, query), apply), "application/apply-patch+yaml", {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      ...scale,
    }),
  ])
}

function reads({ random, kind }: Context): RequestStep[] {
  return [get(withQuery(kind.objectPath, getQuery(random)), randomHeaders(random))]
}

function lists({ random, kind }: Context): RequestStep[] {
  return [get(withQuery(kind.path, listQuery(random, kind, kind.facts.namespaced)), randomHeaders(random))]
}

function randomWatch({ random, kind }: Context): Step {
  const selector = pick(random, [
    "own%3D@{id}",
    "own%3D@{id},a",
    "own%3D@{id},!a",
    "own%3D@{id},app",
    "own%3D@{id},a%20notin%20(1,x)",
  ])
  const query = `labelSelector=${selector}&resourceVersion=@{valid.metadata.resourceVersion}`
  return watch(
    withQuery(kind.path, query),
    randomHeaders(random, 0.2).headers?.["accept"]?.includes("Table") === true
      ? { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } }
      : {},
  )
}

/** Usually recreates the object for the following requests. */
function deletes(context: Context): RequestStep[] {
  const { random, kind } = context
  const isRuling = ruling.has(kind.facts.resource)
  const { query, body } = deleteOptions(random)
  const dry = isRuling ? "dryRun=All" : ""
  const path = chance(random, 0.15) ? withQuery(kind.path, "labelSelector=own%3D@{id}") : kind.objectPath
  return [
    // Options in the query only apply without a body.
    remove(withQuery(withQuery(path, dry), query), isRuling ? undefined : body),
    ...(chance(random, 0.7) ? [post(kind.path, context.object)] : []),
  ]
}

/** Malformed bodies. */
function odd(context: Context): RequestStep[] {
  const { random, kind, object } = context
  const query = written(context, 0)
  const text = oddText(random, mutated(random, object, kind.schema, random(2)))
  const contentType = pick(random, [
    "application/json",
    "application/json",
    "application/yaml",
    "application/json; charset=utf-8",
    "text/json",
    "application/vnd.kubernetes.protobuf",
  ])
  const body: Json = chance(random, 0.9) ? text : text.slice(0, random(text.length))
  if (chance(random, 0.5)) return [{ ...put(withQuery(kind.objectPath, query), body), contentType }]
  return [{ ...post(withQuery(kind.path, query), replaced(body, [], body)), contentType }]
}
