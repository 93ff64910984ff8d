// Custom resources whose definition is being deleted, which the finalizer of one of them delays: nothing can be created, in
// whatever way, and what there is can be changed.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const group = "x@{id}.example.com"
const root = `/apis/${group}/v1`
const things = `${root}/namespaces/@{ns}/things`

export function customEndCases(): Scenario[] {
  return [{ name: "a custom resource's kind is ending", steps: steps() }]
}

const thing = (name: string, more: object = {}, metadata: object = { name }): Json =>
  ({ apiVersion: `${group}/v1`, kind: "Thing", metadata, spec: {}, ...more }) as Json

function steps(): RequestStep[] {
  const properties = { spec: { type: "object", properties: { a: { type: "string" } } } }
  const version = { schema: { openAPIV3Schema: { type: "object", properties } }, subresources: { status: {} } }
  const definition = `${definitions}/things.${group}`
  const creates: [string, Json][] = [
    ["", thing("b")],
    ["with a generated name", thing("", {}, { generateName: "gen-" })],
    ["without a name", thing("", {}, {})],
    ["with a fault", thing("b", { spec: { a: 1 } })],
    ["with a bad name", thing("B")],
    ["of another kind", thing("b", { kind: "Other" })],
    ["that is there", thing("a")],
  ]
  return [
    { ...post(definitions, definitionOf(group, {}, version) as Json), label: "WRITE definition" },
    get(things, { untilCode: 200, label: "LIST when served" }),
    post(things, thing("a", {}, { name: "a", finalizers: ["example.com/x"] })),
    remove(definition, undefined, { label: "WRITE end" }),
    get(definition, { untilText: "InstanceDeletionInProgress", label: "WRITE nothing" }),
    ...creates.map(([what, body]) => post(things, body, { label: `POST ${what}` })),
    post(`${things}?dryRun=All`, thing("b"), { label: "POST dry" }),
    post(`${things}?fieldValidation=Strict`, thing("b", { bogus: 1 }), { label: "POST strict" }),
    post(`${root}/namespaces/absent/things`, thing("b"), { label: "POST to no namespace" }),
    patch(`${things}/c?fieldManager=x`, applyPatch, thing("c")),
    patch(`${things}/c/status?fieldManager=x`, applyPatch, thing("c")),
    patch(`${things}/c`, mergePatch, { spec: {} }),
    put(`${things}/c`, thing("c")),
    patch(`${things}/a?fieldManager=x`, applyPatch, thing("a", { spec: { a: "x" } })),
    patch(`${things}/a/status`, mergePatch, { status: {} }),
    get(root),
    patch(`${things}/a`, mergePatch, { metadata: { finalizers: null } }),
    get(things, { untilCode: 404, label: "LIST when gone" }),
  ]
}
