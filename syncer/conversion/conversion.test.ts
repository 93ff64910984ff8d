import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff, missingFrom } from "./equality.ts"
import { metadataChange, superKeys, superMetadata, transparentChange } from "./metadata.ts"
import { ownership } from "./ownership.ts"

const tenant = fakeTenant("acme", { opaqueMetaPrefixes: ["opaque.io"], transparentMetaPrefixes: ["seen.io"] })

const pod = (metadata: KubeObject["metadata"]): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "web", uid: "u1", ...metadata },
})

describe("superKeys()", () => {
  test.each([
    ["app.kubernetes.io/name", true],
    ["statefulset.kubernetes.io/pod-name", true],
    ["plain", true],
    ["m.opaque.io", true],
    ["opaque.io/kk", false],
    ["opaque.io", false],
    ["seen.io/a", false],
    ["transparency.tenancy.x-k8s.io/clusterIP", false],
  ])("label %s is copied: %s", (key, copied) => {
    expect(superKeys("Pod", pod({ labels: { [key]: "v" } }), tenant).labels[key]).toBe(copied ? "v" : undefined)
  })

  test.each([
    ["volume.beta.kubernetes.io/storage-class", true],
    ["volume.beta.kubernetes.io/storage-provisioner", false],
    ["volume.kubernetes.io/selected-node", false],
    ["pv.kubernetes.io/bind-completed", false],
    ["kubernetes.io/config.mirror", false],
    ["kubernetes.io/config.source", false],
    ["kubernetes.io/configuration", true],
    ["kubernetes.io/enforce-mountable-secrets", false],
  ])("annotation %s is copied: %s", (key, copied) => {
    const { annotations } = superKeys("PersistentVolumeClaim", pod({ annotations: { [key]: "v" } }), tenant)
    expect(annotations[key]).toBe(copied ? "v" : undefined)
  })

  test.each([
    ["team", true],
    ["kubernetes.io/metadata.name", false],
    ["pod-security.kubernetes.io/enforce", false],
  ])("label %s of a namespace is copied: %s", (key, copied) => {
    const namespace: KubeObject = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "n", labels: { [key]: "v" } },
    }
    expect(superKeys("Namespace", namespace, tenant).labels[key]).toBe(copied ? "v" : undefined)
  })

  test.each(["scheduler.alpha.kubernetes.io/node-selector", "openshift.io/sa.scc.uid-range", "plain"])(
    "annotation %s of a namespace is not copied",
    (key) => {
      const metadata = { name: "n", annotations: { [key]: "v" } }
      const namespace: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata }
      expect(superKeys("Namespace", namespace, tenant).annotations).not.toHaveProperty([key])
    },
  )

  test("a tenant cannot set the syncer's keys", () => {
    const forged = {
      "tenancy.x-k8s.io/cluster": "other",
      "tenancy.x-k8s.io/uid": "other",
      "tenancy.x-k8s.io/free": "x",
    }
    const { labels, annotations } = superKeys("Pod", pod({ labels: forged, annotations: forged }), tenant)
    expect(labels["tenancy.x-k8s.io/cluster"]).toBe(tenant.clusterKey)
    expect(annotations["tenancy.x-k8s.io/cluster"]).toBe(tenant.clusterKey)
    expect(annotations["tenancy.x-k8s.io/uid"]).toBe("u1")
    expect(annotations["tenancy.x-k8s.io/free"]).toBeUndefined()
    expect(labels["tenancy.x-k8s.io/free"]).toBeUndefined()
  })

  test("records the owner in VirtualCluster's annotations", () => {
    expect(superKeys("Pod", pod({}), tenant)).toEqual({
      labels: {
        "tenancy.x-k8s.io/controlled": "true",
        "tenancy.x-k8s.io/cluster": tenant.clusterKey,
        "tenancy.x-k8s.io/vcname": "acme",
        "tenancy.x-k8s.io/vcnamespace": "default",
      },
      annotations: {
        "tenancy.x-k8s.io/cluster": tenant.clusterKey,
        "tenancy.x-k8s.io/uid": "u1",
        "tenancy.x-k8s.io/namespace": "default",
        "tenancy.x-k8s.io/ownerReferences": "null",
        "tenancy.x-k8s.io/vcname": "acme",
        "tenancy.x-k8s.io/vcnamespace": "default",
        "tenancy.x-k8s.io/copied-keys": ";",
      },
    })
  })

  test("copies owner references as text only, and no finalizers", () => {
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u2" }
    const metadata = superMetadata(
      "Pod",
      pod({ ownerReferences: [owner], finalizers: ["a/b"], resourceVersion: "7" }),
      tenant,
      {
        namespace: "s",
        name: "web",
      },
    )
    expect(Object.keys(metadata).sort()).toEqual(["annotations", "labels", "name", "namespace"])
    expect(metadata.annotations?.["tenancy.x-k8s.io/ownerReferences"]).toBe(JSON.stringify([owner]))
  })
})

describe("metadataChange()", () => {
  const copyOf = (object: KubeObject): KubeObject =>
    pod({ ...superMetadata("Pod", object, tenant, { namespace: "s", name: "web" }) })
  const labels = (before: Record<string, string> | undefined, after: Record<string, string> | undefined): unknown =>
    metadataChange(
      "Pod",
      pod(after === undefined ? {} : { labels: after }),
      copyOf(pod(before === undefined ? {} : { labels: before })),
      tenant,
    )?.labels

  test.each<[string, Record<string, string> | undefined, Record<string, string> | undefined, unknown]>([
    ["both empty", undefined, undefined, undefined],
    ["equal", { a: "1" }, { a: "1" }, undefined],
    ["super empty", undefined, { a: "1" }, { a: "1" }],
    ["changed and added", { a: "1" }, { a: "2", b: "3" }, { a: "2", b: "3" }],
    ["removed in the tenant", { a: "1", b: "2" }, { a: "1" }, { b: null }],
    ["a name that objects inherit removed", { constructor: "1", a: "2" }, { a: "2" }, { constructor: null }],
    ["all removed", { a: "1", b: "2" }, undefined, { a: null, b: null }],
    ["a key of the syncer in the tenant", undefined, { "tenancy.x-k8s.io/name": "x" }, undefined],
    ["an opaque key in the tenant", undefined, { "opaque.io/a": "x" }, undefined],
  ])("%s", (_name, before, after, expected) => {
    expect(labels(before, after)).toEqual(expected)
  })

  test("keeps the metadata of others and restores its own", () => {
    const object = pod({ labels: { a: "1" } })
    const copy = copyOf(object)
    copy.metadata.labels = { ...copy.metadata.labels, a: "9", cni: "x", "opaque.io/b": "y" }
    expect(metadataChange("Pod", object, copy, tenant)).toEqual({ labels: { a: "1" } })
  })

  test("restores marks that were removed by hand", () => {
    const object = pod({})
    const copy = copyOf(object)
    delete copy.metadata.labels?.["tenancy.x-k8s.io/controlled"]
    expect(metadataChange("Pod", object, copy, tenant)).toEqual({ labels: { "tenancy.x-k8s.io/controlled": "true" } })
  })
})

describe("transparentChange()", () => {
  const key = "transparency.tenancy.x-k8s.io/x"
  test.each<[string, Record<string, string>, Record<string, string>, unknown]>([
    ["nothing transparent", { a: "1" }, { b: "2" }, undefined],
    ["missing in the tenant", { [key]: "1", "seen.io/a": "2" }, {}, { labels: { [key]: "1", "seen.io/a": "2" } }],
    ["another value in the tenant", { [key]: "1" }, { [key]: "2" }, { labels: { [key]: "1" } }],
    ["gone in super: not removed", {}, { [key]: "2" }, undefined],
  ])("%s", (_name, inSuper, inTenant, expected) => {
    expect(transparentChange(pod({ labels: inTenant }), pod({ labels: inSuper }), tenant)).toEqual(expected)
  })
})

describe("ownership()", () => {
  const marks = (cluster: string, uid?: string, namespace = "default"): KubeObject["metadata"] => ({
    annotations: {
      "tenancy.x-k8s.io/cluster": cluster,
      "tenancy.x-k8s.io/namespace": namespace,
      ...(uid === undefined ? {} : { "tenancy.x-k8s.io/uid": uid }),
    },
  })
  test.each([
    ["ours", marks(tenant.clusterKey, "u1")],
    ["stale", marks(tenant.clusterKey, "u0")],
    ["unmarked", marks(tenant.clusterKey)],
    ["unmarked", {}],
    ["foreign", marks("other-key", "u1")],
    ["foreign", marks(tenant.clusterKey, "u1", "another")],
  ])("%s", (expected, metadata) => {
    expect(ownership(pod(metadata), tenant, pod({}))).toBe(expected)
  })
})

/** A ConfigMap's key may have any of these characters. */
const protoChanges = [
  ['{"a":{}}', '{"a":{"__proto__":"1"}}', '{"a":{"__proto__":"1"}}'],
  ['{"a":{"__proto__":"1"}}', '{"a":{}}', '{"a":{"__proto__":null}}'],
].map((texts) => texts.map((text) => JSON.parse(text)) as [unknown, unknown, unknown])

describe("mergeDiff()", () => {
  test.each<[unknown, unknown, unknown]>([
    [{ a: 1 }, { a: 1 }, undefined],
    [{ a: 1 }, { a: 2, b: { c: 3 } }, { a: 2, b: { c: 3 } }],
    [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, { a: { c: null } }],
    [{ a: [1, 2] }, { a: [1] }, { a: [1] }],
    [undefined, { a: 1 }, { a: 1 }],
    [{ a: 1 }, undefined, null],
    [{ a: null }, {}, undefined],
    [{ a: 1, constructor: 2 }, { a: 1 }, { constructor: null }],
    [{ a: 1 }, { a: 1, toString: { b: 2 } }, { toString: { b: 2 } }],
    ...protoChanges,
  ])("from %j to %j is %j", (from, to, expected) => {
    expect(mergeDiff(from, to)).toEqual(expected)
    expect(JSON.stringify(mergeDiff(from, to))).toBe(JSON.stringify(expected))
    if (expected === undefined) expect(equalIgnoringNulls(from, to)).toBe(true)
  })
})

describe("missingFrom()", () => {
  test("returns the items missing from the other list, regardless of order and of how fields without value are written", () => {
    const [a, b] = [
      { key: "a", value: null },
      { value: "x", key: "b" },
    ]
    expect(missingFrom<object>([a, b, { key: "c" }], [{ key: "b", value: "x" }, { key: "a" }])).toEqual([{ key: "c" }])
    expect(missingFrom([a, b], [a, b, { key: "c", value: "y" }])).toEqual([])
  })

  test("takes time proportional to both lists", () => {
    const long = Array.from({ length: 30_000 }, (_, at) => ({ key: `key-${at}`, operator: "Exists" }))
    expect(missingFrom(long, [...long].reverse())).toEqual([])
  })
})
