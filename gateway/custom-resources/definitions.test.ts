import { describe, expect, test, vi } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { StorageError } from "../../storage/types.ts"
import { deleteUnasked } from "../local-client/local-client.ts"
import { contextOf } from "../testing/control-plane-stub.ts"
import { createKindsStub, faults, type Loose, verdict } from "../testing/kinds.ts"
import { startCustomResources } from "./handler.ts"
import { conditions, crds, definition, group, until, withAll, world } from "./testing/defined-kinds.ts"

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
