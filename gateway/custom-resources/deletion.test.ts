import { describe, expect, test, vi } from "vitest"
import type { AdmissionPlugin } from "../admission/chain.ts"
import { terminatingDefinition } from "../admission/plugins/terminating-definition.ts"
import { type Loose, verdict } from "../testing/kinds.ts"
import { startCustomResources } from "./handler.ts"
import { conditions, crds, definition, group, schema, until, world, worldWith } from "./testing/defined-kinds.ts"

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
