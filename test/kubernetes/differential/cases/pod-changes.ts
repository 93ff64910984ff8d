// Changes of pods that few clients make: their status, what a gate still permits, and those of mirrored pods.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

type Body = Record<string, Json>

const pods = "/api/v1/namespaces/@{ns}/pods"

export function podChangeCases(): Scenario[] {
  return [
    { name: "conditions of a pod keep the generation they are about", steps: observedGenerations() },
    { name: "a pod that is gated changes where it may run", anyOrder: true, steps: gated() },
    { name: "a mirror pod is changed through its subresources", steps: mirrored() },
    { name: "a container of a pod is chosen", steps: chosen() },
    { name: "a pod changes tolerations and deadlines", anyOrder: true, steps: tolerations() },
    { name: "a pod is bound", steps: bound() },
    { name: "a pod on a node is deleted in steps", steps: deletedInSteps() },
  ]
}

const main: Body = { name: "main", image: "busybox" }
const make = (name: string, spec: Body = {}, metadata: Body = {}): RequestStep =>
  post(pods, { metadata: { name, ...metadata }, spec: { containers: [main], ...spec } }, { label: `POST ${name}` })
const change = (name: string, spec: Body): RequestStep =>
  patch(`${pods}/${name}`, mergePatch, { spec }, { label: `${name} ${JSON.stringify(spec)}` })

function observedGenerations(): RequestStep[] {
  const status = (value: Body): RequestStep =>
    patch(`${pods}/a/status`, mergePatch, { status: value }, { label: JSON.stringify(value) })
  const a = { type: "a", status: "True" }
  return [
    make("a"),
    status({ conditions: [{ ...a, observedGeneration: 3 }] }),
    status({ conditions: [a] }),
    status({ conditions: [{ ...a, observedGeneration: 0 }, a] }),
    status({
      conditions: [
        { ...a, observedGeneration: 4 },
        { ...a, observedGeneration: 5 },
        { ...a, type: "b" },
      ],
    }),
    status({ conditions: [{ ...a, type: "b" }, a, a, a] }),
    status({ conditions: [a, { ...a, observedGeneration: -1 }] }),
    status({ conditions: null }),
    status({ conditions: [a] }),
    status({ observedGeneration: 4 }),
    status({ observedGeneration: 0 }),
    status({ observedGeneration: null }),
    status({ qosClass: "" }),
    status({ qosClass: null }),
    status({ qosClass: "Burstable" }),
    status({ phase: "" }),
    status({ phase: null }),
    put(`${pods}/a/status`, { metadata: { name: "a" }, status: {} }),
    put(`${pods}/a/status`, { metadata: { name: "a", ownerReferences: [] }, spec: { nodeName: "b" } }),
    get(`${pods}/a`),
  ]
}

function gated(): RequestStep[] {
  const required = (nodeSelectorTerms: Json): Body => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  })
  const expression = (key: string): Body => ({ key, operator: "Exists" })
  const schedulingGates = [{ name: "a" }, { name: "b" }]
  return [
    make("a", { schedulingGates, nodeSelector: { a: "b" } }),
    change("a", { nodeSelector: { a: "c" } }),
    change("a", { nodeSelector: null }),
    change("a", { nodeSelector: { c: "d" } }),
    change("a", required([{}, { matchExpressions: [expression("a")] }])),
    change("a", required([{ matchExpressions: [expression("a")] }, { matchExpressions: [expression("a")] }])),
    change("a", required([{}, { matchExpressions: [expression("a"), expression("b")] }])),
    change("a", required([{}, { matchExpressions: [expression("b")] }])),
    change("a", required([{}, { matchFields: [{ key: "metadata.name", operator: "In", values: ["a"] }] }])),
    change("a", required([{}])),
    change("a", required([])),
    change("a", { affinity: null }),
    change("a", { affinity: { podAffinity: {} } }),
    change("a", { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } }),
    change("a", { schedulingGates: [{ name: "c" }] }),
    change("a", { schedulingGates: [{ name: "b" }, { name: "a" }] }),
    change("a", { schedulingGates: [{ name: "b" }] }),
    change("a", { schedulingGates: [{ name: "b" }], nodeName: "n" }),
    change("a", { schedulingGates: [] }),
    change("a", { nodeSelector: { e: "f" } }),
    make("b", { schedulingGates, affinity: {} }),
    change("b", required([{ matchExpressions: [expression("a")] }])),
    change("b", { affinity: null }),
    make("c", { schedulingGates }),
    change("c", { affinity: {} }),
    change("c", { affinity: { podAffinity: {} } }),
    change("c", { affinity: { nodeAffinity: {} } }),
    change("c", { ...required([{ matchExpressions: [expression("a")] }]), schedulingGates: null }),
    change("c", { affinity: { nodeAffinity: {} } }),
  ]
}

function mirrored(): RequestStep[] {
  const annotations = { "kubernetes.io/config.mirror": "a" }
  return [
    make("none", {}, { annotations }),
    make("a", { nodeName: "n" }, { annotations }),
    patch(`${pods}/a/ephemeralcontainers`, strategicPatch, { spec: { ephemeralContainers: [{ name: "A b" }] } }),
    patch(`${pods}/a/ephemeralcontainers`, mergePatch, {
      metadata: { annotations: { b: "c" } },
      spec: { ephemeralContainers: [{ name: "b", image: "i", terminationMessagePolicy: "File" }] },
    }),
    patch(`${pods}/a/resize`, strategicPatch, {
      spec: { containers: [{ name: "main", resources: { requests: { cpu: "-1" } } }] },
    }),
    patch(`${pods}/a/resize`, strategicPatch, {
      spec: { containers: [{ name: "main", resources: { requests: { cpu: "1" } } }] },
    }),
    patch(`${pods}/a`, mergePatch, { metadata: { annotations: null } }),
    make("b", { resources: {} }),
    patch(`${pods}/b/resize`, mergePatch, { spec: { resources: null } }),
    make("c"),
    patch(`${pods}/c/resize`, mergePatch, { spec: { resources: {} } }),
    patch(`${pods}/c/resize`, mergePatch, {
      spec: { containers: [{ ...main, resources: { claims: [{ name: "a" }] } }] },
    }),
    patch(`${pods}/c/resize`, mergePatch, { metadata: { labels: { a: "b" }, generateName: "x", finalizers: ["a/b"] } }),
    get(`${pods}/c`),
  ]
}

function chosen(): RequestStep[] {
  const containers = [main, { ...main, name: "other" }]
  const initContainers = [{ ...main, name: "first" }]
  const annotations = { "kubectl.kubernetes.io/default-container": "other" }
  const nodeName = "no-node"
  const names = ["one", "first", "annotated", "many"]
  return [
    make("one", { nodeName }),
    make("first", { nodeName, initContainers }),
    make("annotated", { nodeName, containers, initContainers }, { annotations }),
    make("many", { nodeName, containers, initContainers }),
    patch(`${pods}/many/ephemeralcontainers`, strategicPatch, {
      spec: { ephemeralContainers: [{ name: "debug", image: "i", terminationMessagePolicy: "File" }] },
    }),
    make("without-node", { containers }),
    ...[...names, "without-node"].flatMap((name) => [
      get(`${pods}/${name}/log`),
      get(`${pods}/${name}/log?container=debug`),
      post(`${pods}/${name}/exec?command=a&stdout=1`, null),
      post(`${pods}/${name}/attach?container=first&stdout=1`, null),
      post(`${pods}/${name}/portforward?ports=1`, null),
    ]),
  ]
}

function tolerations(): RequestStep[] {
  const of = (tolerationSeconds?: number, more: Body = {}): Body => ({
    key: "a",
    operator: "Exists",
    effect: "NoExecute",
    ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    ...more,
  })
  return [
    make("a", { tolerations: [of(5)], activeDeadlineSeconds: 10, terminationGracePeriodSeconds: -5 }),
    change("a", { tolerations: [of(6)] }),
    change("a", { tolerations: [of()] }),
    change("a", { tolerations: [of(7), of(8)] }),
    change("a", { tolerations: [] }),
    change("a", { tolerations: [of(7, { operator: "Gt", value: "5" })] }),
    change("a", { tolerations: [of(7), of(undefined, { effect: "Bogus" })] }),
    change("a", { tolerations: [of(7, { effect: "" })] }),
    change("a", { activeDeadlineSeconds: 11 }),
    change("a", { activeDeadlineSeconds: 11, tolerations: [] }),
    change("a", { activeDeadlineSeconds: null, tolerations: [] }),
    change("a", { activeDeadlineSeconds: 0 }),
    change("a", { activeDeadlineSeconds: 1 }),
    change("a", { terminationGracePeriodSeconds: 2 }),
    change("a", { terminationGracePeriodSeconds: 1 }),
    change("a", { terminationGracePeriodSeconds: -5 }),
    make("b"),
    change("b", { activeDeadlineSeconds: 0 }),
    change("b", { activeDeadlineSeconds: 5 }),
    change("b", { containers: [{ ...main, image: "" }] }),
    change("b", { containers: [{ ...main, image: " a" }] }),
    change("b", { containers: [main, main] }),
    change("b", { initContainers: [main], tolerations: [] }),
    change("b", { ephemeralContainers: [{ name: "a", image: "b" }] }),
    change("b", { nodeName: "a" }),
    change("b", { resources: { requests: { cpu: "1" } } }),
  ]
}

function bound(): RequestStep[] {
  const bind = (name: string, more: Body): RequestStep =>
    post(
      `${pods}/${name}/binding`,
      { metadata: { name }, target: { name: "n" }, ...more },
      { label: JSON.stringify(more) },
    )
  return [
    make("a"),
    bind("a", { target: null }),
    bind("a", { target: { kind: "Pod" } }),
    bind("a", { target: { kind: "Pod", name: "n" } }),
    bind("a", { metadata: { name: "a", uid: "other" } }),
    bind("a", { metadata: { name: "a", resourceVersion: "1" } }),
    bind("a", { metadata: { name: "a", resourceVersion: "x" } }),
    bind("a", { metadata: { name: "a", annotations: { "A b": "c" }, labels: { "C d": "e f" } } }),
    get(`${pods}/a`),
    bind("a", {}),
    patch(`${pods}/a/status`, mergePatch, { status: { nominatedNodeName: "m" } }),
    make("b", { schedulingGates: [{ name: "a" }] }),
    bind("b", {}),
    make("c", {}, { finalizers: ["a/b"] }),
    patch(`${pods}/c/status`, mergePatch, { status: { nominatedNodeName: "m", phase: "Running" } }),
    patch(`${pods}/c/status`, mergePatch, { status: { nominatedNodeName: "M m" } }),
    bind("c", { target: { name: "A b", namespace: "x", uid: "y" } }),
    get(`${pods}/c`),
    { method: "DELETE", path: `${pods}/c?gracePeriodSeconds=0` },
    bind("c", {}),
    post("/api/v1/namespaces/@{ns}/bindings", { metadata: { name: "c", resourceVersion: "1" }, target: { name: "n" } }),
    post("/api/v1/namespaces/@{ns}/bindings", { metadata: { name: "missing" }, target: { name: "n" } }),
    post("/api/v1/namespaces/@{ns}/bindings?dryRun=All", { metadata: { name: "c" }, target: { name: "n" } }),
  ]
}

function deletedInSteps(): RequestStep[] {
  const at = (name: string): string => `${pods}/${name}`
  const remove = (name: string, query: string, body?: Body): RequestStep => ({
    method: "DELETE",
    path: `${at(name)}${query}`,
    ...(body === undefined ? {} : { body }),
  })
  const nodeName = "no-node"
  const held = { finalizers: ["a/b"] }
  return [
    make("a", { nodeName, terminationGracePeriodSeconds: 0 }, held),
    remove("a", "?dryRun=All"),
    remove("a", ""),
    remove("a", "?gracePeriodSeconds=30"),
    patch(at("a"), mergePatch, { metadata: { labels: { a: "b" } } }),
    patch(`${at("a")}/status`, mergePatch, { status: { phase: "Failed" } }),
    patch(at("a"), mergePatch, { metadata: { finalizers: ["c/d", "a/b"] } }),
    patch(at("a"), mergePatch, { metadata: { finalizers: ["c/d"] } }),
    patch(at("a"), mergePatch, { spec: { activeDeadlineSeconds: 5 } }),
    patch(`${at("a")}/status`, mergePatch, { metadata: { finalizers: null } }),
    get(at("a")),
    make("b", { nodeName, terminationGracePeriodSeconds: 3600 }),
    remove("b", ""),
    remove("b", "?gracePeriodSeconds=4000"),
    remove("b", "?gracePeriodSeconds=1800&dryRun=All"),
    remove("b", "?gracePeriodSeconds=1800"),
    remove("b", "?gracePeriodSeconds=-5&dryRun=All"),
    patch(at("b"), mergePatch, { metadata: { deletionGracePeriodSeconds: 5 } }),
    patch(at("b"), mergePatch, { metadata: { deletionTimestamp: null } }),
    patch(at("b"), mergePatch, { metadata: { finalizers: ["a/b"] } }),
    patch(`${at("b")}/status`, mergePatch, { status: { phase: "Succeeded" } }),
    patch(`${at("b")}/ephemeralcontainers`, strategicPatch, {
      spec: { ephemeralContainers: [{ name: "debug", image: "i", terminationMessagePolicy: "File" }] },
    }),
    post(`${at("b")}/eviction`, { metadata: { name: "b" } }),
    post(`${at("b")}/eviction`, { metadata: { name: "b" }, deleteOptions: { gracePeriodSeconds: 10 } }),
    remove("b", "?propagationPolicy=Foreground"),
    remove("b", "", { preconditions: { uid: "other" } }),
    remove("b", "", { preconditions: { uid: "" } }),
    remove("b", "", { preconditions: { resourceVersion: "" } }),
    remove("b", "?gracePeriodSeconds=0"),
    get(at("b")),
    make("c", { nodeName }),
    patch(`${at("c")}/status`, mergePatch, { status: { phase: "Succeeded" } }),
    remove("c", "?gracePeriodSeconds=30"),
    get(at("c")),
    make("d", { nodeName }, held),
    make("e", {}, held),
    { method: "DELETE", path: `${pods}?gracePeriodSeconds=1000` },
    { method: "DELETE", path: `${pods}?gracePeriodSeconds=0` },
    get(pods),
  ]
}
