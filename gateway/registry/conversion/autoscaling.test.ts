// HorizontalPodAutoscalers through both versions. Results of kube-apiserver 1.36.

import { afterAll, describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { createKindsStub, type Loose } from "../../testing/kinds.ts"

const kinds = createKindsStub()
afterAll(() => kinds[Symbol.asyncDispose]())

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
  test("of v1's annotation come before its percentage", async () => {
    const older = [{ type: "Resource", resource: { name: "memory", targetAverageValue: "1Gi" } }]
    const metadata = { annotations: { [`${key}metrics`]: JSON.stringify(older) } }
    await create("v1", "annotated", { metadata, spec: { ...target, targetCPUUtilizationPercentage: 5 } })
    expect((await read("v2", "annotated"))["spec"].metrics).toEqual([memory, cpu(5)])
  })

  test("of the targets the first is v1's, of the current values the last", async () => {
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

describe("a status that is written in v1", () => {
  const status = { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 50 }
  const write = (name: string, annotations?: Loose): Promise<Loose> =>
    kinds.client.update(resource("v1"), scaler("v1", name, { metadata: { annotations }, status }), {
      subresource: "status",
    })

  test("changes nothing if it is stored the same in v2, and something if it is not", async () => {
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
    ["nothing", null, null],
    ["an empty list", [], null],
    ["no list", "x", [used({ averageUtilization: 50 })]],
  ])("has the metrics of its annotation: %s", async (name, noted, expected) => {
    const own = name.replaceAll(" ", "-")
    await create("v1", own)
    await write(own, { [`${key}current-metrics`]: JSON.stringify(noted) })
    expect((await read("v2", own))["status"].currentMetrics).toEqual(expected)
  })
})
