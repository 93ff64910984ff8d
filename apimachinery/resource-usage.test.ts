import { expect, test } from "vitest"
import type { KubeObject } from "./object.ts"
import { printQuantity } from "./quantity.ts"
import { usageOf } from "./resource-usage.ts"

const usage = (resource: string, spec: object, status: object = {}): Record<string, string> => {
  const object = { apiVersion: "v1", kind: "X", metadata: { name: "x" }, spec, status } as KubeObject
  return Object.fromEntries(
    Object.entries(usageOf("", resource, object)).map(([name, amount]) => [name, printQuantity(amount)]),
  )
}

test("a claim counts what it asks in whole bytes, or what it was given if that is more", () => {
  const spec = { storageClassName: "fast", resources: { requests: { storage: "1500m" } } }
  expect(usage("persistentvolumeclaims", spec)).toMatchObject({
    "requests.storage": "2",
    "fast.storageclass.storage.k8s.io/requests.storage": "2",
    "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
  })
  const status = { allocatedResources: { storage: "3Gi" } }
  expect(usage("persistentvolumeclaims", spec, status)).toMatchObject({ "requests.storage": "3Gi" })
})

const sized = (name: string, cpu: string, more: object = {}): object => ({
  name,
  resources: { requests: { cpu }, limits: { cpu } },
  ...more,
})

test.each([
  ["nothing is known of it yet", {}, "300m", "300m"],
  [
    "it still holds more than it asks",
    { containerStatuses: [{ ...sized("a", "500m"), allocatedResources: { cpu: "400m" } }] },
    "700m",
    "700m",
  ],
  [
    "more was allocated than it holds",
    { containerStatuses: [{ ...sized("a", "100m"), allocatedResources: { cpu: "400m" } }] },
    "600m",
    "300m",
  ],
  [
    "its node cannot give what it asks",
    {
      conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible" }],
      containerStatuses: [{ ...sized("a", "50m"), allocatedResources: { cpu: "50m" } }],
    },
    "250m",
    "250m",
  ],
  ["a sidecar still holds more", { initContainerStatuses: [sized("b", "1")] }, "1100m", "1100m"],
])("a pod that is resized counts as what it asks or holds, when %s", (_when, status, requests, limits) => {
  const spec = {
    containers: [sized("a", "100m")],
    initContainers: [sized("b", "200m", { restartPolicy: "Always" })],
  }
  expect(usage("pods", spec, status)).toMatchObject({ "requests.cpu": requests, "limits.cpu": limits })
})
