import { describe, expect, test } from "vitest"
import type { Node, Pod, PodSpec } from "../../../apimachinery/object.ts"
import type { Resource } from "../../../client/rest.ts"
import { settingsOf } from "../../options.ts"
import { fakeTenant } from "../../testing/fake-tenants.ts"
import { node as nodeKind } from "../node.ts"
import type { SyncContext } from "../resource-sync.ts"
import { isMisplaced, placementOf, printPlacement, unplaceable } from "./placement.ts"

const tenant = fakeTenant("acme")

interface Own {
  labels?: Record<string, string>
  taints?: NonNullable<Node["spec"]>["taints"]
  unschedulable?: boolean
  resources?: Record<string, string>
}

/** A virtual node as the syncer publishes it, with the tenant's changes. */
function virtual(name: string, own: Own = {}): Node {
  const real = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: `uid-of-${name}`, labels: { zone: name } },
    spec: {},
    status: { capacity: { cpu: "4", "nvidia.com/gpu": "1" } },
  } as unknown as Node
  const shown = nodeKind.toTenant(real, contextWith([]))!
  return {
    ...shown,
    metadata: { ...shown.metadata, labels: { ...shown.metadata.labels, ...own.labels } },
    spec: { ...shown.spec, ...(own.taints === undefined ? {} : { taints: own.taints }), ...unschedulable(own) },
    status: { ...shown.status, capacity: { ...shown.status?.capacity, ...own.resources } },
  } as Node
}

const unschedulable = (own: Own): object => (own.unschedulable === true ? { unschedulable: true } : {})

function contextWith(nodes: Node[], nominated: Pod[] = []): SyncContext {
  return {
    tenant,
    settings: settingsOf({}),
    now: 0,
    view: {
      tenantObject: () => undefined,
      tenantObjects: (resource: Resource) => (resource.resource === "nodes" ? nodes : []) as never[],
      superObject: () => undefined,
      nominatedPods: () => nominated,
    },
  }
}

const podOf = (spec: Partial<PodSpec> = {}, status: object = {}): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "default", name: "web", uid: "u1" },
    spec: { containers: [{ name: "c" }], ...spec },
    status,
  }) as unknown as Pod

const selecting = (key: string, operator: "In" | "NotIn" | "Exists", ...values: string[]): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }] }],
      },
    },
  },
})

const numbers = Array.from({ length: 9_000 }, (_, index) => index)

const on = (name: string): object => ({ matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] })
const notOn = (name: string): object => ({ key: "metadata.name", operator: "NotIn", values: [name] })
const nowhere = { matchExpressions: [{ key: "tenancy.x-k8s.io/virtualnode", operator: "Exists" }] }
const dedicated = { key: "team", value: "a", effect: "NoSchedule" } as const

describe("placementOf()", () => {
  test.each<[string, Node[], Partial<PodSpec>]>([
    ["nodes as super has them", [virtual("a"), virtual("b")], { nodeSelector: { zone: "a" } }],
    ["a label that the pod does not ask for", [virtual("a", { labels: { color: "blue" } })], {}],
    ["a taint it tolerates", [virtual("a", { taints: [dedicated] })], { tolerations: [{ operator: "Exists" }] }],
    [
      "a resource of super",
      [virtual("a")],
      { containers: [{ name: "c", resources: { limits: { "nvidia.com/gpu": "1" } } }] },
    ],
  ])("is left to super for %s", (_what, nodes, spec) => {
    expect(placementOf(podOf(spec), contextWith(nodes))).toBeUndefined()
  })

  const blue = virtual("a", { labels: { color: "blue" } })
  test.each<[string, Node[], Partial<PodSpec>, object[]]>([
    [
      "a selector of the tenant's label",
      [blue, virtual("b")],
      { nodeSelector: { color: "blue", zone: "a" } },
      [on("a")],
    ],
    ["one that no node has", [blue], { nodeSelector: { color: "green" } }, [nowhere]],
    ["one that is for nodes without it", [blue, virtual("b")], selecting("color", "NotIn", "blue"), [on("b")]],
    [
      "the label of virtual nodes",
      [virtual("a")],
      { nodeSelector: { "tenancy.x-k8s.io/virtualnode": "true" } },
      [on("a")],
    ],
    ["a taint", [virtual("a", { taints: [dedicated] }), virtual("b")], {}, [{ matchFields: [notOn("a")] }]],
    [
      "a cordon beside its own terms",
      [virtual("a", { unschedulable: true }), virtual("b")],
      selecting("zone", "Exists"),
      [{ matchExpressions: [{ key: "zone", operator: "Exists" }], matchFields: [notOn("a")] }],
    ],
    [
      "a taint on the node its label leads to",
      [virtual("a", { labels: { color: "blue" }, taints: [dedicated] })],
      { nodeSelector: { color: "blue" } },
      [nowhere],
    ],
  ])("follows %s", (_what, nodes, spec, terms) => {
    const { nodeAffinity } = placementOf(podOf(spec), contextWith(nodes))!
    expect(nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual(terms)
  })

  test("prefers nodes by the tenant's labels", () => {
    const preference = { matchExpressions: [{ key: "color", operator: "In", values: ["blue"] }] }
    const preferred = [{ weight: 7, preference }]
    const spec = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } }
    expect(placementOf(podOf(spec as Partial<PodSpec>), contextWith([blue, virtual("b")]))?.nodeAffinity).toEqual({
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 7, preference: on("a") }],
    })
  })

  test("requests the tenant's resources by their names in super", () => {
    const containers = [{ name: "c", resources: { limits: { "example.com/dongle": "1" } } }] as PodSpec["containers"]
    const nodes = [virtual("a", { resources: { "example.com/dongle": "2" } })]
    expect(placementOf(podOf({ containers }), contextWith(nodes))?.resources).toEqual(["example.com/dongle"])
  })

  test("excludes only pods of lower priority from a nominated node", () => {
    const first = podOf({ priority: 10 }, { nominatedNodeName: "a" })
    first.metadata = { ...first.metadata, uid: "u2" }
    const context = contextWith([virtual("a")], [first])
    expect(placementOf(podOf({ priority: 10 }), context)).toBeUndefined()
    expect(placementOf(podOf({ priority: 9 }), context)?.nodeAffinity).toMatchObject({
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [notOn("a")] }] },
    })
  })

  test("compares no more than a pod needs", () => {
    const taints = numbers.map((n) => ({ key: `k${n}`, effect: "NoSchedule" as const }))
    const tolerations = numbers.map((n) => ({ key: `t${n}`, operator: "Exists" }))
    const tainted = [virtual("a", { taints }), virtual("b", { taints })]
    expect(placementOf(podOf({ tolerations }), contextWith(tainted))).toEqual(
      placementOf(podOf(), contextWith(tainted)),
    )
    expect(placementOf(podOf(), contextWith([...tainted, virtual("c", { taints })]))).toBe(unplaceable)
    const terms = numbers.map((n) => ({ matchExpressions: [{ key: `k${n}`, operator: "Exists" }] }))
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    } as NonNullable<PodSpec["affinity"]>
    expect(placementOf(podOf({ affinity }), contextWith([virtual("a"), virtual("b")]))).toBeUndefined()
    const cordoned = contextWith(Array.from({ length: 10 }, (_, at) => virtual(`n${at}`, { unschedulable: true })))
    expect(placementOf(podOf({ affinity }), cordoned)).toBe(unplaceable)
  })

  test("is outdated after the tenant's nodes have changed, until the pod has a node", () => {
    const pod = podOf({ nodeSelector: { color: "blue" } })
    const before = contextWith([virtual("a")])
    const copy = podOf()
    copy.metadata = { annotations: printPlacement(pod, placementOf(pod, before)) }
    expect(isMisplaced(pod, copy, before)).toBe(false)
    const after = contextWith([blue])
    expect(isMisplaced(pod, copy, after)).toBe(true)
    expect(isMisplaced(pod, { ...copy, spec: { containers: [], nodeName: "a" } }, after)).toBe(false)
  })

  test("is outdated after the node selection of the gated pod has changed, not after the gate is gone", () => {
    const plain = contextWith([virtual("a")])
    const gated = { schedulingGates: [{ name: "wait" }] }
    const copy = podOf(gated)
    copy.metadata = { annotations: printPlacement(copy, placementOf(copy, plain)) }
    expect(isMisplaced(podOf(gated), copy, plain)).toBe(false)
    expect(isMisplaced(podOf(), copy, plain)).toBe(false)
    expect(isMisplaced(podOf({ ...gated, nodeSelector: { zone: "a" } }), copy, plain)).toBe(true)
    // As queues for jobs do: in one write.
    expect(isMisplaced(podOf({ nodeSelector: { zone: "a" } }), copy, plain)).toBe(true)
    expect(isMisplaced(podOf(selecting("zone", "In", "a")), copy, plain)).toBe(true)
  })

  test.each([
    ["a", "a", "Running", false],
    ["a", "b", "Pending", true],
    ["a", "b", "Running", true],
    ["a", "b", "Succeeded", false],
  ])("bound to %s by the tenant, to %s in super, %s", (here, there, phase, expected) => {
    const on = (nodeName: string): Pod =>
      ({ apiVersion: "v1", kind: "Pod", metadata: {}, spec: { containers: [], nodeName }, status: { phase } }) as Pod
    expect(isMisplaced(on(here), on(there), contextWith([]))).toBe(expected)
  })
})
