// Steps that scenarios of Services have in common.

import type { Step } from "../scenario.ts"
import { labels } from "./steps.ts"

export const service = (spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", labels: { team: "a" } },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
  },
})

export const patched = (spec: object, metadata: object = {}): Step => ({
  patch: ["services", "web"],
  with: { metadata, spec },
})
export const pod = (name: string, spec: object = {}, more: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, ...more },
    spec: { containers: [{ name: "c", image: "one", ports: [{ name: "web", containerPort: 8000 }] }], ...spec },
  },
})
export const endpoints = (subsets: object[], metadata: object = {}): Step => ({
  create: { apiVersion: "v1", kind: "Endpoints", metadata: { name: "web", ...metadata }, subsets },
})
export const slice = (name: string, more: object = {}, metadata: object = {}): Step => ({
  create: {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, labels: { "kubernetes.io/service-name": "web" }, ...metadata },
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.7"] }],
    ports: [],
    ...more,
  },
})
export const withoutSelector = { selector: null }
export const subset = (ip: string, more: object = {}): object => ({
  addresses: [{ ip }],
  ports: [{ name: "http", port: 5432 }],
  ...more,
})
