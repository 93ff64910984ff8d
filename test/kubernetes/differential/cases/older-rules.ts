// Rules of the older kinds of the core group that few clients meet.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"

export function olderRuleCases(): Scenario[] {
  return [
    { name: "a namespace that ends is deleted again", steps: namespaces() },
    { name: "a namespace without finalizers is deleted", steps: freeNamespaces() },
    { name: "ratios of limits to requests", anyOrder: true, steps: ratios() },
    { name: "a replication controller changes", steps: controllers() },
    { name: "a quota changes", anyOrder: true, steps: quotas() },
    { name: "accounts and secrets change", steps: accounts() },
  ]
}

const change = (path: string, body: Body, label = ""): RequestStep =>
  patch(path, mergePatch, body, { label: `${label || path} ${JSON.stringify(body)}` })

const finalize = (path: string, name: string, finalizers: string[]): RequestStep =>
  put(`${path}/finalize`, { metadata: { name }, spec: { finalizers } })

function namespaces(): RequestStep[] {
  const at = "/api/v1/namespaces/a-@{id}"
  return [
    post("/api/v1/namespaces", { metadata: { name: "a-@{id}", finalizers: ["a/b"] } }),
    remove(`${at}?propagationPolicy=Orphan&dryRun=All`),
    remove(`${at}?propagationPolicy=Orphan`),
    get(at),
    remove(`${at}?propagationPolicy=Foreground`),
    remove(at),
    remove(`${at}?gracePeriodSeconds=5`),
    change(at, { metadata: { finalizers: ["a/b"] }, spec: { finalizers: [] }, status: { phase: "Active" } }),
    change(`${at}/status`, { status: { phase: "Active" } }),
    change(`${at}/status`, { status: { phase: null, conditions: [{ type: "a", status: "True" }] } }),
    finalize(at, "a-@{id}", ["Bad name", "a/b"]),
    finalize(at, "a-@{id}", []),
    remove(`${at}?propagationPolicy=Foreground`),
    remove(at),
    remove(`${at}?propagationPolicy=Background`),
    get(at),
    patch(at, mergePatch, { metadata: { finalizers: null } }),
    get(at),
  ]
}

function freeNamespaces(): RequestStep[] {
  const at = "/api/v1/namespaces/b-@{id}"
  return [
    post("/api/v1/namespaces", { metadata: { name: "b-@{id}" } }),
    finalize(at, "b-@{id}", []),
    change(at, { metadata: { labels: { "kubernetes.io/metadata.name": "other" } } }),
    change(at, { metadata: { labels: null } }),
    change(`${at}/status`, { metadata: { labels: { a: "b" } }, status: { phase: "Terminating" } }),
    remove(`${at}?dryRun=All`),
    remove(at),
    get(at),
    remove(at),
    get(at),
  ]
}

function ratios(): RequestStep[] {
  const limits: Body[] = [
    { max: { cpu: "2" }, min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "3" } },
    { max: { cpu: "2" }, min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "2" } },
    { max: { memory: "1Gi" }, min: { memory: "3Mi" }, maxLimitRequestRatio: { memory: "1000" } },
    { max: { cpu: "2" }, min: { cpu: "0" }, maxLimitRequestRatio: { cpu: "3" } },
    { max: { cpu: "0" }, min: { cpu: "0" }, maxLimitRequestRatio: { cpu: "3" } },
    { max: { memory: "10Pi" }, min: { memory: "1Pi" }, maxLimitRequestRatio: { memory: "10.5" } },
    { max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "500m" } },
    { max: { cpu: "-1" }, min: { cpu: "-2" } },
    { type: "Container", max: { cpu: "2" }, min: { cpu: "1500m" }, maxLimitRequestRatio: { cpu: "1.4" } },
    {
      type: "Container",
      max: { "nvidia.com/gpu": "2" },
      default: { "nvidia.com/gpu": "1" },
      defaultRequest: { "nvidia.com/gpu": "2" },
    },
    {
      type: "PersistentVolumeClaim",
      max: { storage: "2" },
      min: { storage: "1" },
      maxLimitRequestRatio: { storage: "3" },
    },
  ]
  return limits.map((one, index) =>
    post(
      `${core}/limitranges`,
      { metadata: { name: `l${index}` }, spec: { limits: [{ type: "Pod", ...one }] } },
      { label: JSON.stringify(one) },
    ),
  )
}

function controllers(): RequestStep[] {
  const at = `${core}/replicationcontrollers/a`
  const template = (more: Body = {}): Body => ({
    metadata: { labels: { a: "b" } },
    spec: { containers: [{ name: "main", image: "busybox" }], ...more },
  })
  const old = { nodeSelector: { "beta.kubernetes.io/os": "linux" } }
  return [
    post(`${core}/replicationcontrollers`, { metadata: { name: "a" }, spec: { template: template() } }),
    change(at, { spec: { template: template(old) } }),
    change(at, { spec: { replicas: 2 } }),
    change(at, { spec: { template: template({ nodeSelector: null }) } }),
    change(at, { spec: { replicas: 3 } }),
    change(at, { metadata: { annotations: { "non-convertible.kubernetes.io/a": "b" } } }),
    change(at, { spec: { replicas: 4 } }),
    change(at, {
      metadata: {
        annotations: { "non-convertible.kubernetes.io/a": null, "non-convertible.kubernetes.io/selector": "c" },
      },
    }),
    change(at, { metadata: { annotations: { "non-convertible.kubernetes.io/selector": "c" } } }),
    change(at, { spec: { selector: { a: "c" } } }),
    change(at, { metadata: { annotations: null } }),
    change(at, { spec: { selector: null } }),
    change(at, { spec: { selector: {} } }),
    change(at, { spec: { template: null } }),
    change(at, { spec: { minReadySeconds: -1, replicas: -1 } }),
    change(at, { spec: { minReadySeconds: null, replicas: null } }),
    change(`${at}/status`, { status: { replicas: 1, readyReplicas: 2, availableReplicas: 3 } }),
    change(`${at}/status`, { status: { replicas: 3, readyReplicas: 2, availableReplicas: 1, observedGeneration: -1 } }),
    get(at),
    change(`${core}/podtemplates/a`, { template: template(old) }),
    post(`${core}/podtemplates`, { metadata: { name: "a" }, template: template(old) }),
    change(`${core}/podtemplates/a`, { metadata: { labels: { a: "b" } } }),
    change(`${core}/podtemplates/a`, {
      template: template({ nodeSelector: { "beta.kubernetes.io/os": null, "beta.kubernetes.io/arch": "a" } }),
    }),
    change(`${core}/podtemplates/a`, { template: template({ nodeSelector: null }) }),
  ]
}

function quotas(): RequestStep[] {
  const at = `${core}/resourcequotas/a`
  return [
    post(`${core}/resourcequotas`, { metadata: { name: "a" }, spec: { hard: { pods: "1" }, scopes: ["BestEffort"] } }),
    change(at, { spec: { scopes: ["NotBestEffort"] } }),
    change(at, { spec: { scopes: ["BestEffort", "BestEffort"] } }),
    change(at, { spec: { scopes: null } }),
    change(at, { spec: { scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "Exists" }] } } }),
    change(at, { spec: { scopeSelector: { matchExpressions: [{ scopeName: "NotBestEffort", operator: "Exists" }] } } }),
    change(at, { spec: { hard: { pods: "1.5", services: "-1", "requests.cpu": "1", bogus: "1", "a/b": "1" } } }),
    change(`${at}/status`, {
      status: { hard: { pods: "1.5" }, used: { services: "-1", bogus: "1", "requests.a/b": "1" } },
    }),
    change(`${at}/status`, { spec: { scopes: null }, status: { hard: { pods: "1" }, used: { pods: "5" } } }),
    get(at),
  ]
}

function accounts(): RequestStep[] {
  const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" }
  return [
    post(`${core}/serviceaccounts`, {
      metadata: { name: "a", annotations },
      secrets: [{ name: "a", namespace: "b", kind: "C" }, {}],
      imagePullSecrets: [{ name: "Bad name" }, {}],
    }),
    change(`${core}/serviceaccounts/a`, { metadata: { labels: { a: "b" } } }),
    change(`${core}/serviceaccounts/a`, { metadata: { annotations: null } }),
    change(`${core}/serviceaccounts/a`, { metadata: { annotations } }),
    change(`${core}/serviceaccounts/a`, { secrets: null }),
    post(`${core}/secrets`, { metadata: { name: "a" }, immutable: true, data: { a: "Yg==" } }),
    change(`${core}/secrets/a`, { stringData: { a: "b" } }),
    change(`${core}/secrets/a`, { stringData: { a: "c" } }),
    change(`${core}/secrets/a`, { immutable: false }),
    change(`${core}/secrets/a`, { immutable: null, data: null }),
    change(`${core}/secrets/a`, { type: "a/b" }),
    change(`${core}/secrets/a`, { type: "" }),
    change(`${core}/secrets/a`, { type: "kubernetes.io/tls" }),
    change(`${core}/secrets/a`, { metadata: { labels: { a: "b" } } }),
    post(`${core}/secrets`, { metadata: { name: "b" }, type: "kubernetes.io/service-account-token" }),
    post(`${core}/secrets`, {
      metadata: { name: "b" },
      type: "kubernetes.io/dockercfg",
      stringData: { ".dockercfg": "" },
    }),
    post(`${core}/secrets`, {
      metadata: { name: "b" },
      type: "kubernetes.io/dockercfg",
      stringData: { ".dockercfg": "null" },
    }),
    post(`${core}/configmaps`, { metadata: { name: "a" }, immutable: true, data: { a: "b" } }),
    change(`${core}/configmaps/a`, { data: { a: "b" }, binaryData: { c: "" } }),
    change(`${core}/configmaps/a`, { data: null }),
    change(`${core}/configmaps/a`, { immutable: false, data: { c: "d" } }),
    change(`${core}/configmaps/a`, { metadata: { labels: { a: "b" } } }),
  ]
}
