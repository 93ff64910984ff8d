// Random lifecycles of objects as with real clients: mostly valid, with rarely used fields, really written in every encoding,
// read in every format, and written through every subresource.

import { stringify } from "yaml"
import type { Json } from "../../../../apimachinery/object.ts"
import { schemaOf } from "../../../../apimachinery/schema/facts.ts"
import { encodeProtobuf } from "../../../../apimachinery/schema/protobuf/encode.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { asMetadata, asTable, asYaml } from "../generate/life-scenarios.ts"
import { type JsonObject, type Kind, nameOf } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  strategicPatch,
  withQuery,
} from "../scenario.ts"
import { placesOf, replaced } from "./mutate.ts"
import { apiVersionOf } from "../../../conformance/minimal-objects.ts"
import { ruling } from "./ruling.ts"
import { titled } from "./titled.ts"
import { isJsonObject, plausibleValue } from "./values.ts"

/** Number of consecutive objects per scenario. */
const lives = 6

export function randomLifeScenario(kind: Kind, seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length: lives }, () => lifeOf(random, kind)).flat()
  return {
    name: `${kind.title} at random, lives, seed ${seed}`,
    steps: titled(steps),
    anyOrder: true,
    byChance: true,
  }
}

function lifeOf(random: Random, kind: Kind): RequestStep[] {
  const object = fuller(random, own(kind.other()), kind, 1 + random(3))
  const at = `${kind.path}/${nameOf(object)}`
  const dry = ruling.has(kind.facts.resource) ? "dryRun=All" : ""
  const created = written(random, kind, post(withQuery(kind.path, dry), object))
  if (dry !== "") return [created]
  const changed = fuller(random, object, kind, 1)
  return [
    created,
    get(at, { headers: pick(random, forms) }),
    ...(chance(random, 0.5) ? [written(random, kind, put(at, chance(random, 0.5) ? object : changed))] : []),
    ...(chance(random, 0.5) ? [patched(random, kind, at, changed)] : []),
    ...subresource(random, kind, at, object),
    get(at, { headers: pick(random, forms) }),
    get(`${kind.path}?labelSelector=own%3D@{id}`, { headers: pick(random, forms) }),
    remove(
      at,
      pick<Json | undefined>(random, [undefined, { gracePeriodSeconds: 0 }, { propagationPolicy: "Foreground" }]),
    ),
    remove(at, { gracePeriodSeconds: 0, propagationPolicy: "Background" }),
    patch(at, mergePatch, { metadata: { finalizers: null } }),
  ]
}

const forms = [asTable, asTable, asYaml, asMetadata, { accept: "application/vnd.kubernetes.protobuf" }, {}]

function own(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), labels: { own: "@{id}" } } }
}

/** Adds fields with plausible values. */
export function fuller(random: Random, object: JsonObject, { schema }: Kind, changes: number): JsonObject {
  let result: Json = object
  for (let count = 0; count < changes; count++) {
    const places = placesOf(result, schema).filter(
      ({ path, value, schema: known }) => path[0] !== "metadata" && isJsonObject(value) && known?.fields !== undefined,
    )
    const { path, schema: known } = pick(random, places)
    const fields = Object.entries(known?.fields ?? {}).filter(
      ([name]) => path.length > 0 || !["apiVersion", "kind", "metadata"].includes(name),
    )
    if (fields.length === 0) continue
    const [name, field] = pick(random, fields)
    result = replaced(result, [...path, name], plausibleValue(random, field.schema, name))
  }
  return isJsonObject(result) ? result : object
}

/** In JSON, YAML or protobuf. */
function written(random: Random, { facts, schema }: Kind, step: RequestStep): RequestStep {
  const { body } = step
  if (!isJsonObject(body)) return step
  const whole = {
    apiVersion: apiVersionOf(facts),
    kind: facts.kind,
    ...body,
  }
  const dice = random(4)
  if (dice === 0) return { ...step, body: stringify(whole), contentType: "application/yaml" }
  if (dice > 1) return step
  try {
    encodeProtobuf(schema, structuredClone(whole))
  } catch {
    return step // cannot be encoded as a message
  }
  return { ...step, body: whole, protobuf: { group: facts.group, version: facts.version, kind: facts.kind } }
}

function patched(random: Random, { facts }: Kind, at: string, changed: JsonObject): RequestStep {
  const { metadata, ...rest } = changed
  switch (random(3)) {
    case 0:
      return patch(at, mergePatch, rest)
    case 1:
      return patch(at, strategicPatch, rest)
    default: {
      const apiVersion = apiVersionOf(facts)
      const configuration = {
        apiVersion,
        kind: facts.kind,
        metadata: { name: nameOf({ metadata: metadata ?? {} }) },
        ...rest,
      }
      return patch(`${at}?fieldManager=one&force=true`, applyPatch, configuration)
    }
  }
}

type Subresource = (random: Random, kind: Kind, at: string, object: JsonObject) => RequestStep

const subresources: Readonly<Record<string, readonly Subresource[]>> = {
  pods: [evicted, bound, debugged, resized, resized],
  serviceaccounts: [token],
  certificatesigningrequests: [approved],
}

function subresource(random: Random, kind: Kind, at: string, object: JsonObject): RequestStep[] {
  const known = Object.hasOwn(subresources, kind.facts.resource) ? (subresources[kind.facts.resource] ?? []) : []
  const status = kind.schema.fields?.["status"]?.schema
  const ofStatus =
    status !== undefined && chance(random, 0.5)
      ? [written(random, kind, put(`${at}/status`, { ...object, status: plausibleValue(random, status, "status") }))]
      : []
  return known.length === 0 ? ofStatus : [...ofStatus, pick(random, known)(random, kind, at, object)]
}

/** An object of a kind that is written through a subresource. */
function made(random: Random, group: string, version: string, kind: string, more: JsonObject = {}): JsonObject {
  const schema = schemaOf({ group, version, kind })
  if (schema === undefined) throw new Error(`no schema of ${kind}`)
  const object: JsonObject = { apiVersion: group === "" ? version : `${group}/${version}`, kind, ...more }
  for (const [name, field] of Object.entries(schema.fields ?? {})) {
    if (Object.hasOwn(object, name) || name === "metadata" || chance(random, 0.4)) continue
    object[name] = plausibleValue(random, field.schema, name)
  }
  return object
}

function evicted(random: Random, _kind: Kind, at: string, object: JsonObject): RequestStep {
  const metadata = chance(random, 0.8) ? { name: nameOf(object) } : {}
  return post(`${at}/eviction?dryRun=All`, made(random, "policy", "v1", "Eviction", { metadata }))
}

function bound(random: Random, _kind: Kind, at: string, object: JsonObject): RequestStep {
  const target = pick<Json>(random, [{ name: "node" }, { kind: "Node", name: "node" }, { kind: "Pod", name: "x" }, {}])
  return post(`${at}/binding`, made(random, "", "v1", "Binding", { metadata: { name: nameOf(object) }, target }))
}

function debugged(random: Random, _kind: Kind, at: string): RequestStep {
  const schema = schemaOf({ group: "", version: "v1", kind: "Pod" })?.fields?.["spec"]?.schema.fields?.[
    "ephemeralContainers"
  ]
  const containers = schema === undefined ? [] : plausibleValue(random, schema.schema, "ephemeralContainers")
  return patch(`${at}/ephemeralcontainers`, strategicPatch, { spec: { ephemeralContainers: containers } })
}

function resized(random: Random, kind: Kind, at: string, object: JsonObject): RequestStep {
  const amounts = (): Json => ({
    [pick(random, ["cpu", "memory", "example.com/thing"])]: pick(random, ["1", "100m", "1Gi", "0"]),
  })
  const resources = pick<Json>(random, [
    { requests: amounts() },
    { limits: amounts() },
    { requests: amounts(), limits: amounts() },
  ])
  const policy = chance(random, 0.3)
    ? { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] }
    : {}
  const container = { name: "main", resources, ...policy }
  if (chance(random, 0.6)) return patch(`${at}/resize`, strategicPatch, { spec: { containers: [container] } })
  return put(
    `${at}/resize`,
    fuller(random, { ...object, spec: { containers: [{ image: "busybox", ...container }] } }, kind, 1),
  )
}

function token(random: Random, _kind: Kind, at: string): RequestStep {
  return post(`${at}/token?dryRun=All`, made(random, "authentication.k8s.io", "v1", "TokenRequest"))
}

function approved(random: Random, _kind: Kind, at: string, object: JsonObject): RequestStep {
  const condition = {
    type: pick(random, ["Approved", "Denied", "Failed", "Other"]),
    status: pick(random, ["True", "False"]),
  }
  const more = chance(random, 0.5) ? { reason: "Because", message: "so" } : {}
  const lists: Json = chance(random, 0.2) ? [] : [{ ...condition, ...more }]
  return put(`${at}/approval`, { ...object, status: { conditions: lists } })
}
