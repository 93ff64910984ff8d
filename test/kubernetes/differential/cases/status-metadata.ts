// What becomes of an object's metadata if its status is written in a body that lacks it, or has another.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const labels = { a: "b" }
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "busybox" }] } }
const apps = "/apis/apps/v1/namespaces/@{ns}"
const selected: Json = { selector: { matchLabels: labels }, template }

const workloads: readonly (readonly [path: string, spec: Json])[] = [
  ["/api/v1/namespaces/@{ns}/replicationcontrollers", { selector: labels, template }],
  [`${apps}/deployments`, selected],
  [`${apps}/replicasets`, selected],
  [`${apps}/daemonsets`, selected],
  [`${apps}/statefulsets`, { ...(selected as object), serviceName: "a" }],
  ["/apis/batch/v1/namespaces/@{ns}/jobs", { template: { spec: { ...template.spec, restartPolicy: "Never" } } }],
]

export function statusMetadataCases(): Scenario[] {
  return [{ name: "a status is written without metadata", steps: workloads.flatMap(written) }]
}

function written([path, spec]: (typeof workloads)[number]): RequestStep[] {
  const own = { own: "x" }
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }
  const metadata = { name: "a", labels: own, annotations: own, finalizers: ["example.com/a"], ownerReferences: [owner] }
  const bare: Json = { metadata: { name: "a" } }
  const other = { new: "y" }
  const status = `${path}/a/status`
  return [
    post(path, { metadata, spec } as Json),
    put(`${status}?dryRun=All`, bare),
    put(status, bare),
    get(`${path}/a`),
    get(`${path}?labelSelector=a%3Db`),
    put(status, { metadata: { name: "a", labels: other, annotations: other }, spec }, { label: `PUT ${path} others` }),
    put(status, { ...(bare as object), spec }, { label: `PUT ${path} with its spec` }),
    patch(status, mergePatch, { metadata: { labels: null, annotations: { z: "z" } } }),
    put(status, bare, { label: `PUT ${path} again` }),
    get(`${path}/a`),
  ]
}
