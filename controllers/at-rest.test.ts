// A tenant at rest costs nothing: nothing of it waits for a time, and nothing is asked of its API.

import { expect, test } from "vitest"
import type { Deployment, KubeObject } from "../apimachinery/object.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { configMaps, deployments, services } from "../client/resources.ts"
import { controllerNames } from "./main.ts"
import { eventually, startHarness } from "./testing/harness.ts"

/** Of a machine that does much else. */
const patienceMs = 20_000

test("a tenant whose deployments are available has no timers and makes no calls", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: controllerNames, clock })
  const labels = { app: "web" }
  await harness.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "default" },
  })
  await harness.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { clusterIP: "10.0.0.1", selector: labels, ports: [{ port: 80 }] },
  } as unknown as KubeObject)
  await harness.create(deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      progressDeadlineSeconds: 600,
      template: { metadata: { labels }, spec: { containers: [] } },
    },
  } as unknown as KubeObject)
  const calls = (): number => [...harness.cluster.calls.values()].reduce((sum, count) => sum + count, 0)
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  await eventually(async () => {
    await harness.runPods("default")
    const found = harness.cluster.find<Deployment>(deployments, "default", "web")
    expect(found?.status).toMatchObject({ availableReplicas: 3 })
  }, patienceMs)
  await eventually(async () => {
    const before = calls()
    // What is retried soon is over after a while.
    clock.advance(1_000)
    await turns()
    expect(calls()).toBe(before)
    expect(clock.timers).toBe(0)
  }, patienceMs)
  const before = calls()
  clock.advance(24 * 3_600_000)
  await turns()
  expect(calls()).toBe(before)
})
