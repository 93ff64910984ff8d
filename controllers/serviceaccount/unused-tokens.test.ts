import { describe, expect, test } from "vitest"
import type { KubeObject, Pod, Secret } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { configMaps, pods, secrets, serviceAccounts } from "../../client/resources.ts"
import { mountedSecrets } from "../../apimachinery/core/pod-references.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"

const dayMs = 86_400_000
const name = "build-token"
const invalidSince = "kubernetes.io/legacy-token-invalid-since"

async function start(clock: FakeClock, named: boolean, more: object = {}): Promise<Harness> {
  const harness = await startHarness({ only: ["legacy-serviceaccount-token-cleaner"], clock })
  await harness.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "kube-apiserver-legacy-service-account-token-tracking", namespace: "kube-system" },
    data: { since: new Date(clock.now()).toISOString().slice(0, 10) },
  } as KubeObject)
  const account = await harness.create(serviceAccounts, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "build", namespace: "default" },
    ...(named ? { secrets: [{ name }] } : {}),
  } as KubeObject)
  const annotations = {
    "kubernetes.io/service-account.name": "build",
    "kubernetes.io/service-account.uid": account.metadata.uid,
  }
  await harness.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/service-account-token",
    metadata: { name, namespace: "default", annotations, ...more },
  } as unknown as KubeObject)
  return harness
}

describe("an unused token of an account", () => {
  test("is marked after a year and removed after two", async () => {
    const clock = new FakeClock()
    await using harness = await start(clock, true)
    const find = (): Secret | undefined => harness.cluster.find(secrets, "default", name)
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    expect(find()!.metadata.labels).toBeUndefined()
    clock.advance(367 * dayMs)
    await eventually(() => expect(find()!.metadata.labels).toEqual({ [invalidSince]: "2027-01-03" }))
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    clock.advance(367 * dayMs)
    await eventually(() => expect(find()).toBeUndefined())
  })

  test.each(["2026-13-01", "2026-02-30", "soon"])("with an invalid mark %s is marked again", async (mark) => {
    const clock = new FakeClock()
    await using harness = await start(clock, true, { labels: { [invalidSince]: mark } })
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    clock.advance(367 * dayMs)
    const find = (): Secret | undefined => harness.cluster.find(secrets, "default", name)
    await eventually(() => expect(find()?.metadata.labels).toEqual({ [invalidSince]: "2027-01-03" }))
  })

  test("is kept while a pod mounts it", async () => {
    const clock = new FakeClock()
    await using harness = await start(clock, true)
    const spec = { containers: [], volumes: [{ name: "v", secret: { secretName: name } }] }
    await harness.create<Pod>(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", namespace: "default" },
      spec,
    } as KubeObject)
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    clock.advance(400 * dayMs)
    // Processed: the next check is a day later.
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    expect(harness.cluster.find<Secret>(secrets, "default", name)!.metadata.labels).toBeUndefined()
    await harness.cluster.delete(pods, "default", "p")
    await eventually(() => {
      clock.advance(dayMs)
      expect(harness.cluster.find<Secret>(secrets, "default", name)!.metadata.labels).toHaveProperty([invalidSince])
    })
  })
})

test("all Secret references of a pod are found", () => {
  const spec = {
    imagePullSecrets: [{ name: "a" }],
    containers: [
      {
        name: "no",
        env: [{ name: "no", valueFrom: { secretKeyRef: { name: "b", key: "no" } } }],
        envFrom: [{ secretRef: { name: "c" } }, { configMapRef: { name: "no" } }],
      },
    ],
    volumes: [
      { name: "no", secret: { secretName: "d" } },
      { name: "no", projected: { sources: [{ secret: { name: "e" } }, { configMap: { name: "no" } }] } },
      { name: "no", csi: { driver: "no", nodePublishSecretRef: { name: "f" } } },
      { name: "no", azureFile: { secretName: "g", shareName: "no" } },
      { name: "no", cephfs: { monitors: [], secretRef: { name: "h" } } },
    ],
  }
  expect([...mountedSecrets({ spec } as unknown as Pod)].sort()).toEqual(["a", "b", "c", "d", "e", "f", "g", "h"])
})
