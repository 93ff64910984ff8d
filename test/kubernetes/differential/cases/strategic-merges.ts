// Strategic merges of what a kind's struct does not describe, and of lists that are deleted from.

import type { Json } from "../../../../apimachinery/object.ts"
import { patch, post, put, remove, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"

export function strategicMergeCases(): Scenario[] {
  return [
    { name: "a strategic merge goes into what has no fields", steps: revisions() },
    { name: "a strategic merge deletes from lists of objects", steps: deletions() },
    { name: "a status says that a pod is deleted", steps: podStatuses() },
    { name: "a collection without jobs is deleted", steps: noJobs() },
    { name: "what may be chosen is not fit for HTML", steps: choices() },
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

function podStatuses(): RequestStep[] {
  const pods = `${core}/pods`
  const spec = { containers: [{ name: "main", image: "busybox" }] }
  const pod = (more: Record<string, Json>): Json => ({ metadata: { name: "a", ...more }, spec, status: {} })
  const deletionTimestamp = "2024-01-02T03:04:05Z"
  return [
    post(pods, { metadata: { name: "a", finalizers: ["a.b/c"] }, spec }),
    put(`${pods}/a/status?dryRun=All`, pod({ deletionTimestamp }), { label: "before" }),
    put(`${pods}/a/status?dryRun=All`, pod({ deletionTimestamp, deletionGracePeriodSeconds: 3 }), { label: "grace" }),
    put(`${pods}/a?dryRun=All`, pod({ deletionTimestamp }), { label: "not a status" }),
    remove(`${pods}/a`, { gracePeriodSeconds: 5 }),
    put(`${pods}/a/status?dryRun=All`, pod({ deletionTimestamp }), { label: "after" }),
    patch(`${pods}/a`, strategicPatch, { metadata: { finalizers: null } }, { label: "release" }),
    remove(`${pods}/a`, { gracePeriodSeconds: 0 }),
  ]
}

function noJobs(): RequestStep[] {
  const jobs = "/apis/batch/v1/namespaces/@{ns}/jobs"
  return [
    remove(jobs, {}),
    remove(`${jobs}?labelSelector=a%3Db&dryRun=All`, {}),
    remove(`${jobs}?propagationPolicy=Orphan`, {}),
    remove(jobs, { orphanDependents: false }, { label: "DELETE, orphans said" }),
    remove(`${jobs}?labelSelector=,,`, {}),
  ]
}

function choices(): RequestStep[] {
  const words = ["<a>&", "a\u0000b", "\u2028", "\u007f", "ü\t"]
  const service = (word: string): Json => ({ metadata: { name: "a" }, spec: { type: word, ports: [{ port: 80 }] } })
  const pod = (word: string): Json => ({
    metadata: { name: "a" },
    spec: { restartPolicy: word, dnsPolicy: word, containers: [{ name: "a", image: "x", imagePullPolicy: word }] },
  })
  const claim = (word: string): Json => ({
    metadata: { name: "a" },
    spec: { accessModes: [word], volumeMode: word, resources: { requests: { storage: "1" } } },
  })
  const policy = (word: string): Json => ({
    metadata: { name: "a-@{id}" },
    webhooks: [{ name: "a.b.c", failurePolicy: word, matchPolicy: word, sideEffects: word, clientConfig: {} }],
  })
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
  return words.flatMap((word) => [
    post(`${core}/services?dryRun=All`, service(word)),
    post(`${core}/pods?dryRun=All`, pod(word)),
    post(`${core}/persistentvolumeclaims?dryRun=All`, claim(word)),
    post(`${path}?dryRun=All`, policy(word)),
  ])
}
