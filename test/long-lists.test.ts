// Lists and maps that a client may make as long as a body, in the forms that take an algorithm longest that goes through them once
// for each of their items: with one that does, these would take minutes or all memory. What is asked is that they end, and that what
// they say is no longer than what was asked.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { evaluateRules, ruleTree } from "../apimachinery/cel/rules/validator.ts"
import { boolType } from "../apimachinery/cel/types/types.ts"
import { Substitutions } from "../apimachinery/cel/types/unify.ts"
import { invalidValue, FieldPath } from "../apimachinery/field-errors.ts"
import { contest, recordUpdate } from "../apimachinery/managed-fields/ownership.ts"
import { apply } from "../apimachinery/managed-fields/apply.ts"
import { type Managers, managersOf } from "../apimachinery/managed-fields/managers.ts"
import { merge } from "../apimachinery/managed-fields/merge.ts"
import { mergeTypeOf } from "../apimachinery/managed-fields/merge-type.ts"
import { toleranceOf } from "../apimachinery/core/node-selection.ts"
import type {
  Endpoints,
  Job,
  Json,
  KubeObject,
  Node,
  OwnerReference,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../apimachinery/object.ts"
import { matches, parseSelector, selectorFromLabelSelector, type Selector } from "../apimachinery/labels.ts"
import { applyJsonPatch } from "../apimachinery/patch/json-patch.ts"
import { podAmounts } from "../apimachinery/quota/usage.ts"
import { decodeObject } from "../apimachinery/schema/decode/decode.ts"
import { builtInResources, schemaOf } from "../apimachinery/schema/facts.ts"
import { parseObject } from "../apimachinery/schema/json/parse.ts"
import { applyDefaults } from "../apimachinery/schema/defaults.ts"
import type { Schema } from "../apimachinery/schema/schema.ts"
import { compileStructural } from "../apimachinery/schema/structural/structural.ts"
import { validateRules } from "../apimachinery/schema/validate.ts"
import { invalid, StatusError } from "../apimachinery/status.ts"
import { atOnce } from "../apimachinery/steps.ts"
import { placementOf } from "../controllers/daemonset/placement.ts"
import type { DaemonSet } from "../controllers/daemonset/types.ts"
import { Graph } from "../controllers/garbage-collector/graph.ts"
import { competitorsFor } from "../controllers/autoscaler/autoscaler.ts"
import { mirror } from "../controllers/endpointslice/mirror.ts"
import { portsOf } from "../controllers/endpointslice/service-pods.ts"
import { viewOf } from "../controllers/job/view.ts"
import { bestMatch, mismatch } from "../controllers/volume-binding/matching.ts"
import { discoveredResources, versionDiscovery } from "../gateway/aggregation/discovery.ts"
import { resourcesOf } from "../gateway/aggregation/listed-resources.ts"
import { inOrder } from "../gateway/aggregation/priorities.ts"
import { covers } from "../gateway/authorization/rules.ts"
import { newErrors } from "../gateway/custom-resources/ratcheting.ts"
import type { TableColumn } from "../gateway/registry/columns/table-column.ts"
import { endpointsColumns } from "../gateway/registry/columns/networking.ts"
import { podColumns } from "../gateway/registry/columns/pods.ts"
import { builtInDefinitions } from "../gateway/registry/definitions.ts"
import { deleteRequestOf, nextDeletionStep } from "../gateway/registry/generic/deletion.ts"
import type { ResourceDefinition } from "../gateway/registry/rest.ts"
import { chooseVictims } from "../syncer/preemption-victims.ts"
import { placement } from "../syncer/resources/pod/mutators/placement.ts"
import type { PodContext } from "../syncer/resources/pod/context.ts"
import { tenantStatus } from "../syncer/resources/pod/status.ts"
import { fakeTenant } from "../syncer/testing/fake-tenants.ts"

const many = 100_000
/** Of the thread's own time: many times what a test takes, and much less than it would. */
const maxSeconds = 20
const reference = { apiVersion: "v1", kind: "ConfigMap" }
const uidOf = (n: number): string => `11111111-1111-4111-8111-${String(n).padStart(12, "0")}`
const numbers = Array.from({ length: many }, (_, index) => index)

let before: NodeJS.CpuUsage
beforeEach(() => {
  before = process.threadCpuUsage()
})
afterEach(() => {
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1e6).toBeLessThan(maxSeconds)
})

/** What is asked, or the message of what it is refused with. */
function outcome(ask: () => unknown): unknown {
  try {
    return ask()
  } catch (error) {
    if (error instanceof StatusError) return error.message
    throw error
  }
}

/** How many items of lists are moved by putting others before them, or taking them out. */
function itemsMoved(act: () => void): number {
  let moved = 0
  const count = (list: unknown[], from: number): void => void (moved += Math.max(list.length - from, 0))
  const { splice, shift } = Array.prototype
  using _splice = vi.spyOn(Array.prototype, "splice").mockImplementation(function (this: unknown[], ...args) {
    count(this, args[0])
    return Reflect.apply(splice, this, args) as unknown[]
  })
  using _shift = vi.spyOn(Array.prototype, "shift").mockImplementation(function (this: unknown[]) {
    count(this, 1)
    return Reflect.apply(shift, this, []) as unknown
  })
  act()
  return moved
}

describe("a JSON patch", () => {
  const operations = (make: (index: number) => Json): Json => Array.from({ length: 10_000 }, (_, index) => make(index))
  const some = 10_000

  test.each<[string, Json, readonly number[]]>([
    [
      "puts items before others",
      operations((index) => ({ op: "add", path: "/list/1", value: -index })),
      [
        0,
        ...numbers
          .slice(0, some)
          .map((n) => -n)
          .toReversed(),
        ...numbers.slice(1),
      ],
    ],
    ["takes items out", operations(() => ({ op: "remove", path: "/list/0" })), numbers.slice(some)],
    [
      "moves items",
      operations(() => ({ op: "move", from: "/list/0", path: "/list/-" })),
      [...numbers.slice(some), ...numbers.slice(0, some)],
    ],
  ])("%s in a long list", (_, patch, list) => {
    let patched: Json = null
    expect(itemsMoved(() => (patched = applyJsonPatch({ list: numbers }, patch)))).toBeLessThan(1e8)
    expect(JSON.stringify(patched)).toBe(JSON.stringify({ list }))
  })

  test("tests long lists that differ in every item", () => {
    const tested = [{ op: "test", path: "/list", value: numbers.map((item) => item + 1) }]
    expect(outcome(() => applyJsonPatch({ list: numbers }, tested))).toMatch("the server rejected our request")
  })
})

describe("YAML", () => {
  const refused = /unrecognized.*: yaml: document contains excessive aliasing/
  const parse = (text: string): unknown => parseObject(Buffer.from(text), "yaml", { duplicates: true }).value

  test.each<[string, string, unknown]>([
    ["one value", `a: &a x\nb: [${"*a,".repeat(20_000)}]`, { a: "x", b: expect.anything() }],
    [
      "many values",
      numbers
        .slice(0, 10_000)
        .map((n) => `k${n}: &a${n} x\nl${n}: *a${n}\n`)
        .join(""),
      expect.anything(),
    ],
    [
      "ever more of them",
      `a0: &a0 x\n${numbers
        .slice(1, 99)
        .map((n) => `a${n}: &a${n} [*a${n - 1},*a${n - 1}]\n`)
        .join("")}`,
      expect.stringMatching(refused),
    ],
    [
      "a long one",
      `a: &a ${"x".repeat(100_000)}\nb: [${"*a,".repeat(100)}]`,
      expect.stringMatching("Request entity too large"),
    ],
  ])("with aliases of %s", (_, text, value) => {
    expect(outcome(() => parse(text))).toEqual(value)
  })
})

describe("what lies deep", () => {
  const deep = (open: string, inner: string, close: string): Buffer =>
    Buffer.from(open.repeat(900) + inner + close.repeat(900))
  const ofKind: Schema = { type: "object", fields: {} }

  test("is known by its numbers, in no more memory than it takes", () => {
    const text = deep(`{"${"a".repeat(1000)}":`, `[${"1.0,".repeat(many)}1.0]`, "}")
    expect(decodeObject(ofKind, parseObject(text, "json", { duplicates: true }).value, true).unknown).toHaveLength(1)
  })

  test("is there twice, and is told of a hundred times", () => {
    const text = deep('{"a":', `{${numbers.map((n) => `"${n >> 1}":1`).join()}}`, "}")
    expect(parseObject(text, "json", { duplicates: true }).duplicates).toHaveLength(100)
  })

  test("is dropped, and told of as far as there is room", () => {
    let schema: Schema = { type: "object", fields: {} }
    for (let depth = 0; depth < 900; depth++) schema = { type: "object", fields: { a: { schema } } }
    const { value } = parseObject(deep('{"a":', `{${numbers.map((n) => `"b${n}":1`).join()}}`, "}"), "json", {
      duplicates: false,
    })
    expect(decodeObject({ ...schema, custom: true }, value, true).unknown.join("").length).toBeLessThan(3_000_000)
  })
})

test("faults that each show the list they are in are told as far as there is room", () => {
  const errors = numbers.map(() => invalidValue(FieldPath.root("spec"), numbers, "must be one"))
  const { status } = invalid({ group: "", kind: "Pod" }, "a", errors)
  expect(JSON.stringify(status).length).toBeLessThan(12_000_000)
})

describe("who manages what", () => {
  const schema = schemaOf({ group: "", version: "v1", kind: "ConfigMap" })
  if (schema === undefined) throw new Error("there is no ConfigMap")
  const type = mergeTypeOf(schema)
  const some = numbers.slice(0, 20_000)
  const map = (value: string): Json => ({ data: Object.fromEntries(some.map((n) => [`k${n}`, value])) })
  const change = { before: map("a"), after: map("b"), type }
  const time = "2026-01-01T00:00:00Z"
  const writer = { manager: "writer", apiVersion: "v1", subresource: "", now: time }
  const each = (operation: "Apply" | "Update"): Managers =>
    managersOf(
      some.map((n) => {
        const fieldsV1 = { "f:data": { ".": {}, [`f:k${n}`]: {} } }
        return { manager: `m${n}`, operation, apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1 }
      }),
    )

  test("of as many managers as there are fields", () => {
    const [applied, updated] = [each("Apply"), each("Update")]
    recordUpdate(
      applied,
      writer,
      () => change,
      () => undefined,
    )
    expect(applied.size).toBe(some.length + 1)
    const asTheyWere = { ...change, after: change.before }
    recordUpdate(
      updated,
      writer,
      () => asTheyWere,
      () => undefined,
    )
    expect(updated.size).toBe(10)
    const contesting = contest(
      each("Apply"),
      "",
      () => change,
      () => undefined,
    )
    expect(atOnce(contesting).conflicts.size).toBe(some.length)
  })

  test("of items in another order", () => {
    const list = { list: { atomic: false, keys: [], items: { scalar: "string" } } } as const
    const [forwards, backwards] = [numbers.map(String), numbers.map(String).toReversed()]
    let merged: Json[] = []
    expect(
      itemsMoved(() => (merged = [merge(forwards, backwards, list) ?? null, merge(forwards, forwards, list) ?? null])),
    ).toBeLessThan(1e8)
    expect(JSON.stringify(merged)).toBe(JSON.stringify([backwards, forwards]))
  })

  test("of conflicts that are excused", async () => {
    const managers = managersOf(
      ["a", "b"].map((manager) => {
        const fieldsV1 = { "f:data": Object.fromEntries(some.map((n) => [`f:k${n}`, {}])) }
        return { manager, operation: "Apply", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1 }
      }),
    )
    const versions = { typeIn: () => type, convert: (object: Json) => object }
    const live = map("a")
    const request = {
      live,
      blank: {},
      managers,
      configuration: map("b"),
      writer,
      force: false,
      versions,
      reset: () => undefined,
    }
    const excused = () => ({ "f:data": { "f:k0": {} } })
    await expect(apply({ ...request, excused })).rejects.toThrow(`Apply failed with ${2 * (some.length - 1)} conflicts`)
  })
})

describe("custom resources", () => {
  const items = numbers.slice(0, 20_000).map((n) => ({ name: `n${n}`, value: n }))
  const schema = {
    type: "object",
    properties: {
      items: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          properties: { name: { type: "string" }, value: { type: "integer" } },
          "x-kubernetes-validations": [{ rule: "self.value >= oldSelf.value" }],
        },
      },
    },
  }

  test("correspond to what they were, item by item", () => {
    const tree = ruleTree(schema, false)
    if (tree === undefined) throw new Error("there is a rule")
    const evaluation = evaluateRules(tree, FieldPath.root(), { items: items.toReversed() }, { items }, true)
    let next = evaluation.next()
    while (next.done !== true) next = evaluation.next()
    expect(next.value.errors).toEqual([])
  })

  test("have rules of many operators, each with parameters of its own", () => {
    const substitutions = new Substitutions()
    expect(numbers.every(() => substitutions.unify([boolType], [substitutions.newParameter()]))).toBe(true)
  })

  test("have values of a long enumeration", () => {
    const list: Schema = { type: "list", items: { type: "integer", rules: { enum: numbers } } }
    expect(validateRules(list, numbers.toReversed(), FieldPath.root("a"))).toEqual([])
  })

  test("have defaults as large as all of their items together", () => {
    const preset = { a: "x".repeat(1_000_000) }
    const item: Schema = { type: "object", fields: { a: { schema: { type: "object", fields: {}, default: preset } } } }
    const object = { list: numbers.map(() => ({})) }
    const ask = () =>
      applyDefaults({ type: "object", fields: { list: { schema: { type: "list", items: item } } } }, object)
    expect(outcome(ask)).toMatch("defaults add more than")
  })

  test("are wrong as they were, deep down in maps of maps", () => {
    let [deep, object]: [Json, Json] = [{ type: "string" }, "a"]
    for (let depth = 0; depth < 40; depth++) {
      deep = { type: "object", additionalProperties: deep }
      object = { a: object }
    }
    const whole = (more: Json) => ({ apiVersion: "a/v1", kind: "A", metadata: {}, spec: object, more }) as never
    const at = FieldPath.root("spec", ...Array.from({ length: 40 }, () => "a"))
    const of = { type: "object", properties: { spec: deep, more: { type: "string" } } }
    const errors = [invalidValue(at, "a", "is wrong"), invalidValue(FieldPath.root("more"), "b", "is wrong")]
    expect(newErrors({ errors, owners: new Map() }, whole("a"), whole("b"), of)).toEqual(errors.slice(1))
  })

  test("are told apart by keys that a definition repeats", () => {
    const keys = numbers.slice(0, 20_000).map(() => "name")
    const list = { ...schema.properties.items, "x-kubernetes-list-map-keys": keys }
    const { errors } = compileStructural({ type: "object", properties: { list } }, FieldPath.root("spec"))
    expect(JSON.stringify(invalid({ group: "", kind: "A" }, "a", errors).status).length).toBeLessThan(12_000_000)
  })
})

test("what a rule grants is multiplied only as far as it is told", () => {
  const words = numbers.slice(0, 1000).map(String)
  const rule = { verbs: words, apiGroups: words, resources: words, resourceNames: words }
  expect(covers([{ ...rule, resourceNames: [] }], [rule])).toEqual([])
  expect(covers([], [rule])).toHaveLength(10_000)
  expect(covers([{ ...rule, verbs: ["*"], resources: words.slice(1) }], [rule])).not.toEqual([])
})

test("what a pod needs is summed over containers that each need something else", () => {
  const containers = numbers.slice(0, 50_000).map((n) => ({
    name: `c${n}`,
    restartPolicy: "Always",
    resources: { requests: { [`a.io/n${n}`]: "1" } },
  }))
  expect(Object.keys(podAmounts({ containers, initContainers: containers }, "requests"))).toHaveLength(
    containers.length,
  )
})

test("many tolerations are compared with many taints", () => {
  const tolerationOf = toleranceOf(numbers.map((n) => ({ key: `k${n}`, value: "a", effect: "NoSchedule" })))
  expect(
    numbers.filter((n) => tolerationOf({ key: `k${n}`, value: n < 10 ? "a" : "b", effect: "NoSchedule" })),
  ).toEqual(numbers.slice(0, 10))
})

describe("a pod of a tenant", () => {
  const podOf = (fields: object): Pod => ({ apiVersion: "v1", kind: "Pod", metadata: {}, ...fields }) as Pod

  test("has many conditions", () => {
    const conditions = numbers.map((n) => ({ type: `example.com/${n}`, status: "True", observedGeneration: 1 }))
    const status = tenantStatus(podOf({ status: { conditions } }), podOf({}), fakeTenant("a"))
    expect(status.conditions).toEqual(conditions)
  })

  test("asks for many resources", () => {
    const resources = numbers.map((n) => `example.com/${n}`)
    const limits = Object.fromEntries(resources.map((name) => [name, "1"]))
    const context = { tenant: fakeTenant("a"), placement: { resources } } as unknown as PodContext
    const { spec } = placement(podOf({ spec: { containers: [{ name: "a", resources: { limits } }] } }), context)
    expect(Object.keys(spec?.containers[0]?.resources?.limits ?? {})).toHaveLength(many)
  })

  test("has many host ports, as do the pods that are in its way", () => {
    const ports = numbers.slice(0, 20_000).map((n) => ({ containerPort: 1, hostPort: n + 1 }))
    const pod = podOf({
      spec: { containers: [{ name: "a", ports: [...ports, { containerPort: 1, hostPort: 60_000 }] }] },
    })
    const others = numbers.slice(0, 20).map((n) => {
      const hostPorts =
        n === 0 ? [{ containerPort: 1, hostPort: 60_000 }] : ports.map((one) => ({ ...one, protocol: "UDP" }))
      return podOf({ metadata: { name: `p${n}` }, spec: { containers: [{ name: "a", ports: hostPorts }] } })
    })
    const node = { metadata: { name: "n" }, status: { allocatable: { pods: "110" } } } as unknown as Node
    const lower = new Map(others.map((one) => [one, one]))
    expect(chooseVictims({ node, pod, there: others, lower })).toEqual({ node: "n", victims: [others[0]] })
  })
})

test("an object that has many owners changes many times", () => {
  const [resource] = builtInResources()
  if (resource === undefined) throw new Error("there are resources")
  const owners = numbers.slice(0, 15_000).map((n) => ({ ...reference, name: `o${n}`, uid: uidOf(n) }))
  const graph = new Graph({ enqueue: () => undefined, isThere: () => false })
  for (let time = 0; time < 40; time++) {
    // Parsed each time, as from a watch: equal texts are not the same text.
    const ownerReferences = JSON.parse(JSON.stringify(owners)) as OwnerReference[]
    graph.observe(resource, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", uid: "a", ownerReferences } })
  }
  expect(graph.node("a")?.owners).toHaveLength(owners.length)
})

test("a selector of many values is compared with many pods", () => {
  const values = numbers.map((n) => `v${(n * 7919) % many}`)
  const selector = Object.freeze({ matchExpressions: [{ key: "app", operator: "In", values }] })
  const selects = (n: number): boolean => matches(selectorFromLabelSelector(selector), { app: `v${n}` })
  expect(numbers.slice(0, 2000).every(selects)).toBe(true)
})

test("a daemon with many tolerations is placed on many nodes", () => {
  const tolerations = numbers.slice(0, 10_000).map((n) => ({ key: `k${n}`, operator: "Exists", effect: "NoSchedule" }))
  const placed = placementOf({ spec: { template: { spec: { containers: [], tolerations } } } } as unknown as DaemonSet)
  const nodes = numbers.slice(0, 10_000).map((n) => {
    return {
      metadata: { name: `n${n}` },
      spec: { taints: [{ key: `k${n}`, effect: "NoSchedule" }] },
    } as unknown as Node
  })
  expect(nodes.every((node) => placed(node).run)).toBe(true)
})

test("a job has many pods that are recorded, but not counted", () => {
  const uids = numbers.slice(0, 50_000).map((n) => `11111111-1111-4111-8111-${n}`)
  const finalizers = ["batch.kubernetes.io/job-tracking"]
  const pods = uids.map((uid) => ({ metadata: { uid, finalizers }, status: { phase: "Succeeded" } }) as unknown as Pod)
  const job = { metadata: {}, spec: {}, status: { uncountedTerminatedPods: { succeeded: uids } } } as unknown as Job
  const { newly, succeeded } = viewOf(job, pods)
  expect([newly.succeeded, succeeded]).toEqual([[], uids.length])
})

test("many autoscalers are compared with many pods", () => {
  const pods = numbers.slice(0, 2000).map((n) => ({ metadata: { labels: { n: `${n}` } } }) as unknown as Pod)
  const selected = numbers.slice(0, 1000).map((n): [string, { selector: Selector }] => {
    return [`a/${n}`, { selector: parseSelector(`app=a${n},tier in (a,b)`) }]
  })
  const others: [string, { selector: Selector }] = ["a/all", { selector: parseSelector("n") }]
  expect(competitorsFor(pods, "a", new Map([...selected, others]))).toEqual(["a/all"])
})

test("claims find the smallest of many volumes", () => {
  const volumes = numbers.slice(0, 10_000).map((n) => {
    const spec = { capacity: { storage: `${((n * 7919) % 10_000) + 1}Mi` }, accessModes: ["ReadWriteOnce"] }
    return { metadata: { name: `v${n}` }, spec, status: { phase: "Available" } } as unknown as PersistentVolume
  })
  const claim = { metadata: {}, spec: { accessModes: ["ReadWriteOnce"] } } as unknown as PersistentVolumeClaim
  for (let count = 0; count < 60; count++) expect(bestMatch(volumes, claim, false)).toBe(volumes[0])
})

describe("endpoints", () => {
  const some = numbers.slice(0, 20_000)
  const addressOf = (n: number): { ip: string } => ({ ip: `10.0.${n >> 8}.${n & 255}` })
  const portOf = (n: number): { name: string; port: number } => ({ name: `p${n}`, port: n + 1 })
  const mirrored = (subsets: unknown[], existing: Parameters<typeof mirror>[1] = []) =>
    mirror({ apiVersion: "v1", kind: "Endpoints", metadata: {}, subsets } as Endpoints, existing)

  test("have many addresses, each with many ports", () => {
    const [slice] = mirrored([{ addresses: some.map(addressOf), ports: some.map(portOf) }])?.create ?? []
    expect([slice?.endpoints?.length, slice?.ports?.length]).toEqual([1000, some.length])
  })

  test("are in many subsets, as are the slices that mirror them", () => {
    const subsets = some.map((n) => ({ addresses: [addressOf(n)], ports: [portOf(n)] }))
    const before = mirrored(subsets)?.create ?? []
    expect(before).toHaveLength(some.length)
    expect(mirrored(subsets, before)).toMatchObject({ create: [], update: [], delete: [] })
    const others = subsets.map(({ addresses }, n) => ({ addresses, ports: [{ port: n + 1 }] }))
    expect(mirrored(others, before)?.update).toHaveLength(some.length)
  })

  test("have ports that share many addresses, and each has one of its own", () => {
    const own = some.map((n) => ({ addresses: [addressOf(n)], ports: [portOf(n)] }))
    const shared = some.map((n) => addressOf(some.length + n))
    expect(mirrored([...own, { addresses: shared, ports: some.map(portOf) }])).toBeUndefined()
  })

  test("are of a Service with many ports, and of many pods with as many", () => {
    const ports = some.map((n) => ({ ...portOf(n), targetPort: n % 2 === 0 ? n + 1 : `p${n}` }))
    const containerPorts = some.map((n) => ({ name: `p${n}`, containerPort: n + 1 }))
    const pod = { metadata: {}, spec: { containers: [{ ports: containerPorts }] } } as unknown as Pod
    const portsIn = portsOf({ metadata: {}, spec: { ports } } as unknown as Service)
    const lists = numbers.slice(0, 200).map(() => portsIn({ ...pod }))
    expect(new Set(lists).size).toBe(1)
    expect(lists[0]).toHaveLength(some.length)
  })
})

describe("an object that", () => {
  const cellOf = (columns: readonly TableColumn[], title: string, object: object): unknown =>
    columns.find(({ name }) => name === title)?.cell(object as KubeObject, 0)

  test("has many addresses and ports is printed", () => {
    const addresses = numbers.map((n) => ({ ip: `10.0.0.${n}` }))
    const ports = numbers.map((n) => ({ port: n + 1 }))
    const object = { metadata: {}, subsets: [{ addresses, ports }, { addresses }] }
    expect(cellOf(endpointsColumns, "Endpoints", object)).toBe("10.0.0.0:1,10.0.0.1:1,10.0.0.2:1 + 10000099997 more...")
  })

  test("has many readiness gates and conditions is printed", () => {
    const readinessGates = numbers.map((n) => ({ conditionType: `example.com/${n}` }))
    const conditions = numbers.map((n) => ({ type: `example.com/${n}`, status: n < 5 ? "True" : "False" })).toReversed()
    const object = { metadata: {}, spec: { containers: [], readinessGates }, status: { conditions } }
    expect(cellOf(podColumns, "Readiness Gates", object)).toBe(`5/${many}`)
  })

  test("has many finalizers is deleted", () => {
    const definition = builtInDefinitions().find(({ resource }) => resource === "configmaps") as ResourceDefinition
    const metadata = { name: "a", finalizers: numbers.map((n) => `example.com/${n}`) }
    const step = nextDeletionStep(definition, { metadata } as KubeObject, deleteRequestOf({}), 0)
    expect(step.step).toBe("mark")
  })

  test("has many access modes is compared", () => {
    const claim = { metadata: {}, spec: { accessModes: numbers.map(() => "ReadWriteOnce") } }
    const accessModes = [...numbers.map(() => "ReadOnlyMany"), "ReadWriteOnce"]
    const volume = { metadata: {}, spec: { accessModes } }
    expect(mismatch(volume as PersistentVolume, claim as PersistentVolumeClaim)).toBeUndefined()
  })
})

describe("discovery of aggregated APIs", () => {
  const api = { group: "a", version: "v1", groupPriority: 1, versionPriority: 1, isCurrent: true, resources: [] }
  const listed = (resources: Json[]) => resourcesOf({ resources }) ?? []

  test("lists many resources and subresources", () => {
    const resources = listed(numbers.flatMap((n) => [{ name: `r${n}` }, { name: `r${n}/s` }]))
    expect(versionDiscovery({ ...api, resources }).resources).toHaveLength(many)
  })

  test("lists many resources with one name", () => {
    const resources = listed(numbers.flatMap((n) => [{ name: "r" }, { name: `r/${n}` }]))
    expect(JSON.stringify(versionDiscovery({ ...api, resources })).length).toBeLessThan(3e7)
  })

  test("lists many groups", () => {
    const resources = listed([{ name: "r" }])
    const all = numbers.map((n) => ({ ...api, group: `g${n}`, resources }))
    expect(inOrder(all, ({ group }) => group).size).toBe(many)
    expect(discoveredResources(all)).toHaveLength(many)
  })
})
