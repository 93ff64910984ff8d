import { describe, expect, test } from "vitest"
import { storageObjectInUseProtection } from "../../admission/plugins/storage-protection.ts"
import { faults, type Loose, shareKinds } from "../../testing/kinds.ts"

const { kinds, next } = shareKinds({ plugins: [storageObjectInUseProtection] })
const badName =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const attachment = { nodeName: "n", source: { persistentVolumeName: "v" } }

// kube-apiserver 1.36's messages.
describe("validation", () => {
  test.each<[string, Loose, string[]]>([
    [
      "volumeattributesclasses",
      { driverName: "Not valid!", parameters: { a: "b" } },
      [`driverName: Invalid value: "not valid!": ${badName}`],
    ],
    [
      "volumeattachments",
      { spec: { ...attachment, attacher: "x".repeat(260) } },
      [
        "spec.attacher: Too long: may not be more than 63 bytes",
        `spec.attacher: Invalid value: "${"x".repeat(260)}": must be no more than 253 characters`,
      ],
    ],
    [
      "csidrivers",
      { spec: { tokenRequests: [{ expirationSeconds: 1 }, {}], serviceAccountTokenInSecrets: true } },
      [
        "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
        'spec.tokenRequests[1].audience: Duplicate value: ""',
      ],
    ],
  ])("of %s", async (what, object, expected) => {
    const whole = { ...object, metadata: { name: next() } }
    expect(await faults(kinds.create(`storage.k8s.io/${what}`, whole))).toEqual(expected)
  })
})

describe("immutable fields", () => {
  test.each<[string, Loose, Loose, string[]]>([
    [
      "storageclasses",
      { provisioner: "x.y/z" },
      { provisioner: "Not valid!", reclaimPolicy: "Recycle" },
      [
        `provisioner: Invalid value: "not valid!": ${badName}`,
        'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
        'provisioner: Invalid value: "Not valid!": field is immutable',
        'reclaimPolicy: Invalid value: "Recycle": field is immutable',
      ],
    ],
    [
      "csidrivers",
      { spec: {} },
      { spec: { attachRequired: false } },
      ["spec.attachedRequired: Invalid value: false: field is immutable"],
    ],
    [
      "csinodes",
      { spec: { drivers: [{ name: "d", nodeID: "n" }] } },
      { spec: { drivers: [{ name: "d", nodeID: "n", allocatable: { count: 3 } }] } },
      [],
    ],
    [
      "csinodes",
      { spec: { drivers: [{ name: "d", nodeID: "n" }] } },
      { spec: { drivers: [{ name: "d", nodeID: "m" }] } },
      ['spec.drivers: Invalid value: {"name":"d","nodeID":"m"}: field is immutable'],
    ],
    [
      "volumeattachments",
      { spec: { ...attachment, attacher: "a" } },
      { spec: { source: { inlineVolumeSpec: {} } } },
      [
        "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName",
        'spec: Invalid value: {"nodeName":"n","source":{"persistentVolumeName":"v","inlineVolumeSpec":{}},"attacher":"a"}: field is immutable',
      ],
    ],
    [
      "csistoragecapacities",
      { storageClassName: "c" },
      { nodeTopology: {} },
      ["nodeTopology: Invalid value: {}: field is immutable"],
    ],
    [
      "volumeattachments",
      { spec: { ...attachment, attacher: "a" } },
      { spec: { attacher: "" } },
      [
        "spec.attacher: Required value",
        'spec: Invalid value: {"nodeName":"n","source":{"persistentVolumeName":"v"},"attacher":""}: field is immutable',
      ],
    ],
  ])("of %s", async (what, object, patch, expected) => {
    const name = next()
    await kinds.create(`storage.k8s.io/${what}`, { ...object, metadata: { name } })
    expect(await faults(kinds.patch(`storage.k8s.io/${what}`, name, patch))).toEqual(expected)
  })
})

test("a new VolumeAttributesClass has the protection finalizer", async () => {
  const finalizers = ["example.com/own"]
  const made = await kinds.create("storage.k8s.io/volumeattributesclasses", {
    metadata: { name: next(), finalizers },
    driverName: "d",
    parameters: { a: "b" },
  })
  expect(made["metadata"].finalizers).toEqual([...finalizers, "kubernetes.io/vac-protection"])
})

test("a CSIDriver has a generation after its first change", async () => {
  const name = next()
  const made = await kinds.create("storage.k8s.io/csidrivers", { metadata: { name }, spec: {} })
  expect(made["metadata"]).not.toHaveProperty("generation")
  const changed = await kinds.patch("storage.k8s.io/csidrivers", name, { spec: { fsGroupPolicy: "File" } })
  expect(changed["metadata"].generation).toBe(1)
})

test("a CSINode driver without topology keys has null instead of an empty list", async () => {
  const drivers = [{ name: "d", nodeID: "n", topologyKeys: [] }]
  const made = await kinds.create("storage.k8s.io/csinodes", { metadata: { name: next() }, spec: { drivers } })
  expect(made["spec"].drivers).toEqual([{ name: "d", nodeID: "n", topologyKeys: null }])
})
