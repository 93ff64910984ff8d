// A Deployment "web" whose pods have metrics, for tests of autoscalers.

import { expect } from "vitest"
import type { Deployment, KubeObject, Pod } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { deployments, horizontalPodAutoscalers, pods } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "./harness.ts"
import type { Autoscaler } from "../autoscaler/types.ts"

const labels = { app: "web" }

const only = ["horizontal-pod-autoscaler"]

export const start = Date.parse("2026-01-01T01:00:00Z")

export const cpu = (averageUtilization: number): object => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
})

export function autoscaler(spec: object = {}, name = "web"): KubeObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "default" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [cpu(50)],
      ...spec,
    },
  }
}

export const deployment = (replicas: number): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: { replicas, selector: { matchLabels: labels } },
  status: { replicas },
})

export const find = (harness: Harness, name = "web"): Autoscaler =>
  harness.cluster.find<Autoscaler>(horizontalPodAutoscalers, "default", name)!

export const size = (harness: Harness): number =>
  harness.cluster.find<Deployment>(deployments, "default", "web")!.spec!.replicas!

export const conditions = (harness: Harness, name = "web"): string[] =>
  (find(harness, name).status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)

/** Pods that started an hour ago, each with a CPU request of 100m. */
async function addPods(harness: Harness, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const created = await harness.create<Pod>(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `web-${index}`, namespace: "default", labels },
      spec: { containers: [{ name: "c", resources: { requests: { cpu: "100m", memory: "1Mi" } } }] },
    } as KubeObject)
    const startTime = "2026-01-01T00:00:00Z"
    const status = {
      phase: "Running",
      startTime,
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: startTime }],
    }
    await harness.cluster.update(pods, { ...created, status } as unknown as Pod, { subresource: "status" })
  }
}

export const podMetrics = (usage: Record<string, string>[]): object => ({
  items: usage.map((each, index) => ({
    metadata: { name: `web-${index}` },
    timestamp: "2026-01-01T01:00:00Z",
    window: "30s",
    containers: [{ name: "c", usage: each }],
  })),
})

export const times = (count: number, usage: Record<string, string>): Record<string, string>[] =>
  Array.from({ length: count }, () => usage)

type Timed = Harness & { clock: FakeClock }

export async function timedHarness(clock = new FakeClock(start)): Promise<Timed> {
  return { ...(await startHarness({ only, clock })), clock }
}

export async function harnessWith(
  replicas: number,
  answer: (path: string) => unknown,
  clock?: FakeClock,
): Promise<Timed> {
  const harness = await timedHarness(clock)
  harness.cluster.answerRaw = answer
  await harness.create(deployments, deployment(replicas))
  await addPods(harness, replicas)
  return harness
}

/** Creates an autoscaler and waits for its first reconcile. */
export async function add(harness: Timed, added: KubeObject): Promise<void> {
  await harness.create(horizontalPodAutoscalers, added)
  await eventually(() => {
    harness.clock.advance(100)
    expect(find(harness, added.metadata.name).status).toBeDefined()
  })
}
