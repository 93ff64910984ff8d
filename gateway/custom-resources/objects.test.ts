import { describe, expect, test } from "vitest"
import { faults, type Loose, verdict } from "../testing/kinds.ts"
import { crds, definition, group, schema, until, withAll, world } from "./testing/defined-kinds.ts"

describe("an object", () => {
  const widgets = `${group}/widgets`
  const widget = (spec: Loose, more: Loose = {}): Loose => ({ metadata: { name: "w" }, spec, ...more })

  test("is defaulted and pruned, and created without the given status", async () => {
    await using kinds = await world(definition("widgets", "Widget", withAll))
    const made = await kinds.create(widgets, widget({ size: 3, extra: 1 }, { status: { phase: "x" }, more: 1 }))
    expect(made).toEqual({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: expect.objectContaining({ name: "w", generation: 1 }),
      spec: { size: 3, color: "red" },
    })
  })

  test("is created with the default values of the status", async () => {
    const status = { type: "object", default: { phase: "new" }, properties: { phase: { type: "string" } } }
    const versions = { schema: { openAPIV3Schema: { ...schema, properties: { ...schema.properties, status } } } }
    await using kinds = await world(definition("widgets", "Widget", { ...withAll, ...versions }))
    const made = await kinds.create(widgets, widget({ size: 3 }, { status: { phase: "x" } }))
    expect(made).toMatchObject({ status: { phase: "new" } })
    expect(await kinds.get(widgets, "w")).toMatchObject({ status: { phase: "new" } })
  })

  test.each<[Loose, string[]]>([
    [{}, ["spec.size: Required value"]],
    [{ size: 30 }, ["spec.size: Invalid value: 30: spec.size in body should be less than or equal to 10"]],
    [{ size: 1, color: "green" }, ['spec.color: Unsupported value: "green": supported values: "red", "blue"']],
    [{ size: 1, replicas: -1 }, [".spec.replicas: Invalid value: -1: should be a non-negative integer"]],
    [
      [1],
      [
        'spec: Invalid value: "array": spec in body must be of type object: "array"',
        ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: [1] is of the type []interface {}, expected map[string]interface{}",
      ],
    ],
  ])("with spec %j is validated against the schema", async (spec, expected) => {
    await using kinds = await world(definition("widgets", "Widget", withAll))
    expect(await faults(kinds.create(widgets, widget(spec)))).toEqual(expected)
  })

  test("has a default status from its creation", async () => {
    const status = { type: "object", default: { phase: "New" }, properties: { phase: { type: "string" } } }
    const preset = { openAPIV3Schema: { ...schema, properties: { ...schema.properties, status } } }
    await using kinds = await world(definition("widgets", "Widget", { ...withAll, schema: preset }))
    const made = await kinds.create(widgets, widget({ size: 3 }, { status: { phase: "x" } }))
    expect(made["status"]).toEqual({ phase: "New" })
    expect(await kinds.get(widgets, "w")).toEqual(made)
  })

  test("has a status subresource, and its generation is incremented by changes of the spec", async () => {
    await using kinds = await world(definition("widgets", "Widget", withAll))
    await kinds.create(widgets, widget({ size: 3 }))
    const both = { spec: { size: 4 }, status: { phase: "x", replicas: 2 } }
    const changed = await kinds.patch(widgets, "w", both, { subresource: "status" })
    expect(changed).toMatchObject({ metadata: { generation: 1 }, spec: { size: 3 }, status: { phase: "x" } })
    const again = await kinds.patch(widgets, "w", { spec: { size: 4 }, status: { phase: "y" } })
    expect(again).toMatchObject({ metadata: { generation: 2 }, spec: { size: 4 }, status: { phase: "x" } })
  })

  test.each(["__proto__", "constructor"])("keeps its field %s when its status is written", async (name) => {
    const open = { openAPIV3Schema: { ...schema, "x-kubernetes-preserve-unknown-fields": true } }
    await using kinds = await world(definition("widgets", "Widget", { ...withAll, schema: open }))
    const own = (value: unknown): Loose => Object.fromEntries([[name, value]])
    const kept = (object: Loose): unknown => Object.getOwnPropertyDescriptor(object, name)?.value
    expect(kept(await kinds.create(widgets, { ...own({ a: 1 }), ...widget({ size: 3 }) }))).toEqual({ a: 1 })
    const set = async (value: Loose): Promise<Loose> => kinds.patch(widgets, "w", value, { subresource: "status" })
    expect(kept(await set({ status: { phase: "x" }, ...own(null) }))).toEqual({ a: 1 })
    expect(kept(await set({ status: { phase: "y" }, ...own({ b: 2 }) }))).toEqual({ a: 1 })
    expect(kept(await kinds.get(widgets, "w"))).toEqual({ a: 1 })
    await kinds.create(widgets, { metadata: { name: "v" }, spec: { size: 3 } })
    const added = await kinds.patch(
      widgets,
      "v",
      { status: { phase: "x" }, ...own({ b: 2 }) },
      { subresource: "status" },
    )
    expect(kept(added)).toBeUndefined()
  })

  test("has a scale subresource", async () => {
    await using kinds = await world(definition("widgets", "Widget", withAll))
    await kinds.create(widgets, widget({ size: 3 }))
    const scaled = await kinds.patch(widgets, "w", { spec: { replicas: 4 } }, { subresource: "scale" })
    expect(scaled).toMatchObject({ kind: "Scale", spec: { replicas: 4 }, status: { replicas: 0 } })
    const managers = (await kinds.get(widgets, "w"))["metadata"].managedFields
    expect(managers.map(({ subresource }: Loose) => subresource)).toEqual([undefined])
    expect(JSON.stringify(managers)).not.toContain("f:replicas")
    expect((await kinds.get(widgets, "w"))["spec"].replicas).toBe(4)
  })

  test("can be selected by the fields of its definition", async () => {
    await using kinds = await world(definition("widgets", "Widget", withAll))
    await kinds.create(widgets, widget({ size: 3 }))
    await kinds.create(widgets, { metadata: { name: "b" }, spec: { size: 1, color: "blue" } })
    const resource = { group, version: "v1", resource: "widgets", namespaced: true }
    const { items } = await kinds.client.list(resource, { fieldSelector: "spec.color=blue" })
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["b"])
  })

  test("is served in all versions", async () => {
    const beta = {
      name: "v1beta1",
      served: true,
      storage: false,
      schema: { openAPIV3Schema: { type: "object", properties: schema.properties, description: "old" } },
    }
    const v1 = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }
    await using kinds = await world(definition("widgets", "Widget", {}, { versions: [v1, beta] }))
    await kinds.create(widgets, widget({ size: 3 }))
    const old = { group, version: "v1beta1", resource: "widgets", namespaced: true }
    expect(await kinds.client.get(old, "default", "w")).toMatchObject({
      apiVersion: "example.com/v1beta1",
      spec: { size: 3 },
    })
    const stored = await kinds.stub.store.range("/registry/")
    const bytes = stored.items.find(({ key }) => key.endsWith("/w"))?.value ?? new Uint8Array()
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ apiVersion: "example.com/v1" })
  })
})

test("a write in another version keeps only fields of the storage version, also on dry run", async () => {
  const spec = (properties: Loose): Loose => ({ type: "object", properties: { spec: { type: "object", properties } } })
  const text = { type: "string" }
  const versions = [
    { name: "v1", served: true, storage: false, schema: { openAPIV3Schema: spec({ old: text, both: text }) } },
    {
      name: "v2",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: spec({ both: text, new: { ...text, default: "x" } }) },
    },
  ]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  const resource = { group, version: "v1", resource: "widgets", namespaced: true }
  const metadata = { namespace: "default", name: "w" }
  const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata, spec: { old: "a", both: "b" } }
  const dry = await kinds.client.create(resource, structuredClone(widget), { dryRun: true })
  const made = await kinds.client.create(resource, structuredClone(widget))
  for (const each of [dry, made]) expect(each).toMatchObject({ apiVersion: "example.com/v1", spec: { both: "b" } })
  const v2 = await kinds.client.get({ ...resource, version: "v2" }, "default", "w")
  expect(v2).toMatchObject({ apiVersion: "example.com/v2", spec: { both: "b", new: "x" } })
  for (const each of [dry, made, v2]) expect((each as Loose)["spec"]).not.toHaveProperty("old")
})

test("a stored object is pruned and defaulted by a later schema on read, and updated by the next write", async () => {
  await using kinds = await world(definition("widgets", "Widget"))
  const widgets = `${group}/widgets`
  await kinds.create(widgets, { metadata: { name: "w" }, spec: { size: 1, replicas: 2 } })
  const at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
  const change = [
    { op: "remove", path: `${at}/replicas` },
    { op: "add", path: `${at}/shape`, value: { type: "string", default: "round" } },
  ]
  await kinds.patch(crds, "widgets.example.com", change, { type: "json" })
  await until(async () => "shape" in (await kinds.get(widgets, "w"))["spec"])
  const spec = { size: 1, color: "red", shape: "round" }
  expect(await kinds.get(widgets, "w")).toMatchObject({ spec })
  const resource = { group, version: "v1", resource: "widgets", namespaced: true }
  const { items } = await kinds.client.list(resource)
  expect(items).toMatchObject([{ spec }])
  const storedSpec = async (): Promise<unknown> => {
    const { items: stored } = await kinds.stub.store.range("/registry/example.com/widgets/")
    return JSON.parse(Buffer.from(stored[0]?.value ?? []).toString()).spec
  }
  expect(await storedSpec()).toEqual({ size: 1, color: "red", replicas: 2 })
  await kinds.patch(widgets, "w", {})
  expect(await storedSpec()).toEqual(spec)
})

test("invalid values are tolerated after a schema change if they are unchanged, except in lists without keys", async () => {
  const texts = (values?: string[]): Loose => ({ type: "string", ...(values === undefined ? {} : { enum: values }) })
  const withEnum = (values?: string[]): Loose => ({
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          size: { type: "integer" },
          word: texts(values),
          list: { type: "array", items: texts(values) },
          map: { type: "object", additionalProperties: texts(values) },
          keyed: {
            type: "array",
            items: { type: "object", required: ["k"], properties: { k: { type: "string" }, v: texts(values) } },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
          },
        },
      },
    },
  })
  await using kinds = await world(definition("widgets", "Widget", { schema: { openAPIV3Schema: withEnum() } }))
  const widgets = `${group}/widgets`
  const spec = { size: 1, word: "x", list: ["x"], map: { a: "x" }, keyed: [{ k: "a", v: "x" }] }
  await kinds.create(widgets, { metadata: { name: "w" }, spec })
  const path = "/spec/versions/0/schema/openAPIV3Schema"
  await kinds.patch(crds, "widgets.example.com", [{ op: "replace", path, value: withEnum(["y"]) }], { type: "json" })
  const other = { metadata: { name: "o" }, spec: { word: "x" } }
  await until(async () => (await verdict(kinds.create(widgets, other))) !== "accepted")
  const change = { size: 2, map: { b: "y" }, keyed: [{ k: "b" }, { k: "a", v: "x" }] }
  expect(await verdict(kinds.patch(widgets, "w", { spec: change }))).toBe("accepted")
  expect(await faults(kinds.patch(widgets, "w", { spec: { list: ["x", "y"] } }))).toEqual([
    'spec.list[0]: Unsupported value: "x": supported values: "y"',
  ])
  expect(await faults(kinds.patch(widgets, "w", { spec: { word: "z", map: { a: "z" } } }))).toEqual([
    'spec.word: Unsupported value: "z": supported values: "y"',
    'spec.map.a: Unsupported value: "z": supported values: "y"',
  ])
})
