// Scales that claim to be of another kind or version: what they are read as, and which of their faults is told.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const owners: readonly [string, string, Json][] = [
  ["a Deployment", "/apis/apps/v1/namespaces/@{ns}/deployments", { selector: { matchLabels: { a: "b" } }, template }],
  ["a controller", "/api/v1/namespaces/@{ns}/replicationcontrollers", { selector: { a: "b" }, template }],
]

export function olderScaleCases(): Scenario[] {
  return owners.map(([what, path, spec]) => ({
    name: `the scale of ${what} claims to be of other types`,
    steps: [
      post(path, { metadata: { name: "d" }, spec }),
      ...types.flatMap((type) => values.flatMap((value) => writes(`${path}/d/scale`, { ...type, ...value }))),
      get(`${path}/d`),
    ],
  }))
}

const types = [
  { apiVersion: "apps/v1beta1", kind: "Scale" },
  { apiVersion: "apps/v1beta2", kind: "Scale" },
  { apiVersion: "extensions/v1beta1", kind: "Scale" },
  { apiVersion: "apps/v1", kind: "Scale" },
  { apiVersion: "autoscaling/v2", kind: "Scale" },
  { apiVersion: "apps/v1beta1", kind: "Deployment" },
  { apiVersion: "extensions/v1beta1", kind: "Deployment" },
  { apiVersion: "apps/v1beta2", kind: "ReplicaSet" },
  { apiVersion: "apps/v1", kind: "Deployment" },
]

const values: readonly { [key: string]: Json }[] = [
  {},
  { spec: { replicas: 3 } },
  { spec: { replicas: "3" } },
  { spec: { replicas: 1.5, x: 1 }, status: { replicas: "1", targetSelector: 3 } },
  { status: { selector: "x=y" } },
  { spec: { replicas: 4 }, status: { selector: { x: "y", a: "b" } } },
  { spec: { replicas: 5 }, status: { selector: { x: "y" }, targetSelector: "x=y", more: 1 } },
  { metadata: { labels: { a: 1 } } },
]

function writes(path: string, body: { [key: string]: Json }): RequestStep[] {
  const text = JSON.stringify(body)
  const metadata = { name: "d", ...(body["metadata"] as object | undefined) }
  return [
    ...["Strict", "Ignore"].map((validation) =>
      patch(`${path}?fieldValidation=${validation}`, mergePatch, body, { label: `MERGE ${validation} ${text}` }),
    ),
    put(path, { ...body, metadata }, { label: `PUT ${text}` }),
    patch(`${path}?fieldManager=m&force=true`, applyPatch, body, { label: `APPLY ${text}` }),
  ]
}
