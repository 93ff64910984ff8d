// Which metrics autoscalers follow, and what they say of those that are missing.

import { describe, expect, test } from "vitest"
import { noSuchPath, serviceUnavailable } from "../../apimachinery/status.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, eventTexts } from "../testing/harness.ts"
import {
  add,
  autoscaler,
  conditions,
  cpu,
  find,
  harnessWith,
  podMetrics,
  size,
  start,
  times,
} from "../testing/autoscaled.ts"

describe("a HorizontalPodAutoscaler", () => {
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
