import { describe, expect, test } from "vitest"
import type { Node, Pod } from "../../apimachinery/object.ts"
import { toleranceOf } from "../../apimachinery/core/node-selection.ts"
import { candidate, reasons } from "./filters.ts"
import { NodeState, podRequests } from "./node-state.ts"
import { createScore } from "./scores.ts"
import { topologyChecks } from "./topology.ts"

type Spec = Record<string, unknown>
let serial = 0

function node(name: string, labels: Record<string, string> = {}, spec: Spec = {}): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...labels } },
    spec,
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "10" } },
  } as unknown as Node
}

function pod(spec: Spec = {}, labels: Record<string, string> = {}, owner?: string): Pod {
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: owner }]
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `p${++serial}`, namespace: "default", uid: `u${serial}`, labels, ownerReferences },
    spec: { containers: [], ...spec },
  } as unknown as Pod
}

const asking = (cpu: string, memory = "0"): Spec => ({
  containers: [{ name: "c", resources: { requests: { cpu, memory } } }],
})

function stateOf(of: Node, ...pods: Pod[]): NodeState {
  const state = new NodeState(of)
  for (const one of pods) state.add(one)
  return state
}

describe("podRequests()", () => {
  const init = (cpu: string, restartPolicy?: string): Spec => ({
    name: "i",
    restartPolicy,
    resources: { requests: { cpu } },
  })
  test.each<[string, Spec, number]>([
    ["the sum of containers", { containers: [init("100m"), init("200m")] }, 300],
    ["a larger init container", { containers: [init("100m")], initContainers: [init("1"), init("2")] }, 2000],
    ["sidecars beside containers", { containers: [init("1")], initContainers: [init("1", "Always")] }, 2000],
    [
      "sidecars under later init containers",
      { containers: [init("1")], initContainers: [init("1", "Always"), init("3")] },
      4000,
    ],
    ["overhead", { containers: [init("1")], overhead: { cpu: "50m" } }, 1050],
  ])("is %s", (_, spec, milli) => {
    expect(podRequests(pod(spec).spec).get("cpu")).toBe(milli)
  })
})

describe("reasons()", () => {
  const taint = { key: "k", value: "v", effect: "NoSchedule" }
  const affinity = (operator: string, values?: string[]): Spec => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator, values }] }],
        },
      },
    },
  })
  test.each<[string, Spec, Node, Pod[], string[]]>([
    ["fits", asking("4"), node("a"), [], []],
    ["cpu", asking("3"), node("a"), [pod(asking("2"))], ["Insufficient cpu"]],
    ["cpu and memory", asking("5", "9Gi"), node("a"), [], ["Insufficient cpu", "Insufficient memory"]],
    [
      "unknown resources",
      { containers: [{ name: "c", resources: { requests: { "x.io/gpu": "1" } } }] },
      node("a"),
      [],
      ["Insufficient x.io/gpu"],
    ],
    ["pods", {}, node("a"), Array.from({ length: 10 }, () => pod()), ["Too many pods"]],
    ["cordoned", {}, node("a", {}, { unschedulable: true }), [], ["node(s) were unschedulable"]],
    ["tainted", {}, node("a", {}, { taints: [taint] }), [], ["node(s) had untolerated taint(s)"]],
    ["tolerated", { tolerations: [{ key: "k", operator: "Exists" }] }, node("a", {}, { taints: [taint] }), [], []],
    ["soft taint", {}, node("a", {}, { taints: [{ ...taint, effect: "PreferNoSchedule" }] }), [], []],
    ["selector", { nodeSelector: { zone: "x" } }, node("a"), [], ["node(s) didn't match Pod's node affinity/selector"]],
    ["affinity", affinity("In", ["x"]), node("a", { zone: "x" }), [], []],
    [
      "other affinity",
      affinity("NotIn", ["x"]),
      node("a", { zone: "x" }),
      [],
      ["node(s) didn't match Pod's node affinity/selector"],
    ],
    ["numbers", affinity("Gt", ["5"]), node("a", { zone: "10" }), [], []],
    [
      "text where a number should be",
      affinity("Gt", ["5"]),
      node("a", { zone: "z" }),
      [],
      ["node(s) didn't match Pod's node affinity/selector"],
    ],
    [
      "host ports",
      { containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] },
      node("a"),
      [pod({ containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80, protocol: "TCP" }] }] })],
      ["node(s) didn't have free ports for the requested pod ports"],
    ],
  ])("%s", (_, spec, on, there, expected) => {
    expect(reasons(candidate(pod(spec)), stateOf(on, ...there))).toEqual(expected)
  })

  test("releases a removed pod's resources", () => {
    const there = pod(asking("3"))
    const state = stateOf(node("a"), there)
    state.add({ ...there, status: { phase: "Running" } } as Pod)
    state.remove(there.metadata.uid ?? "")
    expect(reasons(candidate(pod(asking("4"))), state)).toEqual([])
    expect(state.requested.get("cpu")).toBe(0)
  })
})

test.each([
  [[{ operator: "Exists" }], true],
  [[{ key: "k", operator: "Equal", value: "v" }], true],
  [[{ key: "k", value: "w" }], false],
  [[{ key: "k", operator: "Exists", effect: "NoExecute" }], false],
  [[], false],
])("tolerations %j: %s", (tolerations, expected) => {
  const toleration = toleranceOf(pod({ tolerations }).spec?.tolerations)({ key: "k", value: "v", effect: "NoSchedule" })
  expect(toleration !== undefined).toBe(expected)
})

describe("topologyChecks()", () => {
  const web = { app: "web" }
  const term = (topologyKey: string, labels: Record<string, string> = web): Spec => ({
    topologyKey,
    labelSelector: { matchLabels: labels },
  })
  const anti = (key: string): Spec => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(key)] } },
  })
  const near = (labels: Record<string, string>): Spec => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term("zone", labels)] } },
  })
  const spread = (maxSkew: number): Spec => ({
    topologySpreadConstraints: [
      { maxSkew, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: web } },
    ],
  })
  /** Which of three nodes (a and b in zone 1, c in zone 2) accept the pod, given existing pods on a. */
  function feasibleNodes(one: Pod, ...onA: Pod[]): string {
    const states = [
      stateOf(node("a", { zone: "1" }), ...onA),
      stateOf(node("b", { zone: "1" })),
      stateOf(node("c", { zone: "2" })),
    ]
    const checks = topologyChecks(one, states, () => ({}))
    return states
      .filter((state) => reasons(candidate(one, checks), state).length === 0)
      .map(({ name }) => name)
      .join("")
  }

  test.each<[string, Pod, Pod[], string]>([
    ["requests nothing", pod({}, web), [pod({}, web)], "abc"],
    ["has anti-affinity to pods on the node", pod(anti("kubernetes.io/hostname"), web), [pod({}, web)], "bc"],
    ["has anti-affinity to pods in the zone", pod(anti("zone"), web), [pod({}, web)], "c"],
    ["is excluded by the anti-affinity of existing pods", pod({}, web), [pod(anti("zone"), web)], "c"],
    ["has affinity to an existing pod", pod(near({ app: "db" })), [pod({}, { app: "db" })], "ab"],
    ["has affinity to a missing pod", pod(near({ app: "db" })), [], ""],
    ["has affinity to itself", pod(near(web), web), [], "abc"],
    ["spreads over zones", pod(spread(1), web), [pod({}, web)], "c"],
    ["spreads within maxSkew", pod(spread(2), web), [pod({}, web)], "abc"],
  ])("a pod that %s", (_, one, there, expected) => {
    expect(feasibleNodes(one, ...there)).toBe(expected)
  })
})

test("prefers nodes with fewer pods of the same controller, then with more free resources", () => {
  const siblings = stateOf(node("siblings"), pod({}, {}, "web"))
  const full = stateOf(node("full"), pod(asking("3")))
  const free = stateOf(node("free"))
  const states = [siblings, full, free]
  const score = createScore(candidate(pod(asking("1"), {}, "web")), states)
  expect([...states].sort((a, b) => score(b) - score(a)).map(({ name }) => name)).toEqual(["free", "full", "siblings"])
})
