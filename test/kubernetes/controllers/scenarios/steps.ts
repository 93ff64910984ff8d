// Steps that scenarios have in common.

import type { Step } from "../scenario.ts"

export const labels = { app: "web" }
export const container = (image: string): object => ({ name: "c", image, resources: {} })
export const template = (image = "one", more: object = {}): object => ({
  metadata: { labels },
  spec: { containers: [container(image)], ...more },
})
export const workload = (kind: string, spec: object, more: object = {}): Step => ({
  create: {
    apiVersion: "apps/v1",
    kind,
    metadata: { name: "web", ...more },
    spec: { selector: { matchLabels: labels }, template: template(), ...spec },
  },
})
export const deployment = (spec: object = {}, more: object = {}): Step =>
  workload("Deployment", { replicas: 3, ...spec }, more)
export const image = (name: string, resource = "deployments"): Step => ({
  patch: [resource, "web"],
  with: { spec: { template: { spec: { containers: [container(name)] } } } },
})
export const scale = (replicas: number, resource = "deployments", name = "web"): Step => ({
  patch: [resource, name],
  with: { spec: { replicas } },
  subresource: "scale",
})
/** A new one has its pods: those that are reported ready next are all of them, however slow the controllers are. */
export const made = (replicas: number): Step => ({ until: ["deployments", "web"], has: { status: { replicas } } })
export const rolled = (replicas: number): Step => ({
  until: ["deployments", "web"],
  has: { status: { updatedReplicas: replicas, availableReplicas: replicas, replicas } },
})
export const job = (spec: object = {}): Step => ({
  create: {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [container("one")] } }, ...spec },
  },
})
export const jobHas = (status: object): Step => ({ until: ["jobs", "work"], has: { status } })
export const quota = (hard: object): Step => ({
  create: { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "limit" }, spec: { hard } },
})
export const settle: Step = { settle: true }
/** An owner that controls nothing. */
export const owner = { apiVersion: "v1", kind: "Namespace", name: "NAMESPACE", uid: "UID:namespaces/NAMESPACE" }
