// Strategic merges of what a kind's struct does not describe, and of lists that are deleted from.

import type { Json } from "../../../../apimachinery/object.ts"
import { patch, post, remove, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

export function strategicMergeCases(): Scenario[] {
  return [
    { name: "a strategic merge goes into what has no fields", steps: revisions() },
    { name: "a strategic merge deletes from lists of objects", steps: deletions() },
    { name: "a strategic merge orders what is no list of the kind", steps: orders() },
    { name: "a strategic merge is shown as far as it was used", steps: refused() },
  ]
}

function revisions(): RequestStep[] {
  const path = "/apis/apps/v1/namespaces/@{ns}/controllerrevisions"
  const data = { spec: { a: { b: 1 }, list: [1] }, word: "x" }
  const patches: Record<string, Json>[] = [
    { data: {} },
    { data: { word: "x" } },
    { data: { word: "y" } },
    { data: { word: null } },
    { data: { spec: {} } },
    { data: { spec: null } },
    { data: { spec: { list: [] } } },
    { data: { spec: [] } },
    { data: { spec: { a: 1 } }, $retainKeys: ["data"] },
    { data: { $patch: "replace", spec: {} } },
    { data: { $retainKeys: ["spec"] } },
    { data: [] },
    { revision: 7 },
  ]
  return [
    post(path, { metadata: { name: "a" }, data }),
    ...patches.map((body) =>
      patch(`${path}/a?dryRun=All`, strategicPatch, body, { label: `PATCH ${JSON.stringify(body)}` }),
    ),
  ]
}

function deletions(): RequestStep[] {
  const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
  const rule = { apiGroups: ["a.example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] }
  const constraints = (body: Record<string, Json>): Json => ({ spec: { matchConstraints: body } })
  const containers = (body: Record<string, Json>): Json => ({ spec: { template: { spec: body } } })
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  const labels = { a: "b" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "x", args: ["1", "2"] }] } }
  const of = (place: string, body: Json): RequestStep =>
    patch(`${place}?dryRun=All`, strategicPatch, body, { label: `PATCH ${JSON.stringify(body)}` })
  return [
    post(path, {
      metadata: { name: "a-@{id}" },
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }] },
    }),
    of(`${path}/a-@{id}`, constraints({ "$deleteFromPrimitiveList/resourceRules": [rule] })),
    of(`${path}/a-@{id}`, constraints({ "$deleteFromPrimitiveList/resourceRules": [] })),
    of(`${path}/a-@{id}`, constraints({ "$deleteFromPrimitiveList/resourceRules": ["x"] })),
    of(`${path}/a-@{id}`, constraints({ "$deleteFromPrimitiveList/excludeResourceRules": [rule] })),
    post(deployments, {
      metadata: { name: "a", finalizers: ["a.b/c"] },
      spec: { selector: { matchLabels: labels }, template },
    }),
    of(`${deployments}/a`, containers({ "$deleteFromPrimitiveList/containers": [{ name: "a", image: "y" }] })),
    of(`${deployments}/a`, containers({ "$deleteFromPrimitiveList/containers": [{ name: "b", image: "y" }] })),
    of(`${deployments}/a`, containers({ "$deleteFromPrimitiveList/containers": [{ image: "y" }] })),
    of(`${deployments}/a`, containers({ "$deleteFromPrimitiveList/containers": ["a"] })),
    of(`${deployments}/a`, containers({ containers: [{ name: "a", "$deleteFromPrimitiveList/args": ["2", "3"] }] })),
    of(`${deployments}/a`, containers({ containers: [{ name: "a", "$deleteFromPrimitiveList/args": [2] }] })),
    of(`${deployments}/a`, { metadata: { "$deleteFromPrimitiveList/finalizers": ["a.b/c"] } }),
    patch(`${deployments}/a`, strategicPatch, { metadata: { finalizers: null } }, { label: "release" }),
    remove(`${path}/a-@{id}`),
  ]
}

function orders(): RequestStep[] {
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  const labels = { a: "b" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "x" }] } }
  const ofRoot = ["bogus", "spec", "status", "metadata", "kind", "Spec"]
  const ofSpec = ["bogus", "replicas", "paused", "minReadySeconds", "progressDeadlineSeconds", "strategy", "Template"]
  const ofPod = [
    "bogus",
    "nodeName",
    "nodeSelector",
    "Volumes",
    "securityContext",
    "hostNetwork",
    "affinity",
    "overhead",
  ]
  const order = (key: string, list: Json): Record<string, Json> => ({ [`$setElementOrder/${key}`]: list })
  const places: [readonly string[], (body: Record<string, Json>) => Json][] = [
    [ofRoot, (body) => body],
    [ofSpec, (spec) => ({ spec })],
    [ofPod, (spec) => ({ spec: { template: { spec } } })],
    [["bogus", "a"], (matchLabels) => ({ spec: { selector: { matchLabels } } })],
    [["bogus", "name", "finalizers", "labels", "creationTimestamp"], (metadata) => ({ metadata })],
    [["bogus", "rollingUpdate", "type"], (strategy) => ({ spec: { strategy } })],
  ]
  const bodies = places.flatMap(([keys, at]) =>
    keys.flatMap((key) => [at(order(key, [])), at(order(key, ["x"])), at({ [key]: ["y"], ...order(key, ["x"]) })]),
  )
  return [
    post(deployments, { metadata: { name: "a" }, spec: { selector: { matchLabels: labels }, template } }),
    ...bodies.map((body) =>
      patch(`${deployments}/a?dryRun=All`, strategicPatch, body, { label: `PATCH ${JSON.stringify(body)}` }),
    ),
  ]
}

/** Each makes a name of a number, which no object can have, so the patch is told. */
function refused(): RequestStep[] {
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  const labels = { a: "b" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "x", args: ["1"] }] } }
  const pod = (spec: Json): Record<string, Json> => ({ spec: { template: { spec } } })
  const patches: Record<string, Json>[] = [
    { metadata: { labels: { own: 1, $patch: "replace" } } },
    { metadata: { annotations: { a: null, b: { c: null, d: [{ e: null }] } } } },
    { metadata: { annotations: { b: { $patch: "delete", c: 1 }, d: [{ $patch: "delete" }, 1] } } },
    { spec: { strategy: { $retainKeys: ["type"], type: 7 } } },
    { spec: { replicas: { a: [{ $patch: "merge" }, null, { b: null }] } } },
    pod({ containers: [{ name: "a", image: 7, $retainKeys: ["name", "image"] }] }),
    pod({ containers: [{ name: "b", image: 7, stdin: null, $retainKeys: ["name", "image"] }] }),
    pod({ $patch: "replace", containers: [{ name: "a", image: 7, $patch: "replace" }] }),
    pod({ "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [{ name: "b", image: 7 }] }),
    pod({ containers: [{ name: "a", image: 7, "$deleteFromPrimitiveList/args": ["1"], args: null }] }),
    pod({ tolerations: [{ key: 7, value: null }], nodeSelector: { a: 1, b: null } }),
    pod({ nodeName: 7, volumes: [{ name: "v", emptyDir: { medium: null, $patch: "delete" } }] }),
  ]
  return [
    post(deployments, { metadata: { name: "a", labels }, spec: { selector: { matchLabels: labels }, template } }),
    ...patches.map((body) =>
      patch(`${deployments}/a?dryRun=All`, strategicPatch, body, { label: `PATCH ${JSON.stringify(body)}` }),
    ),
  ]
}
