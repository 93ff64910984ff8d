// Immutability and stored forms of the kinds of core/v1, and of kinds that share their parts. Messages of kube-apiserver 1.36.

import { describe, expect, test } from "vitest"
import { type Loose, shareKinds, verdict } from "../../testing/kinds.ts"
import { defaultPullPolicy } from "../../../apimachinery/core/image.ts"

const { kinds, next } = shareKinds()
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const badRange = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
const pod = (spec: Loose = {}, container: Loose = {}): Loose => ({
  spec: { containers: [{ name: "a", image: "b", ...container }], ...spec },
})
const workload = { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, ...pod() } }
const claim = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } } }
const volume = (capacity: Loose | undefined): Loose => ({
  spec: { accessModes: ["ReadWriteOnce"], hostPath: { path: "/a" }, capacity },
})

describe("an update", () => {
  test.each<[string, string, Loose, unknown, string]>([
    ["of a claim to an empty selector", "persistentvolumeclaims", claim, { spec: { selector: {} } }, "spec: Forbidden"],
    [
      "of a claim to a missing size",
      "persistentvolumeclaims",
      claim,
      { spec: { resources: { requests: null } } },
      "field can not be less than status.capacity",
    ],
    ["of a node's ranges to invalid ones", "nodes", {}, { spec: { podCIDRs: ["x"] } }, `"x": ${badRange}`],
    [
      "of a pod to a bad generateName",
      "pods",
      pod(),
      { metadata: { generateName: "bad name!" } },
      `metadata.generateName: Invalid value: "bad name!": ${subdomain}`,
    ],
  ])("%s is rejected", async (_, what, object, patch, expected) => {
    const name = next()
    await kinds.create(what, { ...object, metadata: { name } })
    expect(await verdict(kinds.patch(what, name, patch))).toContain(expected)
  })
})

describe("a stored object", () => {
  test("has only the type of an update strategy without parameters", async () => {
    const spec = { ...workload, updateStrategy: { type: "RollingUpdate" } }
    const set = await kinds.create("apps/statefulsets", { metadata: { name: next() }, spec })
    expect(set["spec"].updateStrategy).toEqual({ type: "RollingUpdate" })
  })

  test("has no deprecated topology", async () => {
    const endpoint = { addresses: ["10.0.0.1"] }
    const endpoints = [{ ...endpoint, deprecatedTopology: { a: "b" } }]
    const metadata = { name: next() }
    const slice = await kinds.create("discovery.k8s.io/endpointslices", { metadata, addressType: "IPv4", endpoints })
    expect(slice["endpoints"]).toEqual([{ ...endpoint, conditions: {} }])
    // The given topology counts as a change.
    const again = await kinds.patch("discovery.k8s.io/endpointslices", metadata.name, { endpoints })
    expect(again).toMatchObject({ metadata: { generation: 2 }, endpoints: slice["endpoints"] })
    const same = await kinds.patch("discovery.k8s.io/endpointslices", metadata.name, { endpoints: [endpoint] })
    expect(same["metadata"].generation).toBe(2)
  })

  test.each<[string, string, Loose, Loose]>([
    [
      "amounts in thousandths",
      "persistentvolumes",
      volume({ storage: "1.0001" }),
      { spec: { capacity: { storage: "1001m" } } },
    ],
    ["no list for an empty one", "limitranges", { spec: { limits: [] } }, { spec: { limits: null } }],
  ])("has %s", async (_, what, object, expected) => {
    expect(await kinds.create(what, { ...object, metadata: { name: next() } })).toMatchObject(expected)
  })

  test("of kind LimitRange has a generated name if it was created without one", async () => {
    const { metadata } = await kinds.create("limitranges", {})
    expect(metadata.name).toMatch(/^[0-9a-f-]{36}$/)
    expect(await kinds.get("limitranges", metadata.name)).toMatchObject({ kind: "LimitRange" })
  })
})

test.each<[string, string]>([
  ["a", "Always"],
  ["a:latest", "Always"],
  ["registry.example.com:5000/a/b", "Always"],
  ["a:1", "IfNotPresent"],
  ["localhost/a:1", "IfNotPresent"],
  [`a@sha256:${"0".repeat(64)}`, "IfNotPresent"],
  ["Not-lower-case", "IfNotPresent"],
  ["x".repeat(256), "IfNotPresent"],
  ["0".repeat(64), "IfNotPresent"],
  ["a:b:c", "IfNotPresent"],
])("the pull policy of image %s is %s", (image, policy) => {
  expect(defaultPullPolicy(image)).toBe(policy)
})
