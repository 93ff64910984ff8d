// What clients do to roles, bindings and APIServices before a server starts again, and what is there afterwards.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

const group = "/apis/rbac.authorization.k8s.io/v1"
const roles = `${group}/clusterroles`
const bindings = `${group}/clusterrolebindings`
const system = `${group}/namespaces/kube-system`
const locking = "system::leader-locking-kube-scheduler"
const services = "/apis/apiregistration.k8s.io/v1/apiservices"
const change = (path: string, body: Json): RequestStep => patch(path, mergePatch, body)
const excluded = { metadata: { annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" } } }
const jane = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }
const binding = (name: string, more: { [key: string]: Json } = {}): RequestStep =>
  post(bindings, {
    metadata: { name, ...more },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: [jane],
  })

export const beforeStart: Scenario = {
  name: "before a start",
  steps: [
    remove(`${roles}/view`),
    remove(`${roles}/system:basic-user`),
    change(`${roles}/system:discovery`, {
      metadata: { labels: { "kubernetes.io/bootstrapping": "mine", mine: "1" }, annotations: null },
      rules: [{ nonResourceURLs: ["/api", "/mine"], verbs: ["get", "put"] }],
    }),
    change(`${roles}/system:node-bootstrapper`, { rules: null }),
    change(`${roles}/system:kube-scheduler`, { ...excluded, rules: [] }),
    remove(`${roles}/admin`),
    post(roles, {
      metadata: { name: "admin" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { mine: "1" } }] },
    }),
    change(`${roles}/edit`, {
      aggregationRule: null,
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    }),
    change(`${roles}/system:node-problem-detector`, {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { mine: "1" } }] },
    }),
    remove(`${bindings}/system:discovery`),
    change(`${bindings}/system:basic-user`, { subjects: null, metadata: { labels: null } }),
    change(`${bindings}/cluster-admin`, { subjects: [jane] }),
    change(`${bindings}/system:kube-scheduler`, { ...excluded, subjects: [jane] }),
    remove(`${bindings}/system:kube-dns`),
    binding("system:kube-dns", { labels: { mine: "1" } }),
    remove(`${bindings}/system:node-proxier`),
    binding("system:node-proxier", excluded.metadata),
    remove(`${system}/roles/${locking}`),
    change(`${system}/rolebindings/${locking}`, { subjects: [jane] }),
    remove(`${services}/v1.apps`),
    change(`${services}/v1.batch`, { spec: { versionPriority: 3 }, metadata: { labels: { mine: "1" } } }),
    change(`${services}/v1.policy`, {
      spec: { versionPriority: 3 },
      metadata: { labels: { "kube-aggregator.kubernetes.io/automanaged": null } },
    }),
  ],
}

export const afterStart: Scenario = {
  name: "after a start",
  steps: [
    get(`${services}/v1.apps`, { untilCode: 200 }),
    get(`${services}/v1.batch`, { untilText: '"versionPriority":15' }),
    ...["view", "system:basic-user", "system:discovery", "system:node-bootstrapper", "system:kube-scheduler"].map(
      (name) => get(`${roles}/${name}`),
    ),
    ...["admin", "edit", "system:node-problem-detector"].map((name) => get(`${roles}/${name}`)),
    ...["discovery", "basic-user", "kube-scheduler", "kube-dns", "node-proxier"].map((name) =>
      get(`${bindings}/system:${name}`),
    ),
    get(`${bindings}/cluster-admin`),
    get(`${system}/roles/${locking}`),
    get(`${system}/rolebindings/${locking}`),
    get(`${services}/v1.policy`),
  ],
}
