import { describe, expect, test } from "vitest"
import type { Node, Pod, PodStatus } from "../../../apimachinery/object.ts"
import { fakeTenant } from "../../testing/fake-tenants.ts"
import { failedStatus, statusPatch, superConditions, tenantStatus, lossReason } from "./status.ts"

const tenant = fakeTenant("acme")
type Conditions = NonNullable<PodStatus["conditions"]>

const condition = (type: string, status: string): Conditions[number] => ({ type, status })
const podOf = (gates: string[], conditions: Conditions, more: Partial<Pod> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "web", uid: "u1", generation: 5 },
  spec: { containers: [], readinessGates: gates.map((conditionType) => ({ conditionType })) },
  status: { conditions },
  ...more,
})

// Pairwise comparisons would take minutes.
test("the maximum number of tenant conditions is merged", () => {
  const types = Array.from({ length: 20_000 }, (_, at) => `example.com/${at}`)
  const own = types.map((type) => condition(type, "True"))
  const pod = podOf(types, own)
  const superPod = podOf([...types].reverse(), [...own].reverse())
  expect(tenantStatus(pod, superPod, tenant).conditions).toHaveLength(types.length)
  expect(superConditions(pod, superPod)).toBeUndefined()
  expect(superConditions(pod, podOf(types, []))).toEqual(own)
})

describe("tenantStatus()", () => {
  const ready = condition("Ready", "True")
  test.each<[string, string[], Conditions, string[], Conditions, Conditions]>([
    ["equal", [], [ready], [], [ready], [ready]],
    ["uses super's if they differ", [], [condition("Ready", "False")], [], [ready], [ready]],
    [
      "keeps a gate's condition that super lacks",
      ["g"],
      [condition("g", "True")],
      ["g"],
      [ready],
      [ready, condition("g", "True")],
    ],
    [
      "prefers the tenant's value of a gate",
      ["g"],
      [condition("g", "True")],
      ["g"],
      [condition("g", "False")],
      [condition("g", "True")],
    ],
    [
      "keeps super's other conditions in super's order",
      [],
      [],
      [],
      [condition("b", "1"), condition("a", "1")],
      [condition("b", "1"), condition("a", "1")],
    ],
    [
      "keeps the tenant's own condition",
      [],
      [condition("DisruptionTarget", "True")],
      [],
      [ready],
      [ready, condition("DisruptionTarget", "True")],
    ],
    ["removes a condition that the kubelet removed", [], [condition("PodResizePending", "True")], [], [ready], [ready]],
    [
      "uses the kubelet's condition, even if a gate has its name",
      ["Ready"],
      [condition("Ready", "True")],
      ["Ready"],
      [condition("Ready", "False")],
      [condition("Ready", "False")],
    ],
    ["drops a gate that only super has", [], [], ["s"], [ready, condition("s", "True")], [ready]],
  ])("%s", (_name, gates, own, superGates, superConditionsThere, expected) => {
    expect(tenantStatus(podOf(gates, own), podOf(superGates, superConditionsThere), tenant).conditions).toEqual(
      expected,
    )
  })

  test("takes no node that super's scheduler announces for a reservation, and keeps the tenant's own", () => {
    const superPod = podOf([], [], { status: { phase: "Pending", nominatedNodeName: "b" } })
    expect(tenantStatus(podOf([], []), superPod, tenant)).not.toHaveProperty("nominatedNodeName")
    const waiting = podOf([], [], { status: { nominatedNodeName: "a" } })
    expect(tenantStatus(waiting, superPod, tenant).nominatedNodeName).toBe("a")
  })

  const exit = (exitCode: number, more: object = {}): PodStatus =>
    ({ containerStatuses: [{ name: "c", state: { terminated: { exitCode } } }], ...more }) as unknown as PodStatus
  test.each<[string, object, PodStatus, string]>([
    ["is to run always", {}, exit(0, { phase: "Succeeded" }), "Running"],
    ["is restarted after failures", { restartPolicy: "OnFailure" }, exit(1, { phase: "Failed" }), "Running"],
    ["is done", { restartPolicy: "OnFailure" }, exit(0, { phase: "Succeeded" }), "Succeeded"],
    ["runs once", { restartPolicy: "Never" }, exit(1, { phase: "Failed" }), "Failed"],
    [
      "has a container of its own policy",
      { restartPolicy: "Never", ofContainer: "Always" },
      exit(0, { phase: "Failed" }),
      "Running",
    ],
    ["has ended for a reason", {}, exit(1, { phase: "Failed", reason: "DeadlineExceeded" }), "Failed"],
    ["was evicted", {}, exit(1, { phase: "Failed", conditions: [condition("DisruptionTarget", "True")] }), "Failed"],
    ["is still running", {}, exit(1, { phase: "Running" }), "Running"],
  ])("the phase of a pod that %s while its copy is being deleted", (_name, policies, status, expected) => {
    const { ofContainer, ...policy } = policies as { ofContainer?: string }
    const containers = [{ name: "c", ...(ofContainer === undefined ? {} : { restartPolicy: ofContainer }) }]
    const spec = { containers, ...policy }
    const deleting = podOf([], [], { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, spec, status })
    const pod = podOf([], [], { status: { phase: "Running" } })
    expect(tenantStatus(pod, deleting, tenant).phase).toBe(expected)
    const both = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }
    expect(tenantStatus(both, deleting, tenant).phase).toBe(status.phase)
  })

  test("keeps unknown fields and translates generations", () => {
    const status = { phase: "Running", observedGeneration: 2, unknownField: { x: 1 } } as unknown as PodStatus
    const upToDate = podOf([], [], { metadata: { generation: 2 }, status })
    expect(tenantStatus(podOf([], []), upToDate, tenant)).toMatchObject({
      unknownField: { x: 1 },
      observedGeneration: 5,
    })
    const behind = podOf([], [], { metadata: { generation: 3 }, status })
    expect(tenantStatus(podOf([], []), behind, tenant)).toMatchObject({ observedGeneration: 4 })
  })
})

describe("statusPatch()", () => {
  const ready = condition("Ready", "True")
  const a = condition("a", "True")
  test.each<[string, PodStatus, PodStatus, object | undefined]>([
    ["equal", { conditions: [ready, a] }, { conditions: [ready, a] }, undefined],
    ["another order", { conditions: [ready, a] }, { conditions: [a, ready] }, undefined],
    ["a list beside", { podIPs: [{ ip: "1" }] }, { podIPs: [{ ip: "2" }] }, { podIPs: [{ ip: "2" }] }],
    [
      "a field removed from a condition",
      { conditions: [{ ...ready, reason: "R" }, a] },
      { conditions: [ready, a] },
      { conditions: [{ type: "Ready", reason: null }] },
    ],
    [
      "one removed, one added",
      { conditions: [ready] },
      { conditions: [a] },
      { conditions: [a, { $patch: "delete", type: "Ready" }] },
    ],
    [
      "both, without accumulating lists",
      { conditions: [ready], hostIPs: [{ ip: "1" }] },
      { conditions: [ready, a], hostIPs: [{ ip: "2" }] },
      { conditions: [a], hostIPs: [{ $patch: "replace" }, { ip: "2" }] },
    ],
  ])("%s", (_name, current, wanted, expected) => {
    const patch = statusPatch(current, wanted)
    expect(patch?.patch["status"]).toEqual(expected)
    if (patch !== undefined) expect(patch.strategic === true).toBe("conditions" in (expected ?? {}))
  })
})

describe("superConditions()", () => {
  const g = (status: string): Conditions[number] => condition("g", status)
  test.each<[string, Conditions, Conditions, Conditions | undefined]>([
    ["equal", [g("True")], [g("True")], undefined],
    ["only others differ", [condition("Ready", "True")], [condition("Ready", "False")], undefined],
    ["different", [g("True")], [condition("Ready", "True"), g("False")], [g("True")]],
    ["missing", [g("True")], [condition("Ready", "True")], [g("True")]],
  ])("%s", (_name, own, there, expected) => {
    expect(superConditions(podOf(["g"], own), podOf(["g"], there))).toEqual(expected)
  })
})

test("a gate does not overwrite a condition that the kubelet writes again", () => {
  const [own, there] = [[condition("Ready", "True")], [condition("Ready", "False")]]
  expect(superConditions(podOf(["Ready"], own), podOf(["Ready"], there))).toBeUndefined()
})

describe("lossReason()", () => {
  const node = (spec: object = {}): Node => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec })
  const running = (spec: object = {}): Pod =>
    podOf([], [], { spec: { containers: [], nodeName: "n", ...spec }, status: { containerStatuses: [] } as PodStatus })
  const begun = { status: { containerStatuses: [{}] } } as unknown as Partial<Pod>
  const taint = { key: "k", effect: "NoExecute" }
  test.each<[string, Pod, Node | undefined, string | undefined]>([
    ["deleted by hand", running(), node(), undefined],
    [
      "evicted",
      podOf([], [{ ...condition("DisruptionTarget", "True"), reason: "PreemptionByScheduler" }]),
      node(),
      "PreemptionByScheduler",
    ],
    ["the node is gone", running(), undefined, "NodeLost"],
    ["the node is cordoned", running(), node({ unschedulable: true }), "Evicted"],
    ["a taint it does not tolerate", running(), node({ taints: [taint] }), "Evicted"],
    ["a taint it tolerates", running({ tolerations: [{ operator: "Exists" }] }), node({ taints: [taint] }), undefined],
    ["started, and must not run twice", { ...running({ restartPolicy: "Never" }), ...begun } as Pod, node(), "PodLost"],
    [
      "started, and restarted by its policy",
      { ...running({ restartPolicy: "Always" }), ...begun } as Pod,
      node(),
      undefined,
    ],
  ])("%s", (_name, pod, there, reason) => {
    expect(lossReason(pod, there)?.reason).toBe(reason)
  })

  test("failedStatus() makes the pod Failed and not ready", () => {
    const at = new Date("2026-01-01T00:00:00Z")
    const status = failedStatus(
      podOf([], [condition("Ready", "True"), condition("PodScheduled", "True")]),
      { reason: "R", message: "m" },
      at,
    )
    expect(status).toMatchObject({ phase: "Failed", reason: "R", message: "m" })
    expect(status.conditions?.map(({ type, status: value }) => `${type}=${value}`)).toEqual([
      "Ready=False",
      "PodScheduled=True",
    ])
  })
})
