import { describe, expect, test } from "vitest"
import type { KubeObject, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { virtualNodeLabel } from "../../../apimachinery/tenancy.ts"
import { settingsOf } from "../../options.ts"
import { fakeTenant } from "../../testing/fake-tenants.ts"
import type { SyncContext } from "../resource-sync.ts"
import { isOnOwnNode, ownNodeFor } from "./own-nodes.ts"

const node = (name: string, more: object = {}, labels: object = {}): KubeObject =>
  ({ apiVersion: "v1", kind: "Node", metadata: { name, labels }, ...more }) as KubeObject
const taint = { key: "only", effect: "NoSchedule" } as const

const inTenant = [
  node("own", {}, { zone: "a" }),
  node("tainted", { spec: { taints: [taint] } }),
  node("avoided", { spec: { taints: [{ ...taint, effect: "PreferNoSchedule" }] } }),
  node("shared", {}, { [virtualNodeLabel]: "true" }),
  // The tenant removed the label that says so; the patrol writes it again.
  node("stripped"),
]
const inSuper = [node("shared"), node("stripped"), node("hidden")]

const find = (objects: readonly KubeObject[], name: string) => objects.find(({ metadata }) => metadata.name === name)
const context: SyncContext = {
  tenant: fakeTenant("acme"),
  settings: settingsOf({}),
  now: 0,
  view: {
    tenantObject: (_resource, _namespace, name) => find(inTenant, name) as never,
    tenantObjects: () => [],
    superObject: (_resource, _namespace, name) => find(inSuper, name) as never,
    nominatedPods: () => [],
  },
}

const podOf = (spec: Partial<PodSpec>): Pod =>
  ({ metadata: { name: "web" }, spec: { containers: [{ name: "c" }], ...spec } }) as Pod

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ["", false],
  ["own", true],
  ["tainted", true],
  ["shared", false],
  ["stripped", false],
  ["hidden", false],
  ["nowhere", false],
])("a pod on %j is on one of the tenant's own nodes: %j", (nodeName, expected) => {
  expect(isOnOwnNode(podOf(nodeName === undefined ? {} : { nodeName }), context)).toBe(expected)
})

describe("the own node that a pod is made for", () => {
  type Terms = { matchFields?: object[]; matchExpressions?: object[] }[]
  const wants = (...nodeSelectorTerms: Terms): Partial<PodSpec> =>
    ({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    }) as Partial<PodSpec>
  const named = (...values: string[]) => ({ matchFields: [{ key: "metadata.name", operator: "In", values }] })
  const inZone = (zone: string) => ({ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] })

  test.each<[string, Partial<PodSpec>, string | undefined]>([
    ["a DaemonSet's pod", wants(named("own")), "own"],
    ["no affinity", {}, undefined],
    ["any node of a zone", wants(inZone("a")), undefined],
    ["the node in every term", wants({ ...named("own"), ...inZone("a") }, named("own")), "own"],
    ["the node in one term of two", wants(named("own"), inZone("a")), undefined],
    ["two nodes", wants(named("own", "avoided")), undefined],
    ["one of two nodes", wants(named("own"), named("avoided")), undefined],
    ["a zone that the node is not in", wants({ ...named("own"), ...inZone("b") }), undefined],
    ["a selector that the node does not match", { ...wants(named("own")), nodeSelector: { zone: "b" } }, undefined],
    ["a taint that is not tolerated", wants(named("tainted")), undefined],
    ["a tolerated taint", { ...wants(named("tainted")), tolerations: [{ operator: "Exists" }] }, "tainted"],
    ["a taint that is only to be avoided", wants(named("avoided")), "avoided"],
    ["a scheduling gate", { ...wants(named("own")), schedulingGates: [{ name: "wait" }] }, undefined],
    ["another scheduler", { ...wants(named("own")), schedulerName: "mine" }, undefined],
    ["the default scheduler by name", { ...wants(named("own")), schedulerName: "default-scheduler" }, "own"],
    ["bound already", { ...wants(named("own")), nodeName: "own" }, undefined],
    ["a virtual node", wants(named("shared")), undefined],
    ["no such node", wants(named("nowhere")), undefined],
  ])("%s", (_what, spec, expected) => {
    expect(ownNodeFor(podOf(spec), context)).toBe(expected)
  })
})
