import { expect, test, vi } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { noteLong } from "../../../apimachinery/schema/large-values.ts"
import { StatusError } from "../../../apimachinery/status.ts"
import { validatingForCreate, validatingForUpdate } from "./default-strategy.ts"
import { internalWrite, withoutAdmission } from "./internal-write.ts"
import { namespace, openRegistry } from "./testing/open-registry.ts"

/** More than the cache of values keeps. */
const longBytes = 1_000_000

test.each([
  ["updated", "update"],
  ["deleted", "remove"],
] as const)("a long object that is %s is parsed once", async (_, verb) => {
  const { create, make, update, remove } = openRegistry()
  await create(make("long", { data: { text: "x".repeat(longBytes) } }))
  using parse = vi.spyOn(JSON, "parse")
  if (verb === "update") await update("long", (object) => ({ ...object, immutable: true }))
  else await remove("long")
  expect(parse.mock.calls.filter(([text]) => text.length > longBytes)).toHaveLength(1)
})

/** The parts that are walked in steps are those of bodies that were long. */
function long(object: KubeObject): KubeObject {
  noteLong(object)
  return object
}

/** Its managers are not recorded, which takes turns, too. */
const unmanaged = { ...internalWrite("", true), managersKnown: true }

test("long objects are validated in turns, each within its own budget", async () => {
  const { ctx, registry, make } = openRegistry("pods")
  const faults = 6000
  const volumes = Array.from({ length: faults }, (_, index) => ({ name: `V${index}`, emptyDir: {} }))
  const turns: string[] = []
  const refused = async (name: string): Promise<number> => {
    const pod = long(make(name, { spec: { containers: [], volumes } }, { namespace }))
    const pause = async (): Promise<void> => void turns.push(name)
    const creating = registry.create({ ...ctx, pause }, pod, unmanaged, withoutAdmission)
    const error: unknown = await creating.catch((fault: unknown) => fault)
    return error instanceof StatusError ? (error.status.details?.causes?.length ?? 0) : 0
  }
  const [one, other] = await Promise.all([refused("a"), refused("b")])
  expect(one).toBeGreaterThanOrEqual(faults)
  expect(other).toBe(one)
  expect(turns.filter((name) => name === "a").length).toBeGreaterThan(faults / 1000)
  expect(turns.lastIndexOf("a")).toBeGreaterThan(turns.indexOf("b"))
})

test.each([
  ["pods", { spec: { containers: [], volumes: Array.from({ length: 10_000 }, () => ({ name: "V", emptyDir: {} })) } }],
  ["configmaps", { data: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k ${index}`, "a"])) }],
])("new long %s are validated in steps of a thousand parts, short ones in one", (resource, fields) => {
  const { ctx, registry, make } = openRegistry(resource)
  const steps = (object: KubeObject): number => {
    const validating = validatingForCreate(ctx, registry.definition, object)
    let count = 1
    while (validating.next().done !== true) count++
    return count
  }
  expect(steps(make("a", fields))).toBeGreaterThan(10)
  expect(steps(make("a", { spec: { containers: [] } }))).toBe(1)
})

test("a long ConfigMap is validated in turns", async () => {
  const { ctx, registry, make } = openRegistry()
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k ${index}`, "a"]))
  const turnsOf = async (object: KubeObject): Promise<number> => {
    let turns = 0
    const pause = async (): Promise<void> => void turns++
    const creating = registry.create({ ...ctx, pause }, object, unmanaged, withoutAdmission)
    await expect(creating).rejects.toThrow('data[k 0]: Invalid value: "k 0"')
    return turns
  }
  const others = await turnsOf(make("a", { data }))
  expect(await turnsOf(long(make("a", { data })))).toBeGreaterThanOrEqual(others + 20)
})

const rules = Array.from({ length: 20 }, (_, index) => ({ rule: `!has(self.a) || self.a != ${index}` }))
const expressions = rules.map((_, index) => ({ name: `e${index}`, expression: `${index} > 0` }))
const patched = rules.map((_, index) => ({
  patchType: "JSONPatch",
  jsonPatch: { expression: `[JSONPatch{op: "remove", path: "/a${index}"}]` },
}))
const schema = {
  type: "object",
  properties: {
    p: { type: "object", default: {}, properties: { a: { type: "integer" } }, "x-kubernetes-validations": rules },
  },
}
const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" }
const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }]
const webhooks = [{ name: "a.b.c", matchConditions: expressions }]
const selectors = expressions.map(({ expression }) => ({ cel: { expression } }))
const request = { name: "r", exactly: { deviceClassName: "c", selectors, allocationMode: "All" } }
const admission = "admissionregistration.k8s.io"

test.each<[string, string, object]>([
  ["customresourcedefinitions", "apiextensions.k8s.io", { spec: { group: "example.com", names, versions } }],
  ["validatingadmissionpolicies", admission, { spec: { variables: expressions, validations: expressions } }],
  ["mutatingadmissionpolicies", admission, { spec: { matchConditions: expressions, mutations: patched } }],
  ["validatingwebhookconfigurations", admission, { webhooks }],
  ["mutatingwebhookconfigurations", admission, { webhooks }],
  ["deviceclasses", "resource.k8s.io", { spec: { selectors } }],
  ["resourceclaimtemplates", "resource.k8s.io", { spec: { spec: { devices: { requests: [request] } } } }],
])("expressions in %s are compiled in steps when they are written, one in each", async (resource, group, fields) => {
  const { ctx, registry, make } = openRegistry(resource, group)
  const object = make("things.example.com", fields)
  const stepsOf = (validating: Iterator<unknown>): number => {
    let count = 1
    while (validating.next().done !== true) count++
    return count
  }
  expect(stepsOf(validatingForCreate(ctx, registry.definition, object))).toBeGreaterThan(rules.length)
  expect(stepsOf(validatingForUpdate(ctx, registry.definition, object, object))).toBeGreaterThan(rules.length)
})

test("an update of a definition is validated in turns", async () => {
  const { ctx, registry, create, make } = openRegistry("customresourcedefinitions", "apiextensions.k8s.io")
  const spec = { group: "example.com", scope: "Cluster", names, versions }
  await create(make("things.example.com", { spec }))
  let turns = 0
  const pause = async (): Promise<void> => void turns++
  const label = (current: object | undefined): KubeObject => {
    const object = current as KubeObject
    object.metadata.labels = { a: "b" }
    return object
  }
  await registry.update({ ...ctx, pause }, "", "things.example.com", label, internalWrite(), withoutAdmission)
  expect(turns).toBeGreaterThan(rules.length)
})
