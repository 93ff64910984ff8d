import { describe, expect, test } from "vitest"
import type { KubeObject, PersistentVolumeClaim, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { settingsOf } from "../../options.ts"
import { fakeTenant } from "../../testing/fake-tenants.ts"
import { buildSuperObject } from "../../conversion/super-object.ts"
import { decide } from "../../decision.ts"
import type { ResourceSync, SyncContext } from "../resource-sync.ts"
import { pod } from "./pod.ts"

const contextWith = (claim?: PersistentVolumeClaim): SyncContext => ({
  tenant: fakeTenant("acme"),
  settings: settingsOf({}),
  now: 0,
  view: {
    tenantObject: <T extends KubeObject>({ resource }: { resource: string }) =>
      (resource === "persistentvolumeclaims" ? claim : undefined) as T | undefined,
    tenantObjects: () => [],
    nominatedPods: () => [],
    superObject: () => undefined,
  },
})

const podOf = (spec: object): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "web", uid: "u1" },
  spec: { containers: [{ name: "main", image: "i" }], ...spec } as PodSpec,
})

const claimOf = (uid: string | undefined): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    namespace: "default",
    name: "web-data",
    ...(uid === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "web", uid, controller: true }] }),
  },
})

describe("an ephemeral volume", () => {
  const volumes = [
    { name: "data", ephemeral: { volumeClaimTemplate: { spec: {} } } },
    { name: "tmp", emptyDir: {} },
  ]
  const withVolume = podOf({ volumes })

  test("uses the claim that the tenant's controller has created", () => {
    const made = pod.toSuper(withVolume, contextWith(claimOf("u1")))
    expect(made.spec?.volumes).toEqual([
      { name: "data", persistentVolumeClaim: { claimName: "web-data" } },
      { name: "tmp", emptyDir: {} },
    ])
    expect(names(withVolume)).toContain("persistentvolumeclaims web-data")
  })

  test.each([
    ["the pod's", claimOf("u1"), "create"],
    ["not there yet", undefined, "create"],
    ["an earlier pod's", claimOf("u0"), "refuse"],
    ["nobody's", claimOf(undefined), "refuse"],
  ])("whose claim is %s", (_what, claim, kind) => {
    expect(pod.missing?.(withVolume, contextWith(claim)).kind).toBe(kind)
  })
})

test.each([
  ["does not exist", undefined, undefined],
  ["super is to bind", {}, undefined],
  [
    "the tenant's binder has bound",
    { "pv.kubernetes.io/bound-by-controller": "yes" },
    "spec.volumes[1].persistentVolumeClaim: ",
  ],
])("a pod that uses a claim that %s", (_what, annotations, expected) => {
  const made = claimOf(undefined)
  const claim = annotations === undefined ? undefined : { ...made, metadata: { ...made.metadata, annotations } }
  const volumes = [{ name: "tmp" }, { name: "data", persistentVolumeClaim: { claimName: "web-data" } }]
  const message = pod.unsupported?.(podOf({ volumes }), contextWith(claim as PersistentVolumeClaim | undefined))
  if (expected === undefined) expect(message).toBeUndefined()
  else expect(message).toContain(expected)
})

const names = (of: Pod): string[] =>
  (pod.dependencies?.(of, contextWith()) ?? []).map(({ resource, name }) => `${resource.resource} ${name}`)

test("objects that containers and image pulls need are copied before the pod", () => {
  const env = [
    { name: "a", valueFrom: { configMapKeyRef: { name: "of-env", key: "k" } } },
    { name: "b", valueFrom: { secretKeyRef: { name: "of-env", key: "k" } } },
    { name: "c", value: "1" },
  ]
  const envFrom = [{ configMapRef: { name: "of-all" } }, { secretRef: { name: "of-all" } }]
  const initContainers = [{ name: "init", image: "i", env }]
  const needed = names(
    podOf({ containers: [{ name: "main", envFrom }], initContainers, imagePullSecrets: [{ name: "pull" }] }),
  )
  expect(needed).toEqual(
    expect.arrayContaining([
      "configmaps of-env",
      "secrets of-env",
      "configmaps of-all",
      "secrets of-all",
      "secrets pull",
    ]),
  )
})

test("a running pod is compared without a look at every node", () => {
  const running = {
    ...podOf({ nodeName: "a" }),
    status: { phase: "Running", startTime: "2026-01-01T00:00:00Z" },
  } as Pod
  const context = contextWith()
  const made = buildSuperObject(pod as unknown as ResourceSync, running, context)
  const copy = { ...made, status: running.status } as Pod
  let looks = 0
  const tenantObjects = (): never[] => {
    looks++
    return []
  }
  const view = { ...context.view, tenantObjects }
  expect(decide(pod as unknown as ResourceSync, running, copy, { ...context, view })).toEqual({ do: "nothing" })
  expect(looks).toBe(0)
})

test.each([
  ["has not heard of it", undefined, undefined, 1],
  ["has time", 30, -60_000, 1],
  ["has the shortest time", 1, -20_000, undefined],
  ["does not answer", 1, -40_000, 0],
  ["has ended it", 0, -40_000, undefined],
])("the copy of a pod that is gone, if its kubelet %s", (_what, given, at, expected) => {
  const context = { ...contextWith(), now: Date.parse("2026-01-01T00:00:00Z") }
  const copy = buildSuperObject(pod as unknown as ResourceSync, podOf({ nodeName: "a" }), context)
  if (given !== undefined) {
    copy.metadata.deletionGracePeriodSeconds = given
    copy.metadata.deletionTimestamp = new Date(context.now + (at ?? 0)).toISOString()
  }
  const decided = (object: Pod | undefined) => decide(pod as unknown as ResourceSync, object, copy, context)
  const removed = (why: string): object =>
    expected === undefined ? { do: "nothing" } : { do: "remove", why, gracePeriodSeconds: expected }
  expect(decided(undefined)).toEqual(removed("gone"))
  const next = podOf({})
  expect(decided({ ...next, metadata: { ...next.metadata, uid: "u2" } })).toEqual(removed("stale"))
})
