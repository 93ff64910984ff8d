import { describe, expect, test } from "vitest"
import { schemaOfType } from "../../apimachinery/schema/facts.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { isToldOtherwise, toldSource, type VolumeSpec } from "./volume-source.ts"

const own = new Map([
  ["ns-123456-a-shop", "shop"],
  ["ns-123456-a-other", "other"],
])
const told = (spec: object): VolumeSpec => toldSource(spec as VolumeSpec, (name) => own.get(name))

const secret = (namespace?: string) => ({ name: "pool", ...(namespace === undefined ? {} : { namespace }) })

describe.each(["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "storageos"])("%s", (kind) => {
  test.each([
    ["of the claim's namespace is told with the tenant's name of it", "ns-123456-a-shop", secret("shop")],
    ["of another namespace of the tenant likewise", "ns-123456-a-other", secret("other")],
    ["of nobody's namespace is left out", "storage-system", undefined],
    ["of another tenant is left out", "ns-654321-b-shop", undefined],
    ["without a namespace is of the claim's", undefined, secret()],
  ])("a secret %s", (_what, namespace, expected) => {
    const spec = { [kind]: { a: "b", secretRef: secret(namespace) }, capacity: { storage: "1Gi" } }
    expect(told(spec)).toEqual({ ...spec, [kind]: { a: "b", ...(expected && { secretRef: expected }) } })
  })
})

test.each<[string, object, object]>([
  [
    "csi",
    {
      driver: "d",
      controllerExpandSecretRef: secret("storage-system"),
      controllerPublishSecretRef: secret("ns-654321-b-shop"),
      nodeExpandSecretRef: secret("ns-123456-a-shop"),
      nodePublishSecretRef: secret("ns-123456-a-other"),
      nodeStageSecretRef: secret("default"),
    },
    { driver: "d", nodeExpandSecretRef: secret("shop"), nodePublishSecretRef: secret("other") },
  ],
  ["azureFile", { secretName: "s", shareName: "x" }, { secretName: "s", shareName: "x" }],
  [
    "azureFile",
    { secretName: "s", secretNamespace: "ns-123456-a-shop", shareName: "x" },
    { secretName: "s", secretNamespace: "shop", shareName: "x" },
  ],
  [
    "azureFile",
    { secretName: "s", secretNamespace: "azure", shareName: "x" },
    { secretName: "not-disclosed", shareName: "x" },
  ],
  [
    "glusterfs",
    { endpoints: "e", endpointsNamespace: "storage", path: "p" },
    { endpoints: "not-disclosed", path: "p" },
  ],
  [
    "iscsi",
    { chapAuthSession: true, secretRef: secret("storage") },
    { chapAuthSession: true, secretRef: { name: "not-disclosed" } },
  ],
  ["iscsi", { lun: 0 }, { lun: 0 }],
  [
    "storageos",
    {
      volumeName: "v",
      volumeNamespace: "ns-654321-b-shop",
      secretRef: { ...secret("ns-123456-a-shop"), kind: "Secret", uid: "u", resourceVersion: "1" },
    },
    { volumeName: "v", secretRef: { ...secret("shop"), kind: "Secret" } },
  ],
  ["storageos", { volumeName: "v", volumeNamespace: "ns-123456-a-shop" }, { volumeName: "v", volumeNamespace: "shop" }],
])("of %s %j this is told: %j", (kind, source, expected) => {
  expect(told({ [kind]: source })).toEqual({ [kind]: expected })
})

/** An object with every field of the schema; a namespace is somebody else's. */
function everything(schema: Schema, name = ""): unknown {
  if (schema.fields !== undefined)
    return Object.fromEntries(
      Object.entries(schema.fields).map(([field, { schema }]) => [field, everything(schema, field)]),
    )
  return /namespace$/i.test(name) ? "storage-system" : schema.type === "string" ? "x" : undefined
}

test("no source of Kubernetes names a namespace of others", () => {
  const { fields = {} } = schemaOfType("io.k8s.api.core.v1.PersistentVolumeSpec") ?? {}
  const sources = Object.entries(fields).filter(([, field]) => field.in === "PersistentVolumeSource")
  expect(sources.length).toBeGreaterThan(20)
  for (const [kind, { schema }] of sources) {
    const spec = { [kind]: everything(schema) }
    expect(JSON.stringify(told(spec))).not.toContain("storage-system")
  }
})

const handle = (volumeHandle: string, more: object = {}) =>
  ({ csi: { driver: "d", volumeHandle, ...more } }) as VolumeSpec
const rbd = (more: object) => ({ rbd: { image: "i", monitors: ["m"], ...more } }) as VolumeSpec

test.each<[string, VolumeSpec, VolumeSpec, boolean]>([
  ["the same", handle("a"), handle("a"), false],
  ["another text", handle("a"), handle("b"), true],
  ["another text in a list", rbd({ monitors: ["a", "b"] }), rbd({ monitors: ["a", "c"] }), true],
  ["without a secret", rbd({ secretRef: secret("storage") }), rbd({}), true],
  ["with a secret, which a later version could tell", rbd({}), rbd({ secretRef: secret("shop") }), false],
  ["without the default of a later version", rbd({ pool: "rbd" }), rbd({}), false],
  ["with a field that this version does not have", handle("a"), handle("a", { nodeField: "x" }), false],
])("what is told is otherwise now: %s", (_what, published, now, expected) => {
  expect(isToldOtherwise(published, now)).toBe(expected)
})
