// Steps that scenarios of deletions and quotas have in common.

import type { Step } from "../scenario.ts"
import { labels } from "./steps.ts"

export const config = (name: string, owners: object[] = []): Step => ({
  create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences: owners } },
})

export const uid = "11111111-1111-4111-8111-111111111111"
export const hold = { finalizers: ["example.com/hold"] }
export const held = (name: string, owners: object[] = []): Step => ({
  create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences: owners, ...hold } },
})
export const ownedBy = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name,
  uid: `UID:configmaps/${name}`,
  ...more,
})
export const remove = (name: string, policy: "Background" | "Foreground" | "Orphan"): Step => ({
  delete: ["configmaps", name],
  policy,
})
export const gone = (name: string): Step => ({ until: ["configmaps", name], has: null })
export const scoped = (name: string, spec: object): Step => ({
  create: { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec },
})
export const pod = (name: string, spec: object = {}, resources: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: { containers: [{ name: "c", image: "one", resources }], ...spec },
  },
})
/** Upstream begins 5 s after the deletion. */
export const begunToEndIn = (namespace: string): Step => ({
  until: ["namespaces", namespace],
  has: { status: { conditions: [{ type: "NamespaceContentRemaining" }] } },
})
export const begunToEnd = begunToEndIn("NAMESPACE")
export const counts = (name: string, hard: object): Step => ({
  until: ["resourcequotas", name],
  has: { status: { hard } },
})
