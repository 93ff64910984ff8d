// Deletions: the response to the write that removes an object, and statuses of objects being deleted.

import type { Json } from "../../../../apimachinery/object.ts"
import { patch, post, put, remove, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const slices = "/apis/discovery.k8s.io/v1/namespaces/@{ns}/endpointslices"
const dry = "dryRun=All"

export function lastAnswerCases(): Scenario[] {
  return [
    { name: "a deletion with a shorter grace period", steps: lessAsked() },
    { name: "an update ends what was deleted", steps: ended() },
    { name: "statuses of pods being deleted", steps: podStatuses() },
    { name: "a collection without jobs is deleted", steps: noJobs() },
  ]
}

/** The finalizer that the first deletion put there is not wanted by the second one. */
function lessAsked(): RequestStep[] {
  const maps = `${core}/configmaps`
  const pods = `${core}/pods`
  const spec = { containers: [{ name: "main", image: "busybox" }] }
  return [
    ...["Foreground", "Orphan"].flatMap((propagationPolicy) => [
      post(maps, { metadata: { name: "a" } }, { label: `POST map, ${propagationPolicy}` }),
      remove(`${maps}/a`, { propagationPolicy }, { label: `DELETE map, ${propagationPolicy}` }),
      remove(`${maps}/a?orphanDependents=false&${dry}`, {}, { label: `DELETE map, dry, ${propagationPolicy}` }),
      remove(`${maps}/a?orphanDependents=false`, {}, { label: `DELETE map again, ${propagationPolicy}` }),
    ]),
    post(pods, { metadata: { name: "a" }, spec }),
    remove(`${pods}/a`, { orphanDependents: true }),
    remove(`${pods}/a`, { gracePeriodSeconds: -1, orphanDependents: false }, { label: "DELETE pod again" }),
  ]
}

function ended(): RequestStep[] {
  const slice = { metadata: { name: "a", selfLink: "/x" }, addressType: "IPv4", endpoints: [], ports: [] }
  const limits = { metadata: { name: "a" }, spec: { limits: [] } }
  const role = { metadata: { name: "a" }, rules: [{ verbs: [], apiGroups: [], resources: [] }] }
  const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/@{ns}/roles"
  const cases: [string, object, object][] = [
    [slices, { metadata: { name: "a" }, addressType: "IPv4" }, slice],
    [`${core}/limitranges`, { metadata: { name: "a" } }, limits],
    [roles, { metadata: { name: "a" } }, { metadata: { name: "a" }, rules: [] }],
    [roles, { metadata: { name: "a" } }, role],
  ]
  return cases.flatMap(([path, first, last], index) => [
    post(path, first as never, { label: `POST ${index}` }),
    remove(`${path}/a`, { propagationPolicy: "Foreground" }, { label: `DELETE ${index}` }),
    put(`${path}/a?${dry}`, last as never, { label: `PUT dry ${index}` }),
    put(`${path}/a`, last as never, { label: `PUT ${index}` }),
    remove(`${path}/a`, undefined, { label: `DELETE again ${index}` }),
  ])
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
