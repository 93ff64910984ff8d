import { describe, expect, test } from "vitest"
import type { Deployment, KubeObject, Pod } from "../../apimachinery/object.ts"
import { noSuchPath, serviceUnavailable } from "../../apimachinery/status.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { deployments, horizontalPodAutoscalers, pods } from "../../client/resources.ts"
import { eventually, startHarness, type Harness, eventTexts } from "../testing/harness.ts"
import type { Autoscaler } from "./types.ts"

const labels = { app: "web" }
const only = ["horizontal-pod-autoscaler"]
const start = Date.parse("2026-01-01T01:00:00Z")

const cpu = (averageUtilization: number): object => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
})

function autoscaler(spec: object = {}, name = "web"): KubeObject {
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

const deployment = (replicas: number): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: { replicas, selector: { matchLabels: labels } },
  status: { replicas },
})

const find = (harness: Harness, name = "web"): Autoscaler =>
  harness.cluster.find<Autoscaler>(horizontalPodAutoscalers, "default", name)!
const size = (harness: Harness): number =>
  harness.cluster.find<Deployment>(deployments, "default", "web")!.spec!.replicas!
const conditions = (harness: Harness, name = "web"): string[] =>
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

const podMetrics = (usage: Record<string, string>[]): object => ({
  items: usage.map((each, index) => ({
    metadata: { name: `web-${index}` },
    timestamp: "2026-01-01T01:00:00Z",
    window: "30s",
    containers: [{ name: "c", usage: each }],
  })),
})

const times = (count: number, usage: Record<string, string>): Record<string, string>[] =>
  Array.from({ length: count }, () => usage)

type Timed = Harness & { clock: FakeClock }

async function timedHarness(clock = new FakeClock(start)): Promise<Timed> {
  return { ...(await startHarness({ only, clock })), clock }
}

async function harnessWith(replicas: number, answer: (path: string) => unknown, clock?: FakeClock): Promise<Timed> {
  const harness = await timedHarness(clock)
  harness.cluster.answerRaw = answer
  await harness.create(deployments, deployment(replicas))
  await addPods(harness, replicas)
  return harness
}

/** Creates an autoscaler and waits for its first reconcile. */
async function add(harness: Timed, added: KubeObject): Promise<void> {
  await harness.create(horizontalPodAutoscalers, added)
  await eventually(() => {
    harness.clock.advance(100)
    expect(find(harness, added.metadata.name).status).toBeDefined()
  })
}

describe("a HorizontalPodAutoscaler", () => {
  test("scales up by utilization and records an event", async () => {
    await using harness = await harnessWith(2, (path) => {
      expect(path).toBe("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?labelSelector=app%3Dweb")
      return podMetrics(times(2, { cpu: "100m" }))
    })
    await add(harness, autoscaler())
    await eventually(() => expect(size(harness)).toBe(4))
    await eventually(() => {
      expect(find(harness).status).toMatchObject({
        currentReplicas: 2,
        desiredReplicas: 4,
        lastScaleTime: "2026-01-01T01:00:15Z",
        currentMetrics: [
          { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 100, averageValue: "100m" } } },
        ],
      })
      expect(conditions(harness)).toEqual([
        "AbleToScale=True SucceededRescale",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=False DesiredWithinRange",
      ])
      expect(eventTexts(harness)).toContain(
        "SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target",
      )
    })
  })

  test("scales down only if no recommendation of the last five minutes was larger", async () => {
    const clock = new FakeClock(start)
    await using harness = await harnessWith(4, () => podMetrics(times(4, { cpu: "10m" })), clock)
    await add(harness, autoscaler())
    await eventually(() => expect(conditions(harness)[0]).toBe("AbleToScale=True ScaleDownStabilized"))
    expect(size(harness)).toBe(4)
    await eventually(() => {
      clock.advance(15_000)
      expect(size(harness)).toBe(1)
    })
    expect(clock.now() - start).toBeGreaterThan(300_000)
  })

  test.each([
    ["without a metrics API", noSuchPath(), "the server could not find the requested resource"],
    [
      "without its program",
      serviceUnavailable("the server is currently unable to handle the request"),
      "the server is currently unable to handle the request",
    ],
  ])("%s is reported as missing with upstream's message", async (_, error, why) => {
    await using harness = await harnessWith(2, () => {
      throw error
    })
    await add(harness, autoscaler())
    const reason =
      "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource " +
      `metrics API: ${why} (get pods.metrics.k8s.io)`
    await eventually(() => {
      expect(conditions(harness)).toEqual([
        "AbleToScale=True SucceededGetScale",
        "ScalingActive=False FailedGetResourceMetric",
      ])
      expect(find(harness).status?.conditions?.[1]?.message).toBe(
        `the HPA was unable to compute the replica count: ${reason}`,
      )
      expect(eventTexts(harness)).toContain(`FailedGetResourceMetric: ${reason}`)
      expect(eventTexts(harness)).toContain(
        "FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: " +
          `failed to get cpu resource metric value: ${reason}`,
      )
    })
    expect(find(harness).status).toMatchObject({ currentReplicas: 2, desiredReplicas: 0 })
  })

  test.each([
    [{ maxReplicas: 3 }, 5, 3, "Current number of replicas above Spec.MaxReplicas"],
    [{ minReplicas: 4 }, 2, 4, "Current number of replicas below Spec.MinReplicas"],
  ])("with %j scales %i to %i", async (spec, before, after, why) => {
    await using harness = await harnessWith(before, () => podMetrics(times(before, { cpu: "50m" })))
    await add(harness, autoscaler(spec))
    await eventually(() => expect(size(harness)).toBe(after))
    await eventually(() =>
      expect(eventTexts(harness)).toContain(`SuccessfulRescale: New size: ${after}; reason: ${why}`),
    )
  })

  test("does not scale a target with zero replicas", async () => {
    await using harness = await harnessWith(0, () => podMetrics([]))
    await add(harness, autoscaler())
    await eventually(() => expect(conditions(harness)).toContain("ScalingActive=False ScalingDisabled"))
    expect(size(harness)).toBe(0)
  })

  test("is first reconciled after its target could be created", async () => {
    await using harness = await timedHarness()
    await harness.create(horizontalPodAutoscalers, autoscaler())
    for (let ms = 0; ms < 14_000; ms += 100) {
      harness.clock.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await harness.create(deployments, deployment(0))
    await eventually(() => {
      harness.clock.advance(100)
      expect(conditions(harness)).toContain("ScalingActive=False ScalingDisabled")
    })
    expect(eventTexts(harness)).toEqual([])
  })

  test("reports a missing target", async () => {
    await using harness = await timedHarness()
    await add(harness, autoscaler())
    await eventually(() => {
      expect(conditions(harness)).toEqual(["AbleToScale=False FailedGetScale"])
      expect(eventTexts(harness)).toContain('FailedGetScale: deployments.apps "web" not found')
    })
  })

  test("does not scale when another one selects the same pods", async () => {
    const clock = new FakeClock(start)
    await using harness = await harnessWith(2, () => podMetrics(times(2, { cpu: "50m" })), clock)
    await add(harness, autoscaler())
    await eventually(() => expect(conditions(harness)).toContain("ScalingActive=True ValidMetricFound"))
    await add(harness, autoscaler({}, "other"))
    await eventually(() => {
      expect(conditions(harness, "other")).toContain("ScalingActive=False AmbiguousSelector")
      expect(eventTexts(harness).join()).toContain(
        "pods by selector app=web are controlled by multiple HPAs: [default/other default/web]",
      )
    })
  })

  test.each([
    [
      "pods",
      { type: "Pods", pods: { metric: { name: "requests" }, target: { type: "AverageValue", averageValue: "10" } } },
      "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/requests?labelSelector=app%3Dweb",
      ["20", "20"],
      4,
      { type: "Pods", pods: { current: { averageValue: "20" } } },
    ],
    [
      "an object metric",
      {
        type: "Object",
        object: {
          metric: { name: "hits", selector: { matchLabels: { verb: "GET" } } },
          describedObject: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "main" },
          target: { type: "Value", value: "100" },
        },
      },
      "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/ingresses.networking.k8s.io/main/hits?metricLabelSelector=verb%3DGET",
      ["150"],
      3,
      { type: "Object", object: { current: { value: "150" } } },
    ],
    [
      "an external metric per pod",
      {
        type: "External",
        external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "10" } },
      },
      "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue",
      ["31", "20"],
      4,
      { type: "External", external: { current: { averageValue: "25500m" } } },
    ],
    [
      "an external metric",
      { type: "External", external: { metric: { name: "queue" }, target: { type: "Value", value: "10" } } },
      "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue",
      ["12500m"],
      3,
      { type: "External", external: { current: { value: "12500m" } } },
    ],
    [
      "the memory of one container",
      {
        type: "ContainerResource",
        containerResource: { name: "memory", container: "c", target: { type: "AverageValue", averageValue: "1Mi" } },
      },
      "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods?labelSelector=app%3Dweb",
      undefined,
      4,
      { type: "ContainerResource", containerResource: { container: "c", current: { averageValue: "2Mi" } } },
    ],
  ])("follows %s", async (_, metric, path, values, replicas, current) => {
    await using harness = await harnessWith(2, (asked) => {
      if (asked !== path) throw noSuchPath()
      if (values === undefined) return podMetrics(times(2, { memory: "2Mi" }))
      return {
        items: values.map((value, index) => ({
          describedObject: { name: `web-${index}` },
          timestamp: "2026-01-01T01:00:00Z",
          value,
        })),
      }
    })
    await add(harness, autoscaler({ metrics: [metric] }))
    await eventually(() => expect(size(harness)).toBe(replicas))
    await eventually(() => expect(find(harness).status?.currentMetrics).toMatchObject([current]))
  })

  test.each([
    [
      { apiVersion: "v1", kind: "Service", name: "main" },
      "unable to get metric hits: Service on default main/unable to fetch metrics from custom metrics API: " +
        "no custom metrics API (custom.metrics.k8s.io) registered",
      undefined,
    ],
    [
      { apiVersion: "v1", kind: "Service", name: "main" },
      "unable to get metric hits: Service on default main/unable to fetch metrics from custom metrics API: " +
        "the server is currently unable to handle the request (get services.custom.metrics.k8s.io main)",
      serviceUnavailable("the server is currently unable to handle the request"),
    ],
    [
      { apiVersion: "v1", kind: "Service", name: "main" },
      "unable to get metric hits: Service on default main/unable to fetch metrics from custom metrics API: " +
        "the custom metrics API server returned 0 results when we asked for exactly one",
      { items: [] },
    ],
    [
      { apiVersion: "example.com/v1", kind: "Thing", name: "main" },
      "unable to get metric hits: Thing on default main/unable to fetch metrics from custom metrics API: " +
        'unable to map kind Thing.example.com to resource: no matches for kind "Thing" in group "example.com"',
      {},
    ],
  ])("with %j reports why it is unavailable: %s", async (describedObject, why, answer) => {
    await using harness = await harnessWith(2, () => {
      if (answer === undefined) throw noSuchPath()
      if (answer instanceof Error) throw answer
      return answer
    })
    const object = { metric: { name: "hits" }, describedObject, target: { type: "Value", value: "1" } }
    await add(harness, autoscaler({ metrics: [{ type: "Object", object }] }))
    await eventually(() => expect(eventTexts(harness)).toContain(`FailedGetObjectMetric: ${why}`))
  })

  test("with some metrics missing scales up but not down", async () => {
    let usage = "10m"
    const clock = new FakeClock(start)
    const metrics = [
      cpu(50),
      { type: "External", external: { metric: { name: "q" }, target: { type: "Value", value: "1" } } },
    ]
    await using harness = await harnessWith(
      2,
      (path) => {
        if (path.includes("external")) throw noSuchPath()
        return podMetrics(times(2, { cpu: usage }))
      },
      clock,
    )
    await add(harness, autoscaler({ metrics }))
    await eventually(() => expect(conditions(harness)).toContain("ScalingActive=False FailedGetExternalMetric"))
    usage = "75m"
    await eventually(() => {
      clock.advance(15_000)
      expect(size(harness)).toBe(3)
    })
  })
})
