import { expect, test, vi } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { noteLong } from "../../../apimachinery/schema/large-values.ts"
import { StatusError } from "../../../apimachinery/status.ts"
import { validatingForCreate } from "./default-strategy.ts"
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

/** Of each kind that compiles, the fields of an object with so many expressions. */
const withExpressions = (count: number): Record<string, object> => {
  const numbers = Array.from({ length: count }, (_, index) => index)
  const rules = numbers.map((index) => ({ rule: `!has(self.a) || self.a != ${index}` }))
  const expressions = numbers.map((index) => ({ name: `e${index}`, expression: `${index} > 0` }))
  const properties = { a: { type: "integer" } }
  const schema = {
    type: "object",
    properties: { p: { type: "object", properties, "x-kubernetes-validations": rules } },
  }
  const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" }
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }]
  const mutations = numbers.map((index) => ({
    patchType: "JSONPatch",
    jsonPatch: { expression: `[JSONPatch{op: "remove", path: "/a${index}"}]` },
  }))
  const selectors = expressions.map(({ expression }) => ({ cel: { expression } }))
  const requests = [{ name: "r", exactly: { deviceClassName: "c", selectors, allocationMode: "All" } }]
  const clientConfig = { url: "https://a.b" }
  const webhook = { name: "a.b.c", sideEffects: "None", admissionReviewVersions: ["v1"], clientConfig }
  const webhooks = [{ ...webhook, matchConditions: expressions }]
  const rule = { operations: ["CREATE"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }
  const matchConstraints = { resourceRules: [rule] }
  return {
    customresourcedefinitions: { spec: { group: "example.com", scope: "Cluster", names, versions } },
    validatingadmissionpolicies: {
      spec: { matchConstraints, variables: expressions, validations: [{ expression: "true" }] },
    },
    mutatingadmissionpolicies: { spec: { matchConstraints, mutations, reinvocationPolicy: "Never" } },
    validatingwebhookconfigurations: { webhooks },
    mutatingwebhookconfigurations: { webhooks },
    deviceclasses: { spec: { selectors } },
    resourceclaims: { spec: { devices: { requests } } },
    resourceclaimtemplates: { spec: { spec: { devices: { requests } } } },
  }
}

const admission = "admissionregistration.k8s.io"
const kinds = [
  ["customresourcedefinitions", "apiextensions.k8s.io"],
  ["validatingadmissionpolicies", admission],
  ["mutatingadmissionpolicies", admission],
  ["validatingwebhookconfigurations", admission],
  ["mutatingwebhookconfigurations", admission],
  ["deviceclasses", "resource.k8s.io"],
  ["resourceclaims", "resource.k8s.io"],
  ["resourceclaimtemplates", "resource.k8s.io"],
] as const

test.each(kinds)("each expression of short %s is compiled in a turn of its own", async (resource, group) => {
  /** Of others, while it is created and updated. */
  const turnsOf = async (count: number): Promise<readonly [number, number]> => {
    const { ctx, registry, make } = openRegistry(resource, group)
    let turns = 0
    const paused = { ...ctx, pause: async (): Promise<void> => void turns++ }
    const own = registry.definition.namespaced ? { namespace } : {}
    const object = make("things.example.com", withExpressions(count)[resource], own)
    const options = { ...internalWrite(), managersKnown: true }
    await registry.create(paused, object, options, withoutAdmission)
    const created = turns
    const label = (current: object | undefined): KubeObject => {
      const labelled = current as KubeObject
      labelled.metadata.labels = { a: "b" }
      return labelled
    }
    await registry.update(paused, own.namespace ?? "", "things.example.com", label, options, withoutAdmission)
    return [created, turns - created]
  }
  const [few, more] = [await turnsOf(10), await turnsOf(20)]
  expect(more[0] - few[0]).toBe(10)
  // The expressions of a claim cannot be changed.
  expect(more[1] - few[1]).toBe(resource === "resourceclaims" ? 0 : 10)
})
