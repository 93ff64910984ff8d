// Devices, and claims for them.

import type { Step } from "../scenario.ts"

export const driver = "example.com"

export const resourceSlice = (name: string, generation: number, devices: object[]): Step => ({
  create: {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name },
    spec: {
      driver,
      pool: { name: "NAMESPACE", generation, resourceSliceCount: 1 },
      allNodes: true,
      devices,
    },
  },
})

export const resourceClaim = (name: string): Step => ({
  create: {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name, finalizers: ["resource.kubernetes.io/delete-protection"] },
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] } },
  },
})
