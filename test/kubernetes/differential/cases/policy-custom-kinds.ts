// The kinds that policies' patches change in other ways than those of most scenarios.

import { get, post, type RequestStep } from "../scenario.ts"
import { definition, definitions, things } from "./things.ts"

/** Objects within others, in CEL. */
export const embedded: readonly string[] = [
  "{'apiVersion': 5, 'kind': 'Pod'}",
  "{'apiVersion': null, 'kind': 'Pod'}",
  "{'apiVersion': 'v1', 'kind': 5}",
  "{'kind': {'a': 'b'}}",
  "{'metadata': {'name': 5}}",
  ...[
    "{'name': 5}",
    "{'finalizers': 5}",
    "{'labels': 5, 'name': 'a'}",
    "{'labels': {'a': 5}, 'annotations': {'a': 'b'}}",
    "{'name': 'Bad/Name'}",
    "{'name': 'a', 'more': 'x'}",
    "{'name': 'a', '__proto__': {'labels': 5}}",
    "{'creationTimestamp': 'x', 'generation': 1.5}",
    "null",
  ].map((metadata) => `{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': ${metadata}}`),
]

const within = { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true }
const holder = {
  type: "object",
  properties: {
    size: { type: "integer" },
    port: { "x-kubernetes-int-or-string": true },
    phase: { type: "string" },
    one: within,
    list: { type: "array", items: within },
  },
}
/** `one` and the items of `list`, in the spec and in the status. */
export const embedding: readonly RequestStep[] = [
  post(
    definitions,
    definition({
      selectableFields: [],
      schema: { openAPIV3Schema: { type: "object", properties: { spec: holder, status: holder } } },
    }),
  ),
  get(things, { untilCode: 200, label: "LIST when served" }),
]

/** Of the versions other than that of the requests, v0 is not served, and there is no v3. */
export const versioned: readonly RequestStep[] = [
  post(
    definitions,
    definition(
      {},
      {
        versions: ["v0", "v1", "v2"].map((name) => ({
          name,
          served: name !== "v0",
          storage: name === "v1",
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  properties: { size: { type: "integer" }, from: { type: "string", default: name } },
                  "x-kubernetes-preserve-unknown-fields": true,
                },
                status: { type: "object", properties: { phase: { type: "string" } } },
              },
            },
          },
        })),
      },
    ),
  ),
  get(things, { untilCode: 200, label: "LIST when served" }),
]

/** What is malformed cannot be converted to v2, in which objects are stored. */
export const storedElsewhere: readonly RequestStep[] = [
  post(
    definitions,
    definition(
      {},
      {
        versions: ["v1", "v2"].map((name) => ({
          name,
          served: true,
          storage: name === "v2",
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true }, status: holder },
            },
          },
        })),
      },
    ),
  ),
  get(things, { untilCode: 200, label: "LIST when served" }),
]
