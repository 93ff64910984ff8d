// Several clients apply, update and patch objects of a kind whose definition changes in between: how its lists and maps are merged, keys,
// defaults, fields that go and come, subresources that are switched on and off, and the stored version.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  put,
  remove,
  type RequestStep,
  type Scenario,
  withQuery,
} from "../scenario.ts"
import { defines, type Schemas, thingsOf, versions, versionsOf } from "./changing-kind.ts"
import { specOf, statusOf, versionSchema } from "./reshaped-fields.ts"
import { titled } from "./titled.ts"
import { isJsonObject } from "./values.ts"

const group = "r@{id}.example.com"
const rounds = 6
const stepsOfRound = 8

const at = (version: string): string => thingsOf(group, version)

export function randomReshapedScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length: rounds }, (_, round) => {
    const schemas = schemasOf(random)
    return [
      ...defines(
        group,
        round,
        versionsOf(schemas, pick(random, versions), () => subresources(random)),
      ),
      ...Array.from({ length: stepsOfRound }, () => declared(pick(random, choices)(random), schemas)),
      get(`${at(pick(random, versions))}/a`),
    ]
  })
  return {
    name: `shapes of a custom resource at random, seed ${seed}`,
    steps: titled(steps.flat()),
    anyOrder: true,
    byChance: true,
  }
}

function schemasOf(random: Random): Schemas {
  const same = versionSchema(random)
  return Object.fromEntries(versions.map((name) => [name, chance(random, 0.6) ? same : versionSchema(random)]))
}

/**
 * Without fields that the schema drops: upstream stores what is applied with them, where unknown fields around them are preserved, so that
 * they are there again when a later schema has them.
 */
function declared(step: RequestStep, schemas: Schemas): RequestStep {
  const [, version = ""] = /example\.com\/(\w+)\/namespaces/.exec(step.path) ?? []
  const schema = schemas[version]
  if (step.contentType !== applyPatch || step.path.includes("/scale") || schema === undefined) return step
  const { apiVersion = null, kind = null, metadata = null, ...rest } = step.body as JsonObject
  return { ...step, body: { apiVersion, kind, metadata, ...(kept(rest, schema) as JsonObject) } }
}

function kept(value: Json, schema: JsonObject): Json {
  const { items, properties = {}, additionalProperties } = schema
  if (Array.isArray(value)) return isJsonObject(items) ? value.map((item) => kept(item, items)) : value
  if (!isJsonObject(value)) return value
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true
  const found = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
    const field = (properties as JsonObject)[name] ?? additionalProperties
    if (isJsonObject(field)) return [[name, kept(inner, field)]]
    return isOpen ? [[name, inner]] : []
  })
  return Object.fromEntries(found)
}

function subresources(random: Random): JsonObject {
  return {
    ...(chance(random, 0.7) ? { status: {} } : {}),
    ...(chance(random, 0.6)
      ? {
          scale: {
            specReplicasPath: pick(random, [".spec.replicas", ".spec.count"]),
            statusReplicasPath: pick(random, [".status.replicas", ".status.other"]),
          },
        }
      : {}),
  }
}

interface Target {
  path: string
  body: JsonObject
  isScale: boolean
}

function target(random: Random): Target {
  const version = pick(random, versions)
  const name = pick(random, ["a", "a", "a", "b"])
  const subresource = pick(random, ["", "", "", "", "/status", "/scale"])
  const isScale = subresource === "/scale"
  const metadata = { name, ...(chance(random, 0.3) ? { labels: { l: pick(random, ["1", "2"]) } } : {}) }
  const body = isScale
    ? { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas: random(4) } }
    : {
        apiVersion: `${group}/${version}`,
        kind: "Thing",
        metadata,
        ...(chance(random, 0.9) ? { spec: specOf(random) } : {}),
        ...(subresource === "/status" || chance(random, 0.3) ? { status: statusOf(random) } : {}),
      }
  return { path: `${at(version)}/${name}${subresource}`, body, isScale }
}

function query(random: Random, ...more: string[]): string {
  return [
    ...more,
    ...(chance(random, 0.1) ? ["dryRun=All"] : []),
    ...(chance(random, 0.2) ? [`fieldValidation=${pick(random, ["Strict", "Ignore"])}`] : []),
  ].join("&")
}

type Choice = (random: Random) => RequestStep

const choices: readonly Choice[] = [
  applies,
  applies,
  applies,
  applies,
  applies,
  updates,
  patches,
  patches,
  replaces,
  ends,
]

function applies(random: Random): RequestStep {
  const { path, body } = target(random)
  const who = `fieldManager=${pick(random, ["one", "two", "three"])}`
  const force = chance(random, 0.6) ? ["force=true"] : []
  return patch(withQuery(path, query(random, who, ...force)), applyPatch, body)
}

function updates(random: Random): RequestStep {
  const { path, body } = target(random)
  return put(withQuery(path, query(random, "fieldManager=four")), body)
}

function patches(random: Random): RequestStep {
  const { path, body } = target(random)
  const { spec, status } = body as { spec?: Json; status?: Json }
  const change = {
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
    ...(chance(random, 0.2) ? { metadata: { labels: { m: pick(random, ["1", "2"]) } } } : {}),
  }
  return patch(withQuery(path, query(random, `fieldManager=${pick(random, ["one", "five"])}`)), mergePatch, change)
}

function replaces(random: Random): RequestStep {
  const { path } = target(random)
  const operation = {
    op: pick(random, ["add", "remove", "replace"]),
    path: pick(random, [
      "/spec/list",
      "/spec/struct",
      "/spec/texts",
      "/spec/map",
      "/spec/list/0",
      "/status",
      "/spec/scalar",
    ]),
    value: pick<Json>(random, [[], {}, [{ k: "a", n: 1 }], { a: "1" }, 3, ["a", "b"]]),
  }
  return patch(withQuery(path, query(random, "fieldManager=six")), jsonPatch, [operation])
}

function ends(random: Random): RequestStep {
  const name = pick(random, ["a", "b", "b"])
  return chance(random, 0.4)
    ? remove(`${at(pick(random, versions))}/${name}`)
    : patch(`${at(pick(random, versions))}/${name}`, mergePatch, {
        metadata: { managedFields: pick<Json>(random, [[{}], []]) },
      })
}
