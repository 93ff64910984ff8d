// What random policies are about (policy-kinds.ts): kinds with one or several versions, and requests to their subresources.

import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, put, type RequestStep, withQuery } from "../scenario.ts"

/** Of the custom resource. */
export const group = "pk@{id}.example.com"

export interface Target {
  group: string
  versions: readonly string[]
  resource: string
  kind: string
  body: JsonObject
  change: JsonObject
  subresources: Readonly<Record<string, readonly ((path: string, name: string) => RequestStep)[]>>
}

export const dry = (path: string): string => withQuery(path, "dryRun=All")

const scaled = (path: string, name: string): RequestStep =>
  put(dry(`${path}/scale`), { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas: 3 } })
const scalePatched = (path: string): RequestStep => patch(dry(`${path}/scale`), mergePatch, { spec: { replicas: 4 } })
const statusPatched = (path: string): RequestStep =>
  patch(dry(`${path}/status`), mergePatch, { metadata: { labels: { a: "1" } }, status: { replicas: 1 } })
const connected =
  (what: string) =>
  (path: string): RequestStep =>
    get(`${path}/${what}`)

export const thing: Target = {
  group,
  versions: ["v1", "v2"],
  resource: "things",
  kind: "Thing",
  body: { spec: { size: 1 } },
  change: { spec: { size: 2 } },
  subresources: { status: [statusPatched], scale: [scaled, scalePatched] },
}
const scaler: Target = {
  group: "autoscaling",
  versions: ["v1", "v2"],
  resource: "horizontalpodautoscalers",
  kind: "HorizontalPodAutoscaler",
  body: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } },
  change: { spec: { maxReplicas: 4 } },
  subresources: { status: [statusPatched] },
}
export const event: Target = {
  group: "",
  versions: ["v1"],
  resource: "events",
  kind: "Event",
  body: { involvedObject: { kind: "Pod", namespace: "@{ns}", name: "p" }, reason: "r" },
  change: { message: "m" },
  subresources: {},
}
const template = { spec: { containers: [{ name: "c", image: "i" }] } }
const pod: Target = {
  group: "",
  versions: ["v1"],
  resource: "pods",
  kind: "Pod",
  body: template,
  change: { spec: { containers: [{ name: "c", image: "j" }] } },
  subresources: {
    status: [statusPatched],
    eviction: [
      (path, name) =>
        post(`${path}/eviction`, {
          apiVersion: "policy/v1",
          kind: "Eviction",
          metadata: { name },
          deleteOptions: { dryRun: ["All"] },
        }),
    ],
    binding: [
      (path, name) => post(dry(`${path}/binding`), { metadata: { name }, target: { kind: "Node", name: "n" } }),
    ],
    ephemeralcontainers: [
      (path) =>
        patch(dry(`${path}/ephemeralcontainers`), mergePatch, {
          spec: { ephemeralContainers: [{ name: "e", image: "i" }] },
        }),
    ],
    resize: [
      (path) =>
        patch(dry(`${path}/resize`), mergePatch, { spec: { containers: [{ name: "c", image: "i", resources: {} }] } }),
    ],
    exec: [connected("exec?command=a&container=c&stdin=true")],
    attach: [connected("attach?stdout=true")],
    portforward: [connected("portforward?ports=80")],
    proxy: [connected("proxy/a?b=c"), connected("proxy")],
  },
}
const deployment: Target = {
  group: "apps",
  versions: ["v1"],
  resource: "deployments",
  kind: "Deployment",
  body: {
    spec: { selector: { matchLabels: { x: "y" } }, template: { metadata: { labels: { x: "y" } }, ...template } },
  },
  change: { spec: { replicas: 2 } },
  subresources: { status: [statusPatched], scale: [scaled, scalePatched] },
}
const account: Target = {
  group: "",
  versions: ["v1"],
  resource: "serviceaccounts",
  kind: "ServiceAccount",
  body: {},
  change: { automountServiceAccountToken: false },
  subresources: { token: [(path) => post(dry(`${path}/token`), { spec: { audiences: ["a"] } })] },
}

/** Each is chosen as often as it is listed. */
export const targets: readonly Target[] = [thing, thing, scaler, event, pod, deployment, account]
