// Defaults that upstream adds when it reads an object, because they depend on what is set after it has been decoded. Only revisions tell
// whether they are stored. Those of jobs: job-rules.ts.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"

export function lateDefaultCases(): Scenario[] {
  return [
    { name: "a replication controller loses its labels in writes of its status", steps: unlabelled() },
    ...["labels", "annotations"].map((field) => ({
      name: `templates have empty ${field}`,
      steps: emptied(field),
    })),
    { name: "a pod gets what its resources default to from a limit range", steps: limited() },
    { name: "a claim gets its phase when it is read", steps: pending() },
  ]
}

const nothing = (one: string, when: string): RequestStep =>
  patch(one, mergePatch, {}, { label: `PATCH nothing ${when}` })

function unlabelled(): RequestStep[] {
  const path = `${core}/replicationcontrollers`
  const one = `${path}/a`
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
  const body = { apiVersion: "v1", kind: "ReplicationController", metadata: { name: "a" }, status: { replicas: 0 } }
  const status = (when: string, query = ""): RequestStep =>
    put(`${one}/status${query}`, body, { label: `PUT status ${when}` })
  return [
    post(path, { metadata: { name: "a" }, spec: { template } }),
    nothing(one, "after the create"),
    status("once"),
    get(one, { label: "GET after the status" }),
    status("twice"),
    status("in a dry run", "?dryRun=All"),
    nothing(one, "after the status"),
    nothing(one, "again"),
    status("without labels"),
    patch(one, mergePatch, { metadata: { labels: { c: "d" } } }, { label: "PATCH labels" }),
    status("of a labelled one"),
    get(`${path}?labelSelector=a%3Db`),
    patch(`${one}/scale`, mergePatch, {}),
    patch(`${one}/status`, mergePatch, { metadata: { labels: null } }),
    nothing(one, "at the end"),
  ]
}

/** They are no default: nothing is stored of them. */
function emptied(field: string): RequestStep[] {
  const containers = [{ name: "c", image: "i" }]
  const kinds: [path: string, spec: Record<string, Json>, pod: Record<string, Json>][] = [
    [`${core}/replicationcontrollers`, { selector: { a: "b" } }, { containers }],
    ["/apis/batch/v1/namespaces/@{ns}/jobs", {}, { restartPolicy: "Never", containers }],
  ]
  return kinds.flatMap(([path, spec, pod]) => {
    const metadata = { labels: { a: "b" }, [field]: {} }
    const body = { metadata: { name: "a" }, spec: { ...spec, template: { metadata, spec: pod } } } as unknown as Json
    const one = `${path}/a`
    const empty = (when: string): RequestStep =>
      patch(one, mergePatch, { metadata: { [field]: {} } }, { label: `PATCH empty ${field} ${when} of ${path}` })
    return [
      post(path, body),
      nothing(one, `after the create of ${path}`),
      empty("of itself"),
      patch(`${one}/status`, mergePatch, { metadata: { [field]: null } }, { label: `PATCH status of ${path}` }),
      empty("once more"),
      nothing(one, `after the status of ${path}`),
      patch(one, mergePatch, { metadata: { labels: null } }, { label: `PATCH without labels of ${path}` }),
      nothing(one, `at the end of ${path}`),
    ]
  })
}

function limited(): RequestStep[] {
  const path = `${core}/pods`
  const one = `${path}/a`
  const resources: object[] = [
    { limits: { cpu: "2", memory: "1Gi" } },
    { requests: { cpu: "2" }, limits: { memory: "1Gi" } },
    { limits: { cpu: "3" } },
  ]
  const limits = [{ type: "Container", default: { cpu: "1", memory: "128Mi" } }]
  return [
    post(`${core}/limitranges`, { metadata: { name: "l" }, spec: { limits } }),
    ...resources.flatMap((given) => {
      const about = JSON.stringify(given)
      const pod = { metadata: { name: "a" }, spec: { resources: given, containers: [{ name: "c", image: "i" }] } }
      return [
        post(path, pod as unknown as Json, { untilCode: 201, label: `POST ${about}` }),
        nothing(one, `of ${about}`),
        nothing(one, `again of ${about}`),
        get(one, { label: `GET ${about}` }),
        remove(one, { gracePeriodSeconds: 0 }, { label: `DELETE ${about}` }),
      ]
    }),
  ]
}

function pending(): RequestStep[] {
  const path = `${core}/persistentvolumeclaims`
  const one = `${path}/a`
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
  const claim = (metadata: object = {}): Json => ({ metadata: { name: "a", ...metadata }, spec }) as unknown as Json
  const release = (when: string): RequestStep =>
    patch(one, mergePatch, { metadata: { finalizers: null } }, { label: `PATCH finalizers ${when}` })
  return [
    post(path, claim()),
    get(path),
    nothing(one, "after the create"),
    nothing(one, "again"),
    patch(`${one}/status`, mergePatch, { status: null }),
    nothing(one, "after the status"),
    remove(one),
    release("of the first"),
    post(path, claim({ finalizers: ["example.com/a"] }), { label: "POST with a finalizer" }),
    remove(one, undefined, { label: "DELETE with a finalizer" }),
    nothing(one, "of what is deleted"),
    release("of the second"),
  ]
}
