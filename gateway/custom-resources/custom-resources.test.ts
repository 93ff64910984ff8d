import { expect, describe, test, vi } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { StorageError } from "../../storage/types.ts"
import { createKindsStub, faults, type KindsStub, type Loose, verdict } from "../testing/kinds.ts"
import { contextOf } from "../testing/control-plane-stub.ts"
import type { AdmissionPlugin } from "../admission/chain.ts"
import { terminatingDefinition } from "../admission/plugins/terminating-definition.ts"
import { deleteUnasked } from "../local-client/local-client.ts"
import { startCustomResources } from "./handler.ts"

const crds = "apiextensions.k8s.io/customresourcedefinitions"
const group = "example.com"
const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10 },
        color: { type: "string", enum: ["red", "blue"], default: "red" },
        replicas: { type: "integer" },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
  },
}

function definition(plural: string, kind: string, version: Loose = {}, spec: Loose = {}): Loose {
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }]
  return {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: "Namespaced", names: { plural, kind }, versions, ...spec },
  }
}

const withAll = {
  subresources: {
    status: {},
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  },
  additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
  selectableFields: [{ jsonPath: ".spec.color" }],
}

interface World extends KindsStub {
  close(): Promise<void>
}

/** With the handler that serves the defined resources. */
async function world(...definitions: Loose[]): Promise<World> {
  return worldWith([], ...definitions)
}

async function worldWith(plugins: readonly AdmissionPlugin[], ...definitions: Loose[]): Promise<World> {
  const kinds = createKindsStub({ plugins })
  const handler = await startCustomResources({
    store: kinds.stub.store,
    table: kinds.stub.resources,
    client: () => kinds.client,
    deleteObject: (...object) => deleteUnasked(kinds.stub, ...object),
  })
  for (const each of definitions) await kinds.create(crds, each)
  return {
    ...kinds,
    async close() {
      await handler[Symbol.asyncDispose]()
    },
    async [Symbol.asyncDispose]() {
      await handler[Symbol.asyncDispose]()
      await kinds[Symbol.asyncDispose]()
    },
  }
}

const until = (done: () => Promise<boolean>): Promise<void> => expect.poll(done).toBe(true)

const conditions = (object: Loose): string[] =>
  object["status"].conditions.map(({ type, status, reason }: Loose) => `${type}=${status} ${reason}`)

describe("a definition", () => {
  test("is established by its creation, with default names", async () => {
    await using kinds = await world(definition("widgets", "Widget"))
    const { status, spec } = await kinds.get(crds, "widgets.example.com")
    expect(conditions({ status })).toEqual(["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"])
    expect(status.acceptedNames).toEqual({
      plural: "widgets",
      singular: "widget",
      kind: "Widget",
      listKind: "WidgetList",
    })
    expect(status.storedVersions).toEqual(["v1"])
    expect(spec.conversion).toEqual({ strategy: "None" })
  })

  test("does not get the names of another definition until that is deleted", async () => {
    await using kinds = await world(definition("widgets", "Widget"), definition("gadgets", "Widget"))
    const second = async (): Promise<string[]> => conditions(await kinds.get(crds, "gadgets.example.com"))
    expect(await second()).toEqual(["NamesAccepted=False ListKindConflict", "Established=False NotAccepted"])
    await kinds.delete(crds, "widgets.example.com")
    await until(async () => (await second())[0] === "NamesAccepted=True NoConflicts")
    expect(kinds.stub.resources.registry({ group, version: "v1", resource: "gadgets" })).toBeDefined()
  })

  test("gets names that another definition no longer has", async () => {
    await using kinds = await world(
      definition("widgets", "Widget", {}, { names: { plural: "widgets", kind: "Widget", shortNames: ["w", "x"] } }),
      definition("gadgets", "Gadget", {}, { names: { plural: "gadgets", kind: "Gadget", shortNames: ["x", "w"] } }),
    )
    const second = async (): Promise<Loose> => (await kinds.get(crds, "gadgets.example.com"))["status"]
    expect((await second())["conditions"][0]).toMatchObject({
      reason: "ShortNamesConflict",
      message: '["x" is already in use, "w" is already in use]',
    })
    await kinds.patch(crds, "widgets.example.com", { spec: { names: { shortNames: ["y"] } } })
    await until(async () => (await second())["acceptedNames"].shortNames?.length === 2)
  })

  test("is not changed by a status that says otherwise", async () => {
    await using kinds = await world(definition("widgets", "Widget"))
    const { acceptedNames } = (await kinds.get(crds, "widgets.example.com"))["status"]
    for (const status of [{ acceptedNames: null, conditions: null }, { acceptedNames: { singular: "odd" } }]) {
      const patched = await kinds.patch(crds, "widgets.example.com", { status }, { subresource: "status" })
      expect(patched["status"].acceptedNames).toEqual(acceptedNames)
      expect(conditions(patched)).toContain("Established=True InitialNamesAccepted")
    }
  })

  test("has an empty list of conditions if that is written", async () => {
    await using kinds = await world(definition("widgets", "Widget"))
    for (const given of [[], null]) {
      const change = { status: { conditions: given } }
      const options = { subresource: "status", dryRun: true }
      const { status } = await kinds.patch(crds, "widgets.example.com", change, options)
      expect(status).toMatchObject({ conditions: given, acceptedNames: { kind: "Widget" } })
    }
  })

  test("cannot get a name that it has already", async () => {
    await using kinds = await world(definition("widgets", "Widget"))
    const renamed = await kinds.patch(crds, "widgets.example.com", { spec: { names: { shortNames: ["widget"] } } })
    expect(conditions(renamed)).toEqual([
      "NamesAccepted=False ShortNamesConflict",
      "Established=True InitialNamesAccepted",
    ])
    // Upstream does not reconsider the condition if the names are those that were granted.
    const again = await kinds.patch(crds, "widgets.example.com", { spec: { names: { shortNames: null } } })
    expect(conditions(again)[0]).toBe("NamesAccepted=False ShortNamesConflict")
  })

  test.each<[string, Loose, Loose, string[]]>([
    ["no schema", { schema: undefined }, {}, ["spec.versions[0].schema.openAPIV3Schema: Required value"]],
    [
      "a schema that is not structural",
      { schema: { openAPIV3Schema: { type: "object", properties: { a: {} } } } },
      {},
      [
        "spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields",
      ],
    ],
    [
      "paths that lead nowhere",
      {
        subresources: { scale: { specReplicasPath: ".status.x", statusReplicasPath: "x" } },
        selectableFields: [{ jsonPath: ".spec.nope" }, { jsonPath: ".spec" }],
      },
      {},
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "x": must be a simple json path starting with .',
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    ],
    [
      "a name that is not its own",
      {},
      { names: { plural: "others", kind: "Widget" } },
      ['metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group'],
    ],
    [
      "webhook conversion without a webhook",
      {},
      { conversion: { strategy: "Webhook", webhook: {} } },
      [
        "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
        "spec.conversion.conversionReviewVersions: Required value",
      ],
    ],
  ])("with %s is rejected", async (_what, version, spec, expected) => {
    await using kinds = await world()
    expect(await faults(kinds.create(crds, definition("widgets", "Widget", version, spec)))).toEqual(expected)
  })

  test("cannot lose versions in which objects were stored", async () => {
    await using kinds = await world(definition("widgets", "Widget"))
    const rename = [{ op: "replace", path: "/spec/versions/0/name", value: "v2" }]
    expect(await verdict(kinds.patch(crds, "widgets.example.com", rename, { type: "json" }))).toContain(
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version',
    )
  })

  test("can lose a stored version after it is removed from its status", async () => {
    await using kinds = await world(definition("widgets", "Widget"))
    const change = { status: { storedVersions: ["v2"] } }
    const forgotten = kinds.patch(crds, "widgets.example.com", change, { subresource: "status" })
    expect(await verdict(forgotten)).toBe("accepted")
    const rename = [{ op: "replace", path: "/spec/versions/0/name", value: "v2" }]
    expect(await verdict(kinds.patch(crds, "widgets.example.com", rename, { type: "json" }))).toBe("accepted")
  })

  // docs/decisions/0026-objects-of-lost-versions.md
  test("serves objects of a version that it has lost, and can be deleted with them", async () => {
    await using kinds = await world(definition("widgets", "Widget"))
    for (const name of ["a", "b"]) {
      await kinds.create(`${group}/widgets`, { metadata: { name }, spec: { size: 1 } })
    }
    await kinds.patch(crds, "widgets.example.com", { status: { storedVersions: ["v2"] } }, { subresource: "status" })
    const rename = [{ op: "replace", path: "/spec/versions/0/name", value: "v2" }]
    await kinds.patch(crds, "widgets.example.com", rename, { type: "json" })
    const { client } = kinds
    const widgets = { group, version: "v2", resource: "widgets", namespaced: true }
    const { items } = await client.list(widgets)
    expect(items.map(({ apiVersion, metadata }) => [apiVersion, metadata.name])).toEqual([
      ["example.com/v2", "a"],
      ["example.com/v2", "b"],
    ])
    const patched = await client.patch<KubeObject>(widgets, "default", "a", { spec: { size: 2 } }, { type: "merge" })
    expect(patched).toMatchObject({ apiVersion: "example.com/v2", spec: { size: 2, color: "red" } })
    await client.delete(widgets, "default", "a")
    await kinds.delete(crds, "widgets.example.com")
    await until(async () => (await verdict(kinds.get(crds, "widgets.example.com"))).includes("not found"))
  })
})

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

describe("deletion of a definition", () => {
  test("deletes its objects first and waits for their finalizers", async () => {
    await using kinds = await worldWith([terminatingDefinition], definition("widgets", "Widget"))
    const widgets = `${group}/widgets`
    await kinds.create(widgets, { metadata: { name: "free" }, spec: { size: 1 } })
    await kinds.create(widgets, { metadata: { name: "held", finalizers: ["x.y/z"] }, spec: { size: 1 } })
    await kinds.delete(crds, "widgets.example.com")
    await until(async () => (await verdict(kinds.get(widgets, "free"))) !== "accepted")
    expect(conditions(await kinds.get(crds, "widgets.example.com"))).toContain(
      "Terminating=True InstanceDeletionInProgress",
    )
    expect(await verdict(kinds.create(widgets, { metadata: { name: "new" }, spec: { size: 1 } }))).toBe(
      'widgets.example.com "new" is forbidden: create not allowed while custom resource definition is terminating',
    )
    await kinds.patch(widgets, "held", { metadata: { finalizers: null } })
    await until(async () => (await verdict(kinds.get(crds, "widgets.example.com"))) !== "accepted")
    expect(kinds.stub.resources.registry({ group, version: "v1", resource: "widgets" })).toBeUndefined()
  })
})

describe("deletion of a definition with a finalizer of its own", () => {
  const held = (names: Loose): Loose => ({
    ...definition("widgets", "Widget", {}, names),
    metadata: { name: "widgets.example.com", finalizers: ["x.y/z"] },
  })

  test("says that its objects have been deleted, served or not, whatever admission says", async () => {
    const refuse: AdmissionPlugin = {
      name: "Refuse",
      validate(_ctx, { operation, definition: { resource } }) {
        if (operation === "DELETE" && resource === "widgets") throw new Error("refused")
      },
    }
    await using kinds = await worldWith([refuse], held({}))
    const widgets = `${group}/widgets`
    await kinds.create(widgets, { metadata: { name: "a" }, spec: { size: 1 } })
    const versions = [{ name: "v1", served: false, storage: true, schema: { openAPIV3Schema: schema } }]
    await kinds.patch(crds, "widgets.example.com", { spec: { versions } })
    await kinds.delete(crds, "widgets.example.com")
    await until(async () =>
      conditions(await kinds.get(crds, "widgets.example.com")).includes("Terminating=False InstanceDeletionCompleted"),
    )
    const { metadata } = await kinds.get(crds, "widgets.example.com")
    expect(metadata.finalizers).toEqual(["x.y/z"])
    await kinds.patch(crds, "widgets.example.com", { metadata: { finalizers: null } })
    expect(await verdict(kinds.get(crds, "widgets.example.com"))).not.toBe("accepted")
  })

  test("says why its objects cannot be deleted, and tries again", async () => {
    await using kinds = await world()
    const deleteObject = vi.fn(() => Promise.reject(new Error("the webhook does not answer")))
    const { store, resources } = kinds.stub
    await kinds.close()
    await using _handler = await startCustomResources({
      store,
      table: resources,
      client: () => kinds.client,
      deleteObject,
    })
    await kinds.create(crds, held({}))
    await until(async () => resources.serves({ group, version: "v1", resource: "widgets" }))
    await kinds.create(`${group}/widgets`, { metadata: { name: "a" }, spec: { size: 1 } })
    await kinds.delete(crds, "widgets.example.com")
    await until(async () =>
      (await kinds.get(crds, "widgets.example.com"))["status"].conditions.some(
        ({ reason, message }: Loose) =>
          reason === "InstanceDeletionFailed" && message === "could not list instances: the webhook does not answer",
      ),
    )
    await until(async () => deleteObject.mock.calls.length > 1)
  })

  test("says that it never was established", async () => {
    await using kinds = await world(definition("gadgets", "Widget"), held({}))
    await kinds.delete(crds, "widgets.example.com")
    await until(async () =>
      conditions(await kinds.get(crds, "widgets.example.com")).includes("Terminating=False NeverEstablished"),
    )
  })
})

test("definitions are served even if their watch has failed", async () => {
  const kinds = createKindsStub()
  const { store, resources } = kinds.stub
  const watch = vi.spyOn(store, "watch")
  watch.mockImplementationOnce(() => ({
    revision: 1,
    close: () => undefined,
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.reject(new StorageError("Unavailable", "the disk refuses")),
    }),
  }))
  await using _handler = await startCustomResources({
    store,
    table: resources,
    client: () => kinds.client,
    deleteObject: (...object) => deleteUnasked(kinds.stub, ...object),
  })
  const widgets = { group, version: "v1", resource: "widgets" }
  await kinds.create(crds, definition("widgets", "Widget"))
  await until(async () => resources.serves(widgets))
  await kinds.delete(crds, "widgets.example.com")
  await until(async () => !resources.serves(widgets))
  expect(watch.mock.calls.length).toBeGreaterThan(1)
  await kinds[Symbol.asyncDispose]()
})

test("existing definitions are served when a control plane is opened", async () => {
  const first = await world(definition("widgets", "Widget", withAll))
  await first.close()
  first.stub.resources.setCustom([])
  await using _handler = await startCustomResources({ store: first.stub.store, table: first.stub.resources })
  const registry = first.stub.resources.registry({ group, version: "v1", resource: "widgets" })
  expect(registry?.definition.columns.map(({ name }) => name)).toEqual(["Name", "Size"])
  await registry?.list(contextOf(first.stub), {})
})
