// Annotations of nodes that came before taints: what they say has to be valid.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"

const nodes = "/api/v1/nodes"
const avoid = "scheduler.alpha.kubernetes.io/preferAvoidPods"
const taints = "scheduler.alpha.kubernetes.io/taints"

export function nodeAnnotationCases(): Scenario[] {
  return [{ name: "v1 Node has annotations of old", steps: annotated(), anyOrder: true }]
}

const owner = { apiVersion: "v1", kind: "ReplicationController", name: "a", uid: "b", controller: true }
const avoiding = (podController: object, more = {}): object => ({
  preferAvoidPods: [{ podSignature: { podController }, ...more }],
})

/** As text; what is no text is written as JSON. */
const avoided: readonly unknown[] = [
  "",
  "x",
  "{",
  "{} x",
  null,
  [],
  1,
  {},
  { preferAvoidPods: [] },
  { preferAvoidPods: {} },
  { preferAvoidPods: [null] },
  { preferAvoidPods: [1, "x"] },
  { preferAvoidPods: [{}] },
  { preferAvoidPods: [{ podSignature: {} }, { podSignature: null }] },
  { preferAvoidPods: [{ podSignature: "x" }] },
  avoiding(owner, { reason: "r", message: "m", evictionTime: "2024-01-01T00:00:00Z" }),
  avoiding(owner, { reason: 1 }),
  avoiding(owner, { evictionTime: "x" }),
  avoiding(owner, { evictionTime: 1 }),
  avoiding(owner, { evictionTime: null, unknown: 1 }),
  avoiding({ ...owner, controller: false }),
  avoiding({ ...owner, controller: "true" }),
  avoiding({ ...owner, uid: 1.5 }),
  avoiding({ CONTROLLER: true, Kind: {} }),
]

const taint = { key: "a", value: "b", effect: "NoSchedule" }
const tainted: readonly unknown[] = [
  "",
  "x",
  "[1,",
  null,
  {},
  [],
  [null],
  [1],
  [{}],
  [taint],
  [taint, { ...taint, value: "" }],
  [taint, { ...taint, timeAdded: "2024-01-01T00:00:00Z" }],
  [{ KEY: "a", Effect: "NoExecute", unknown: 1 }],
  [{ key: "", effect: "x", value: "b c" }],
  [{ key: 1 }],
  [{ effect: [] }],
  [{ ...taint, timeAdded: "x" }],
  [{ ...taint, timeAdded: 1 }],
]

function annotated(): RequestStep[] {
  const given = [
    ...avoided.map((value) => [avoid, value] as const),
    ...tainted.map((value) => [taints, value] as const),
  ].map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const)
  const of = (annotations: Record<string, string>, name = "n@{id}"): Json => ({ metadata: { name, annotations } })
  return [
    post(nodes, of({})),
    ...given.flatMap(([name, value]) => {
      const annotations = { [name]: value }
      const label = `${name} ${value}`
      return [
        post(`${nodes}?dryRun=All`, of(annotations, "o@{id}"), { label: `POST ${label}` }),
        ...["", "/status"].map((subresource) =>
          patch(
            `${nodes}/n@{id}${subresource}?dryRun=All`,
            mergePatch,
            { metadata: { annotations } },
            {
              label: `PATCH${subresource} ${label}`,
            },
          ),
        ),
      ]
    }),
    post(`${nodes}?dryRun=All`, of({ [avoid]: "x", [taints]: "y" }, "o@{id}"), { label: "POST both" }),
  ]
}
