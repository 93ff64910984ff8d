// Patches with fields that are unknown, and fields that are given twice: in which order they are told.

import { get, jsonPatch, mergePatch, post, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

const things = "/apis/@{id}.example.com/v1/namespaces/@{ns}/things"
const path = "/apis/apps/v1/namespaces/@{ns}/deployments"

export function strictPatchCases(): Scenario[] {
  return [
    {
      name: "patches of unknown and repeated fields",
      steps: [deployment(), ...["d", "d/status", "d/scale"].flatMap((name) => patches(`${path}/${name}`))],
    },
    {
      name: "patches of unknown and repeated fields of a custom resource",
      steps: [...thing(), ...["a", "a/status"].flatMap((name) => patches(`${things}/${name}`, ofCustomResources))],
    },
  ]
}

const deployment = (): RequestStep =>
  post(path, {
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
    },
  })

function thing(): RequestStep[] {
  const properties = { replicas: { type: "integer" } }
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties }, status: { type: "object", properties } },
    },
  }
  return [
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: "things.@{id}.example.com" },
      spec: {
        group: "@{id}.example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} }, schema }],
      },
    }),
    get(things, { untilCode: 200, label: "LIST when served" }),
    post(things, { apiVersion: "@{id}.example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: { replicas: 1 } }),
  ]
}

const merges = [
  '{"spec":{"replicas":1,"replicas":2}}',
  '{"spec":{"replicas":1,"replicas":2,"bogus":3},"bogus":3}',
  '{"bogus":3,"bogus":4,"spec":{"bogus":1,"bogus":2}}',
  '{"spec":{"bogus":3,"replicas":1,"replicas":2}}',
  '{"metadata":{"labels":{"a":"b","a":"c"},"bogus":1},"status":{"replicas":1,"replicas":2,"bogus":3}}',
  '{"bogus":{"a":1,"a":2}}',
  '{"spec":null,"spec":{"replicas":3}}',
]

const operations = [
  '[{"op":"add","op":"add","path":"/spec/replicas","value":3}]',
  '[{"op":"add","path":"/spec/bogus","value":{"a":1,"a":2}}]',
  '[{"op":"add","op":"add","path":"/spec/bogus","value":{"a":1,"a":2}}]',
  '[{"op":"add","path":"/spec/replicas","value":3,"bogus":1,"bogus":2}]',
  '[{"op":"add","path":"/spec/replicas","value":3,"bogus":1}]',
  '[{"op":"test","path":"/spec/nope","value":3,"value":4}]',
  '[{"OP":"add","op":"add","path":"/spec/replicas","value":3,"Value":4}]',
  '[{"op":"add","path":"/spec/replicas","value":3},{"op":"add","path":"/spec/replicas","value":3,"value":4}]',
]

/** Go's library keeps what stands in a value, so upstream finds the keys of a custom resource repeated once more. */
const ofCustomResources = operations.filter((text) => !text.includes('"value":{"a":1,"a":2}'))

function patches(at: string, ofJsonPatches: readonly string[] = operations): RequestStep[] {
  const texts: [string, readonly string[]][] = [
    [mergePatch, merges],
    [strategicPatch, merges],
    [jsonPatch, ofJsonPatches],
  ]
  return texts.flatMap(([contentType, bodies]) =>
    bodies.flatMap((body) =>
      ["Strict", "Warn", "Ignore"].map((validation) => ({
        method: "PATCH",
        path: `${at}?dryRun=All&fieldValidation=${validation}`,
        contentType,
        body,
        label: `PATCH ${at} ${validation} ${contentType} ${body}`,
      })),
    ),
  )
}
