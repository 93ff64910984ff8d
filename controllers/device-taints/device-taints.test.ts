import { describe, expect, test } from "vitest"
import {
  timestamp,
  type KubeObject,
  type Pod,
  type ResourceClaim,
  type ResourceSlice,
} from "../../apimachinery/object.ts"
import { events, pods, resourceClaims, resourceSlices } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { evictionTime, taintsOf, type AllocatedDevice, type DeviceTaint } from "./eviction-time.ts"

const device = { driver: "d", pool: "p", device: "gpu-0", request: "gpu" }
const slice = (generation: number, taints: object[], name = "gpu-0"): ResourceSlice =>
  ({
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name: `slice-${generation}` },
    spec: { driver: "d", pool: { name: "p", generation, resourceSliceCount: 1 }, devices: [{ name, taints }] },
  }) as unknown as ResourceSlice

async function start(clock: FakeClock, tolerations: object[]): Promise<Harness> {
  const harness = await startHarness({ only: ["device-taint-eviction"], clock })
  const { metadata } = await harness.create<Pod>(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default" },
    spec: { nodeName: "n", containers: [], resourceClaims: [{ name: "gpu", resourceClaimName: "c" }] },
  } as KubeObject)
  await harness.create(resourceClaims, {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "c", namespace: "default" },
    status: {
      allocation: { devices: { results: [{ ...device, tolerations }] } },
      reservedFor: [{ resource: "pods", name: "web", uid: metadata.uid }],
    },
  } as unknown as KubeObject)
  return harness
}

const reasons = (harness: Harness): unknown[] => harness.cluster.all(events).map((event) => event["message"])

describe("a pod with a device", () => {
  test("is evicted when the device is tainted", async () => {
    await using harness = await start(new FakeClock(), [])
    await harness.create(resourceSlices, slice(1, [{ key: "broken", effect: "NoExecute" }]))
    await eventually(() => expect(harness.cluster.all(pods)).toEqual([]))
    await eventually(() => expect(reasons(harness)).toEqual(["Marking for deletion"]))
  })

  test("stays while it tolerates the taint, and if the taint is removed", async () => {
    const clock = new FakeClock()
    await using harness = await start(clock, [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }])
    const timeAdded = timestamp(new Date(clock.now()))
    await harness.create(resourceSlices, slice(1, [{ key: "broken", effect: "NoExecute", timeAdded }]))
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    await harness.cluster.delete(resourceSlices, undefined, "slice-1")
    await eventually(() => expect(reasons(harness)).toEqual(["Cancelling deletion"]))
    await harness.create(resourceSlices, slice(1, [{ key: "broken", effect: "NoExecute", timeAdded }]))
    await eventually(() => {
      clock.advance(60_000)
      expect(harness.cluster.all(pods)).toEqual([])
    })
  })
})

test("a pod that does not end is evicted once, and may stay after each further reason is gone", async () => {
  await using harness = await start(new FakeClock(), [])
  const pod = harness.cluster.find<Pod>(pods, "default", "web")!
  const finalizers = ["example.com/hold"]
  await harness.cluster.update(pods, { ...pod, metadata: { ...pod.metadata, finalizers } })
  await harness.create(resourceSlices, slice(1, [{ key: "broken", effect: "NoExecute" }]))
  const marking = "Marking for deletion"
  await eventually(() => expect(reasons(harness)).toEqual([marking]))
  // The claim changes under the pod that goes already; the next one shows that this is seen.
  const spec = { nodeName: "n", containers: [], resourceClaims: [{ name: "gpu", resourceClaimName: "c" }] }
  const next = await harness.create<Pod>(pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "next", namespace: "default" },
    spec,
  } as KubeObject)
  const users = [pod, next].map(({ metadata: { name, uid } }) => ({ resource: "pods", name, uid }))
  const given = harness.cluster.find<ResourceClaim>(resourceClaims, "default", "c")!
  const status = { ...given.status, reservedFor: users } as NonNullable<ResourceClaim["status"]>
  await harness.cluster.update<ResourceClaim>(resourceClaims, { ...given, status }, { subresource: "status" })
  await eventually(() => expect(harness.cluster.find(pods, "default", "next")).toBeUndefined())
  await harness.create(resourceSlices, slice(2, []))
  await eventually(() => expect(reasons(harness)).toEqual([marking, marking, "Cancelling deletion"]))
})

describe("evictionTime()", () => {
  const at = "2026-01-01T00:00:00Z"
  const broken: DeviceTaint = { key: "broken", value: "yes", effect: "NoExecute", timeAdded: at }
  const ms = Date.parse(at)
  test.each([
    { name: "no taint", taints: [], tolerations: [], expected: undefined },
    {
      name: "one for scheduling alone",
      taints: [{ ...broken, effect: "NoSchedule" }],
      tolerations: [],
      expected: undefined,
    },
    {
      name: "one not tolerated",
      taints: [broken],
      tolerations: [{ key: "other", operator: "Exists", effect: "NoExecute" }],
      expected: ms,
    },
    {
      name: "one tolerated for ever",
      taints: [broken],
      tolerations: [{ key: "broken", value: "yes", effect: "NoExecute" }],
      expected: undefined,
    },
    {
      name: "another value",
      taints: [broken],
      tolerations: [{ key: "broken", value: "no", effect: "NoExecute" }],
      expected: ms,
    },
    { name: "one tolerated for no effect", taints: [broken], tolerations: [{ operator: "Exists" }], expected: ms },
    {
      name: "the shortest toleration",
      taints: [broken],
      tolerations: [3, 2, 5].map((tolerationSeconds) => ({
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds,
      })),
      expected: ms + 2_000,
    },
  ])("$name", ({ taints, tolerations, expected }) => {
    const claim = { status: { allocation: { devices: { results: [{ ...device, tolerations }] } } } }
    expect(evictionTime(claim as unknown as ResourceClaim, () => taints)).toBe(expected)
  })
})

test("only the newest generation of a pool counts", () => {
  const old = slice(1, [{ key: "old", effect: "NoExecute" }])
  const now = slice(2, [{ key: "now", effect: "NoExecute" }])
  const other = slice(2, [{ key: "other", effect: "NoExecute" }], "gpu-1")
  const found = taintsOf([old, now, other], device as AllocatedDevice)
  expect(found.map(({ key }) => key)).toEqual(["now"])
})
