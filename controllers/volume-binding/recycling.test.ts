import { describe, expect, test } from "vitest"
import type { KubeObject, PersistentVolume, Pod } from "../../apimachinery/object.ts"
import { events, persistentVolumeClaims, persistentVolumes, pods } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { claim, only, volume } from "../testing/volumes.ts"

const name = "recycler-for-v"

/** Creates a volume whose claim is gone. */
async function release(harness: Harness): Promise<void> {
  const nfs = { server: "10.0.0.1", path: "/x" }
  await harness.create(persistentVolumes, volume("v", "1Gi", { persistentVolumeReclaimPolicy: "Recycle", nfs }))
  await harness.create(persistentVolumeClaims, claim("data", "1Gi"))
  await eventually(() => expect(phase(harness)).toBe("Bound"))
  await harness.cluster.delete(persistentVolumeClaims, "default", "data")
}

const phase = (harness: Harness): unknown =>
  harness.cluster.find<PersistentVolume>(persistentVolumes, undefined, "v")?.status?.phase
const recycler = (harness: Harness): Pod | undefined => harness.cluster.find<Pod>(pods, "default", name)
const isAtWork = (harness: Harness, not?: string): Promise<void> =>
  eventually(() => {
    expect(recycler(harness)).toBeDefined()
    expect(recycler(harness)?.metadata.uid).not.toBe(not)
  })
const end = (harness: Harness, to: string): Promise<void> => harness.setPod(recycler(harness)!, to, false)
const eventTexts = (harness: Harness): string[] =>
  harness.cluster
    .all(events)
    .filter((event) => (event["involvedObject"] as { name?: string }).name === "v")
    .map(({ reason, message }) => `${String(reason)}: ${String(message)}`)

describe("a volume that is recycled", () => {
  test("gets the events of its recycler pod once, and becomes Available", async () => {
    await using harness = await startHarness({ only })
    await release(harness)
    await isAtWork(harness)
    const event = (text: string): Promise<KubeObject> =>
      harness.create(events, {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: text, namespace: "default" },
        involvedObject: { kind: "Pod", namespace: "default", name },
        type: "Normal",
        reason: "Test",
        message: text,
      } as KubeObject)
    await event("pulled")
    await end(harness, "Running")
    await eventually(() => expect(eventTexts(harness)).toEqual(["RecyclerPod: Recycler pod: pulled"]))
    await event("done")
    await end(harness, "Succeeded")
    await eventually(() => expect(phase(harness)).toBe("Available"))
    await eventually(() =>
      expect(eventTexts(harness)).toEqual([
        "RecyclerPod: Recycler pod: pulled",
        "RecyclerPod: Recycler pod: done",
        "VolumeRecycled: Volume recycled",
      ]),
    )
    expect(recycler(harness)).toBeUndefined()
  })

  test("is retried with backoff", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await release(harness)
    await isAtWork(harness)
    for (const seconds of [15, 30, 60]) {
      const { uid = "" } = recycler(harness)!.metadata
      await end(harness, "Failed")
      await eventually(() => expect(recycler(harness)).toBeUndefined())
      await eventually(() => expect(phase(harness)).toBe("Failed"))
      await eventually(() => expect(clock.timers).toBeGreaterThan(0))
      clock.advance((seconds - 1) * 1000)
      expect(recycler(harness)).toBeUndefined()
      clock.advance(1000)
      await isAtWork(harness, uid)
    }
    await end(harness, "Succeeded")
    await eventually(() => expect(phase(harness)).toBe("Available"))
  })

  test("first deletes an unknown recycler pod", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    const { metadata } = await harness.create<Pod>(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: { containers: [] },
    } as KubeObject)
    await release(harness)
    await eventually(() => expect(recycler(harness)).toBeUndefined())
    await eventually(() =>
      expect(eventTexts(harness)).toEqual([
        "VolumeFailedRecycle: Recycle failed: old recycler pod found, will retry later",
      ]),
    )
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    clock.advance(15_000)
    await isAtWork(harness, metadata.uid)
  })

  test.each([
    ["goes", (harness: Harness) => harness.cluster.delete(persistentVolumes, undefined, "v")],
    [
      "is bound again",
      (harness: Harness) => harness.change(persistentVolumes, undefined, "v", { spec: { claimRef: null } }),
    ],
    [
      "is to be retained",
      (harness: Harness) =>
        harness.change(persistentVolumes, undefined, "v", { spec: { persistentVolumeReclaimPolicy: "Retain" } }),
    ],
  ])("that %s leaves no recycler pod", async (_what, act) => {
    await using harness = await startHarness({ only })
    await release(harness)
    await isAtWork(harness)
    await act(harness)
    await eventually(() => expect(recycler(harness)).toBeUndefined())
  })
})
