// Custom resources in less common situations: warnings about several finalizers, a scale whose field has no place, objects within
// messages, embedded objects that only validation refuses, and the path of a proxy.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "e@{id}.example.com"
const root = `/apis/${group}/v1`
const things = `${root}/namespaces/@{ns}/things`
const dryRun = "dryRun=All"

export function customDetailCases(): Scenario[] {
  return [
    { name: "a custom resource gets several finalizers", steps: [...made({}), ...finalizers()] },
    { name: "a custom resource's number is in an object that is null", steps: [...made(scalable), ...scaled()] },
    {
      name: "a custom resource's objects are shown in messages",
      anyOrder: true,
      steps: [...made(listing), ...shown()],
    },
    { name: "a custom resource is applied with odd metadata within", steps: [...made(embedding), ...applied()] },
    { name: "a custom resource without fields is applied", steps: [...made({ root: {} }), ...bare()] },
    { name: "a custom resource is asked for through a proxy", steps: [...made({}), ...proxied()] },
  ]
}

const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more })
const anything = { "x-kubernetes-preserve-unknown-fields": true }

/** The parts of a version that are not common. */
interface Special {
  /** The properties of the whole, instead of a spec. */
  root?: object
  spec?: object
  subresources?: object
}

const scalable: Special = {
  spec: object({ replicas: { type: "integer" } }, { nullable: true }),
  subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
}
const listing: Special = {
  spec: object({
    set: { type: "array", items: anything, "x-kubernetes-list-type": "set" },
    choice: { ...anything, enum: [{ b: 1, a: "<" }] },
  }),
}
const embedding: Special = {
  spec: object({ one: { type: "object", "x-kubernetes-embedded-resource": true, ...anything } }),
}

function made({ spec = object({}), root = { spec }, subresources = {} }: Special): RequestStep[] {
  const version = { schema: { openAPIV3Schema: object(root) }, subresources }
  return [
    { ...post(definitions, definitionOf(group, {}, version) as Json), label: "POST definition" },
    get(things, { untilCode: 200, label: "LIST when served" }),
  ]
}

const thing = (spec: Json, metadata: object = {}): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a", ...metadata }, spec }) as Json

function finalizers(): RequestStep[] {
  return [
    post(things, thing({}, { finalizers: ["z", "a", "m.b", "z", "example.com/x"] })),
    patch(`${things}/a`, mergePatch, { metadata: { finalizers: ["z", "a", "y", "b.c", "m.b"] } }),
  ]
}

function scaled(): RequestStep[] {
  const scale = `${things}/a/scale`
  return [
    post(things, thing(null)),
    get(scale),
    put(scale, { metadata: { name: "a" }, spec: { replicas: 4 } }),
    patch(scale, mergePatch, { spec: { replicas: 4 } }),
    get(`${things}/a`),
  ]
}

function shown(): RequestStep[] {
  const specs: Json[] = [
    {
      set: [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    },
    { set: [[{ b: 1, a: 1 }], [{ a: 1, b: 1 }]] },
    { choice: { d: 2, c: { f: 1, e: [{ b: 1, a: 1 }] } } },
  ]
  return specs.map((spec) => post(`${things}?${dryRun}`, thing(spec), { label: `POST ${JSON.stringify(spec)}` }))
}

function applied(): RequestStep[] {
  const odd: Json[] = [
    { creationTimestamp: "yesterday" },
    { deletionTimestamp: "" },
    { generation: 1.5 },
    { labels: { a: null } },
    { ownerReferences: [null] },
  ]
  return odd.map((metadata) => {
    const spec = { one: { apiVersion: "v1", kind: "Pod", metadata } }
    const label = `APPLY ${JSON.stringify(metadata)}`
    return patch(`${things}/a?fieldManager=x&${dryRun}`, applyPatch, thing(spec), { label })
  })
}

function bare(): RequestStep[] {
  const path = `${things}/a?fieldManager=x`
  const { spec: _, ...none } = thing(null) as { spec: null }
  return [patch(path, applyPatch, thing({ a: 1 })), patch(path, applyPatch, none, { label: "APPLY nothing" })]
}

function proxied(): RequestStep[] {
  const path = `${root}/proxy/namespaces/@{ns}/things/a`
  return [get(path), post(path, thing({})), get(`${path}/more`)]
}
