import { expect, test } from "vitest"
import type { ClusterRole, KubeObject, PersistentVolumeClaim, Pod } from "../../apimachinery/object.ts"
import { invalid } from "../../apimachinery/status.ts"
import { clusterRoles, persistentVolumeClaims, pods, volumeAttributesClasses } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness } from "../testing/harness.ts"

test("a deleted claim is kept until no pod with a node uses it", async () => {
  await using harness = await startHarness({ only: ["persistentvolumeclaim-protection"] })
  const find = (): PersistentVolumeClaim | undefined => harness.cluster.find(persistentVolumeClaims, "default", "data")
  const metadata = { name: "data", namespace: "default" }
  await harness.create(persistentVolumeClaims, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata })
  await eventually(() => expect(find()!.metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]))
  const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }]
  const spec = { nodeName: "n", containers: [], volumes }
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default" }, spec }
  await harness.create<Pod>(pods, pod)
  await harness.cluster.delete(persistentVolumeClaims, "default", "data")
  await eventually(() => expect(find()!.metadata.deletionTimestamp).toBeDefined())
  await harness.cluster.delete(pods, "default", "p")
  await eventually(() => expect(find()).toBeUndefined())
})

test("a deleted claim is not kept because a policy refused once to release it", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["persistentvolumeclaim-protection"], clock })
  const finalizers = ["kubernetes.io/pvc-protection"]
  const metadata = { name: "data", namespace: "default", finalizers }
  await harness.create(persistentVolumeClaims, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata })
  let refusals = 0
  const refusal = invalid({ group: "", kind: "PersistentVolumeClaim" }, "data", [])
  harness.cluster.fail = (verb) => (verb === "patch" && refusals++ === 0 ? refusal : undefined)
  await harness.cluster.delete(persistentVolumeClaims, "default", "data")
  await eventually(() => {
    clock.advance(1_000)
    expect(harness.cluster.all(persistentVolumeClaims)).toEqual([])
  })
  expect(refusals).toBe(2)
})

test("a claim is kept while a finished pod names it; an ephemeral one is removed when the kubelet is done with its pod", async () => {
  await using harness = await startHarness({ only: ["persistentvolumeclaim-protection"] })
  const find = (name: string): PersistentVolumeClaim | undefined =>
    harness.cluster.find(persistentVolumeClaims, "default", name)
  const volumes = [
    { name: "v", persistentVolumeClaim: { claimName: "data" } },
    { name: "own", ephemeral: {} },
  ]
  const pod = await harness.create<Pod>(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", finalizers: ["test/hold"] },
    spec: { nodeName: "n", containers: [], volumes },
    status: { phase: "Succeeded" },
  } as Pod)
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: pod.metadata.uid ?? "", controller: true }
  const claim = (name: string, ownerReferences: (typeof owner)[]): KubeObject => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", finalizers: ["kubernetes.io/pvc-protection"], ownerReferences },
  })
  await harness.create(persistentVolumeClaims, claim("data", []))
  await harness.create(persistentVolumeClaims, claim("p-own", [owner]))
  await harness.create(persistentVolumeClaims, claim("free", []))
  for (const name of ["data", "p-own", "free"]) await harness.cluster.delete(persistentVolumeClaims, "default", name)
  await eventually(() => expect(find("free")).toBeUndefined())
  expect(find("p-own")).toBeDefined()
  await harness.cluster.delete(pods, "default", "p", { gracePeriodSeconds: 0 })
  await harness.change(pods, "default", "p", { metadata: { deletionGracePeriodSeconds: 0 } })
  await eventually(() => expect(find("p-own")).toBeUndefined())
  expect(find("data")).toBeDefined()
  await harness.change(pods, "default", "p", { metadata: { finalizers: null } })
  await eventually(() => expect(find("data")).toBeUndefined())
})

test("a deleted VolumeAttributesClass is kept until no claim names it", async () => {
  await using harness = await startHarness({ only: ["volumeattributesclass-protection"] })
  const find = (): KubeObject | undefined => harness.cluster.find(volumeAttributesClasses, undefined, "gold")
  await harness.create(volumeAttributesClasses, {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttributesClass",
    metadata: { name: "gold" },
    driverName: "d",
  } as KubeObject)
  await eventually(() => expect(find()!.metadata.finalizers).toEqual(["kubernetes.io/vac-protection"]))
  await harness.create<PersistentVolumeClaim>(persistentVolumeClaims, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "default" },
    spec: { volumeAttributesClassName: "gold" },
  } as KubeObject)
  await harness.cluster.delete(volumeAttributesClasses, undefined, "gold")
  await eventually(() => expect(find()!.metadata.deletionTimestamp).toBeDefined())
  await harness.cluster.delete(persistentVolumeClaims, "default", "data")
  await eventually(() => expect(find()).toBeUndefined())
})

test("an aggregated ClusterRole has the rules of the roles that its selectors match", async () => {
  await using harness = await startHarness({ only: ["clusterrole-aggregation"] })
  const role = (name: string, labels: object, more: object): KubeObject =>
    ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name, labels },
      ...more,
    }) as KubeObject
  const rule = (resource: string): object => ({ apiGroups: [""], resources: [resource], verbs: ["get"] })
  const matchLabels = { "to-view": "true" }
  await harness.create(clusterRoles, role("view", {}, { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } }))
  await harness.create(clusterRoles, role("b", matchLabels, { rules: [rule("pods")] }))
  await harness.create(clusterRoles, role("a", matchLabels, { rules: [rule("nodes"), rule("pods")] }))
  await harness.create(clusterRoles, role("c", {}, { rules: [rule("secrets")] }))
  const rules = (): unknown => harness.cluster.find<ClusterRole>(clusterRoles, undefined, "view")!.rules
  await eventually(() => expect(rules()).toEqual([rule("nodes"), rule("pods")]))
  await harness.cluster.delete(clusterRoles, undefined, "a")
  await eventually(() => expect(rules()).toEqual([rule("pods")]))
})
