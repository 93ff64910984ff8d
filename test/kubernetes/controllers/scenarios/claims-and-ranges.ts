// ResourceClaims of templates, ServiceCIDRs.

import type { Scenario, Step } from "../scenario.ts"
import { container, settle } from "./steps.ts"

const at = "2026-01-01T00:00:00Z"
const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] }
const template: Step = {
  create: {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaimTemplate",
    metadata: { name: "gpus" },
    spec: { metadata: { labels: { a: "b" } }, spec: { devices } },
  },
}
const pod: Step = {
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web" },
    spec: {
      containers: [container("one")],
      resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpus" }],
    },
  },
}
const made: Step = { until: ["pods", "web"], has: { status: { resourceClaimStatuses: [{ name: "gpu" }] } } }

const gpu: Step = {
  create: {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "gpu", finalizers: ["resource.kubernetes.io/delete-protection"] },
    spec: { devices },
  },
}
const allocated: Step = {
  patch: ["resourceclaims", "gpu"],
  with: {
    status: {
      allocation: { devices: { results: [{ request: "gpu", driver: "example.com", pool: "p", device: "d" }] } },
    },
  },
  subresource: "status",
}
const podOnNode = (resourceClaims: object[]): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "one" },
    spec: { nodeName: "n1", containers: [container("one")], resourceClaims },
  },
})

const address = (name: string, parent: object): Step => ({
  create: {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name, labels: { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" } },
    spec: { parentRef: { namespace: "NAMESPACE", name: "web", ...parent } },
  },
})
const service: Step = {
  create: { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } },
}

export const claimScenarios: readonly Scenario[] = [
  { name: "pod with a claim of a template", steps: [template, pod, made, settle] },
  { name: "pod whose claim's template comes later", steps: [pod, settle, template, made, settle] },
  { name: "pod with a claim that has ended", steps: [template, pod, made, { pods: "succeeded" }, settle] },
  {
    name: "pod that has ended and whose claims a user takes from its status",
    steps: [
      template,
      pod,
      made,
      { pods: "succeeded" },
      settle,
      { patch: ["pods", "web"], with: { status: { resourceClaimStatuses: null } }, subresource: "status" },
      settle,
    ],
  },
  {
    name: "pod that has ended before there is a template of its claim",
    steps: [pod, settle, { pods: "succeeded" }, settle, template, made, settle],
  },
  {
    name: "claim that is allocated for a pod that has ended",
    steps: [
      gpu,
      podOnNode([{ name: "gpu", resourceClaimName: "gpu" }]),
      { pods: "succeeded" },
      settle,
      allocated,
      settle,
    ],
  },
  {
    name: "range of addresses for services",
    steps: [
      {
        create: {
          apiVersion: "networking.k8s.io/v1",
          kind: "ServiceCIDR",
          metadata: { name: "NAMESPACE" },
          spec: { cidrs: ["RANGE4.0/24"] },
        },
      },
      { until: ["servicecidrs", "NAMESPACE"], has: { status: { conditions: [{ status: "True" }] } } },
    ],
  },
  {
    name: "pod with a node, whose first claim is not there",
    steps: [
      gpu,
      allocated,
      podOnNode([
        { name: "first", resourceClaimName: "later" },
        { name: "second", resourceClaimName: "gpu" },
      ]),
      settle,
    ],
  },
  {
    name: "range with additional metadata",
    steps: [
      {
        create: {
          apiVersion: "networking.k8s.io/v1",
          kind: "ServiceCIDR",
          metadata: { name: "NAMESPACE" },
          spec: { cidrs: ["RANGE4.0/24"] },
        },
      },
      { until: ["servicecidrs", "NAMESPACE"], has: { status: { conditions: [{ status: "True" }] } } },
      {
        patch: ["servicecidrs", "NAMESPACE"],
        with: {
          status: {
            conditions: [
              { type: "Ready", status: "False", reason: "No", message: "not so", lastTransitionTime: at },
              { type: "Mine", status: "True", reason: "Yes", message: "so", lastTransitionTime: at },
            ],
          },
        },
        subresource: "status",
      },
      settle,
    ],
  },
  {
    name: "address of what is no service",
    steps: [address("192.0.2.1", { resource: "configmaps" }), { until: ["ipaddresses", "192.0.2.1"], has: null }],
  },
  {
    name: "address of a service that is not there",
    steps: [
      address("192.0.2.2", { resource: "services" }),
      settle,
      { until: ["ipaddresses", "192.0.2.2"], has: null, late: true },
    ],
  },
  {
    name: "address of a service that has another",
    steps: [
      service,
      address("192.0.2.3", { resource: "services" }),
      { until: ["ipaddresses", "192.0.2.3"], has: null },
    ],
  },
]
