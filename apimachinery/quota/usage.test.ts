import { expect, test } from "vitest"
import type { KubeObject } from "../object.ts"
import { printQuantity } from "../quantity.ts"
import { quotaNamesOf, usageOf } from "./usage.ts"

const usage = (resource: string, spec: object, status: object = {}, group = ""): Record<string, string> => {
  const object = { apiVersion: "v1", kind: "X", metadata: { name: "x" }, spec, status } as KubeObject
  return Object.fromEntries(
    Object.entries(usageOf(group, resource, object)).map(([name, amount]) => [name, printQuantity(amount)]),
  )
}

test("a volume claim counts its request in whole bytes, or its allocation if that is larger", () => {
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
  ["its status is empty", {}, "300m", "300m"],
  [
    "it still has more than it requests",
    { containerStatuses: [{ ...sized("a", "500m"), allocatedResources: { cpu: "400m" } }] },
    "700m",
    "700m",
  ],
  [
    "more was allocated than it has",
    { containerStatuses: [{ ...sized("a", "100m"), allocatedResources: { cpu: "400m" } }] },
    "600m",
    "300m",
  ],
  [
    "its request is infeasible on its node",
    {
      conditions: [{ type: "PodResizePending", status: "True", reason: "Infeasible" }],
      containerStatuses: [{ ...sized("a", "50m"), allocatedResources: { cpu: "50m" } }],
    },
    "250m",
    "250m",
  ],
  ["a sidecar still has more", { initContainerStatuses: [sized("b", "1")] }, "1100m", "1100m"],
])("a pod that is resized counts its requests or its resources, when %s", (_when, status, requests, limits) => {
  const spec = {
    containers: [sized("a", "100m")],
    initContainers: [sized("b", "200m", { restartPolicy: "Always" })],
  }
  expect(usage("pods", spec, status)).toMatchObject({ "requests.cpu": requests, "limits.cpu": limits })
})

test("a resource claim counts devices by class, in the worst case of its alternatives", () => {
  const requests = [
    { exactly: { deviceClassName: "gold", allocationMode: "ExactCount", count: 2 } },
    { deviceClassName: "gold", allocationMode: "ExactCount", count: 1 },
    { exactly: { deviceClassName: "iron", allocationMode: "All" } },
    {
      firstAvailable: [
        { deviceClassName: "gold", allocationMode: "ExactCount", count: 4 },
        { deviceClassName: "gold", allocationMode: "ExactCount", count: 3 },
        { deviceClassName: "tin", allocationMode: "ExactCount", count: 1 },
      ],
    },
  ]
  expect(usage("resourceclaims", { devices: { requests } }, {}, "resource.k8s.io")).toEqual({
    "count/resourceclaims.resource.k8s.io": "1",
    "gold.deviceclass.resource.k8s.io/devices": "7",
    "iron.deviceclass.resource.k8s.io/devices": "32",
    "tin.deviceclass.resource.k8s.io/devices": "1",
    "requests.deviceclass.resource.kubernetes.io/gold": "7",
    "requests.deviceclass.resource.kubernetes.io/iron": "32",
    "requests.deviceclass.resource.kubernetes.io/tin": "1",
  })
  expect(usage("resourceclaims", {}, {}, "resource.k8s.io")).toEqual({ "count/resourceclaims.resource.k8s.io": "1" })
})

test("quota names are matched with the resource that they count", () => {
  const names = ["count/resourceclaims.resource.k8s.io", "gold.deviceclass.resource.k8s.io/devices", "pods"]
  expect(quotaNamesOf("resource.k8s.io", "resourceclaims", names)).toEqual(names.slice(0, 2))
  expect(quotaNamesOf("", "pods", names)).toEqual(["pods"])
})

test("pod-level resources take precedence over those of containers, and overhead is added", () => {
  const spec = {
    containers: [sized("a", "100m")],
    resources: { requests: { cpu: "1" }, limits: { cpu: "2" } },
    overhead: { cpu: "10m", memory: "1Mi" },
  }
  expect(usage("pods", spec)).toMatchObject({
    "requests.cpu": "1010m",
    "limits.cpu": "2010m",
    "requests.memory": "1Mi",
  })
})

test("overhead is added only to limits that are not zero", () => {
  const spec = {
    containers: [{ name: "a", resources: { limits: { cpu: "0", memory: "1Mi" } } }],
    overhead: { cpu: "10m", memory: "1Mi" },
  }
  expect(usage("pods", spec)).toMatchObject({ "limits.cpu": "0", "limits.memory": "2Mi" })
})

test.each([
  ["services", ["services", "services.nodeports", "services.loadbalancers", "count/services"]],
  ["persistentvolumeclaims", ["requests.storage", "gold.storageclass.storage.k8s.io/requests.storage"]],
  ["pods", ["requests.example.com/gpu", "requests.deviceclass.resource.kubernetes.io/gold"]],
  ["events", []],
  ["bindings", []],
])("only these of many similar names count %s: %j", (resource, expected) => {
  const others = [
    "services.example.com/a",
    "gold.storageclass.storage.k8s.io/a",
    "requests.a.kubernetes.io/b",
    "count/events",
    "count/bindings",
  ]
  expect(quotaNamesOf("", resource, [...others, ...expected])).toEqual(expected)
})
