// HorizontalPodAutoscalers through both versions. Results of kube-apiserver 1.36.

import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { faults, type Loose, shareKinds } from "../../testing/kinds.ts"

const { kinds } = shareKinds()

const resource = (version: "v1" | "v2") => {
  return { group: "autoscaling", version, resource: "horizontalpodautoscalers", namespaced: true }
}
const target = { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "x", apiVersion: "apps/v1" } }
const key = "autoscaling.alpha.kubernetes.io/"

function scaler(version: "v1" | "v2", name: string, more: Loose = {}): KubeObject {
  const metadata = { name, namespace: "default", ...more["metadata"] }
  return {
    kind: "HorizontalPodAutoscaler",
    apiVersion: `autoscaling/${version}`,
    spec: target,
    ...more,
    metadata,
  }
}

const create = (version: "v1" | "v2", name: string, more?: Loose): Promise<Loose> =>
  kinds.client.create(resource(version), scaler(version, name, more))
const read = (version: "v1" | "v2", name: string): Promise<Loose> =>
  kinds.client.get(resource(version), "default", name)

const cpu = (averageUtilization: number): Loose => {
  return { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } }
}
const used = (current: Loose): Loose => ({ type: "Resource", resource: { name: "cpu", current } })
const memory = {
  type: "Resource",
  resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
}

describe("metrics", () => {
  test("of v1's annotation are placed before its percentage", async () => {
    const older = [{ type: "Resource", resource: { name: "memory", targetAverageValue: "1Gi" } }]
    const metadata = { annotations: { [`${key}metrics`]: JSON.stringify(older) } }
    await create("v1", "annotated", { metadata, spec: { ...target, targetCPUUtilizationPercentage: 5 } })
    expect((await read("v2", "annotated"))["spec"].metrics).toEqual([memory, cpu(5)])
  })

  test("are read from the first target and the last current value for v1", async () => {
    await create("v2", "two", { spec: { ...target, metrics: [cpu(10), memory, cpu(20)] } })
    const currentMetrics = [10, 20].map((averageUtilization) => used({ averageUtilization, averageValue: "1" }))
    await kinds.client.update(resource("v2"), scaler("v2", "two", { status: { currentMetrics } }), {
      subresource: "status",
    })
    expect(await read("v1", "two")).toMatchObject({
      spec: { targetCPUUtilizationPercentage: 10 },
      status: { currentCPUUtilizationPercentage: 20 },
    })
  })
})

describe("a status written in v1", () => {
  const status = { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 50 }
  const write = (name: string, annotations?: Loose): Promise<Loose> =>
    kinds.client.update(resource("v1"), scaler("v1", name, { metadata: { annotations }, status }), {
      subresource: "status",
    })

  test("is compared in its stored form", async () => {
    await create("v1", "same")
    const { metadata: first } = await write("same")
    expect((await read("v2", "same"))["status"].currentMetrics).toEqual([used({ averageUtilization: 50 })])
    expect((await write("same"))["metadata"].resourceVersion).toBe(first.resourceVersion)
    // The annotation that was read contains a value.
    const patched: Loose = await kinds.client.patch(
      resource("v1"),
      "default",
      "same",
      { status },
      {
        type: "merge",
        subresource: "status",
      },
    )
    expect(patched["metadata"].resourceVersion).not.toBe(first.resourceVersion)
    const currentMetrics = [used({ averageUtilization: 50, averageValue: "0" })]
    expect((await read("v2", "same"))["status"].currentMetrics).toEqual(currentMetrics)
  })

  test.each<[string, unknown, unknown]>([
    ["null", null, null],
    ["an empty list", [], null],
    ["no list", "x", [used({ averageUtilization: 50 })]],
  ])("has the metrics of its annotation: %s", async (name, noted, expected) => {
    const own = name.replaceAll(" ", "-")
    await create("v1", own)
    await write(own, { [`${key}current-metrics`]: JSON.stringify(noted) })
    expect((await read("v2", own))["status"].currentMetrics).toEqual(expected)
  })
})

describe("annotations of v1", () => {
  let count = 0

  /** Through v1 into the store, and from there in v2. */
  async function stored(annotation: string, value: unknown): Promise<Loose> {
    const name = `stored-${++count}`
    const text = typeof value === "string" ? value : JSON.stringify(value)
    const metadata = { annotations: { [`${key}${annotation}`]: text } }
    const isSpec = ["metrics", "behavior"].includes(annotation)
    await create("v1", name, isSpec ? { metadata } : {})
    if (!isSpec) {
      await kinds.client.update(resource("v1"), scaler("v1", name, { metadata }), { subresource: "status" })
    }
    return read("v2", name)
  }

  const metric = { name: "m" }

  test.each<[unknown, unknown]>([
    [{ type: "Pods", pods: { metricName: "m" } }, { pods: { metric, current: { averageValue: "0" } } }],
    [{ type: "External", external: { metricName: "m" } }, { external: { metric, current: { value: "0" } } }],
    [
      { type: "Object", object: { metricName: "m", averageValue: 2, currentValue: null } },
      { object: { metric, current: { value: "0", averageValue: "2" } } },
    ],
    [{ type: "Resource", resource: { name: "cpu" } }, { resource: { name: "cpu", current: { averageValue: "0" } } }],
    [null, { type: "" }],
  ])("have Go's zeros in the metrics of the status: %j", async (given, expected) => {
    const { status } = await stored("current-metrics", [given])
    expect(status.currentMetrics).toMatchObject([expected])
  })

  test.each<[string, unknown]>([
    ["current-metrics", [1]],
    ["current-metrics", [{ type: 1 }]],
    ["current-metrics", [{ type: "Pods", pods: [] }]],
    ["current-metrics", [{ type: "Pods", pods: { currentAverageValue: "x" } }]],
    ["conditions", [{ lastTransitionTime: "x" }]],
    ["conditions", [1]],
    ["conditions", {}],
    ["metrics", [{ type: "Pods", pods: { metricName: 1 } }]],
    ["behavior", { ScaleUp: 1 }],
    ["behavior", []],
    ["behavior", {}],
    ["behavior", "{"],
  ])("count as missing if they have another type: %s %j", async (annotation, value) => {
    const { spec, status } = await stored(annotation, value)
    expect(spec).toEqual({ ...target, minReplicas: 1, metrics: [cpu(80)] })
    expect(status).toEqual({ desiredReplicas: 0, currentMetrics: null })
  })

  test("have the defaults of a behavior when they are stored", async () => {
    const { spec } = await stored("behavior", { ScaleUp: { Policies: [{ Type: "Pods", Value: 1, PeriodSeconds: 1 }] } })
    expect(spec.behavior).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: "Max",
        policies: [{ type: "Pods", value: 1, periodSeconds: 1 }],
      },
      scaleDown: { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] },
    })
  })

  test("are read before they are validated", async () => {
    expect(await faults(stored("metrics", [null]))).toContain(
      "spec.metrics[0].type: Required value: must specify a metric source type",
    )
    expect(await faults(stored("metrics", [{ type: "Pods", pods: { metricName: "m" } }]))).toEqual([
      'spec.metrics[0].pods.target.averageValue: Invalid value: "0": must be positive',
    ])
    expect(await faults(stored("behavior", { ScaleUp: { Policies: [null] } }))).toContain(
      "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
    )
  })

  test("print metrics in the order of v1's fields", async () => {
    const pods = { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "1" } }
    const cpuOf = { name: "cpu", container: "c", target: { type: "Utilization", averageUtilization: 1 } }
    const metrics = [
      { type: "Pods", pods: { ...pods, metric: { name: "m", selector: { matchLabels: { a: "b" } } } } },
      { type: "ContainerResource", containerResource: cpuOf },
    ]
    await create("v2", "ordered", { spec: { ...target, metrics } })
    expect((await read("v1", "ordered"))["metadata"].annotations[`${key}metrics`]).toBe(
      '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1","selector":{"matchLabels":{"a":"b"}}}},{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":1,"container":"c"}}]',
    )
  })
})
