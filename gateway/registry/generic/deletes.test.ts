import { describe, expect, onTestFinished, test, vi } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { openRegistry } from "./testing/open-registry.ts"

describe("delete", () => {
  test.each([
    ["recreate it", true],
    ["write to it", false],
  ])("removes the pod that was read and no other, if others %s concurrently", async (_, isRemoved) => {
    const { stub, registry, create, update, make, remove, get } = openRegistry("pods")
    const pod = (): KubeObject => {
      const made = make("a", { spec: { containers: [{ name: "c", image: "i" }] } })
      registry.definition.strategy.default?.(made)
      return made
    }
    await create(pod())
    const { store } = stub
    const txn = store.txn.bind(store)
    let isFirst = true
    const interrupted = vi.spyOn(store, "txn").mockImplementation(async (transaction) => {
      if (isFirst && transaction.operations[0]?.type === "delete") {
        isFirst = false
        if (isRemoved) {
          await remove("a")
          await create(pod())
        } else
          await update("a", (current) => ({ ...current, metadata: { ...current.metadata, labels: { is: "late" } } }))
      }
      return txn(transaction)
    })
    onTestFinished(() => interrupted.mockRestore())
    expect((await remove("a")).gone).toBe(true)
    expect(isFirst).toBe(false)
    if (isRemoved) expect((await get("a")).metadata.deletionTimestamp).toBeUndefined()
    else await expect(get("a")).rejects.toThrow('pods "a" not found')
  })

  test("removes an object without finalizers immediately", async () => {
    const { create, make, remove, get } = openRegistry()
    await create(make("a"))
    expect((await remove("a")).gone).toBe(true)
    await expect(get("a")).rejects.toMatchObject({ code: 404 })
  })

  test("waits for finalizers, and removes the object with the last one", async () => {
    const { create, make, remove, get, update } = openRegistry()
    await create(make("a", {}, { finalizers: ["example.com/hold"] }))
    const { gone, value } = await remove("a")
    expect(gone).toBe(false)
    expect(value.object().metadata).toMatchObject({ deletionGracePeriodSeconds: 0 })
    const again = await remove("a")
    expect(again.value.resourceVersion).toBe(value.resourceVersion)
    await expect(
      update("a", (o) => ({ ...o, metadata: { ...o.metadata, finalizers: ["example.com/hold", "example.com/b"] } })),
    ).rejects.toThrow("no new finalizers can be added if the object is being deleted")
    await update("a", (o) => ({ ...o, metadata: { ...o.metadata, finalizers: [] } }))
    await expect(get("a")).rejects.toMatchObject({ code: 404 })
  })

  test.each([
    ["Foreground", ["foregroundDeletion"]],
    ["Orphan", ["orphan"]],
  ])("leaves %s deletion to the garbage collector", async (propagationPolicy, finalizers) => {
    const { create, make, remove } = openRegistry()
    await create(make("a"))
    const { gone, value } = await remove("a", { propagationPolicy })
    expect(gone).toBe(false)
    expect(value.object().metadata.finalizers).toEqual(finalizers)
    expect((await remove("a", { propagationPolicy: "Background" })).gone).toBe(true)
  })

  test("a delete that takes the last finalizer is dry or conditional as upstream", async () => {
    const { create, make, remove, get } = openRegistry()
    const { resourceVersion } = await create(make("a", {}, { finalizers: ["orphan"] }))
    const propagationPolicy = "Background"
    const { gone, isBlank, value } = await remove("a", { propagationPolicy, dryRun: true })
    expect([gone, isBlank, value.object()]).toEqual([true, true, { kind: "ConfigMap", apiVersion: "v1", metadata: {} }])
    await expect(remove("a", { propagationPolicy, preconditions: { resourceVersion } })).rejects.toThrow(
      `Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: ${resourceVersion}`,
    )
    const { uid = "" } = (await get("a")).metadata
    expect((await remove("a", { propagationPolicy, preconditions: { uid } })).gone).toBe(true)
  })

  test("checks preconditions", async () => {
    const { create, make, remove } = openRegistry()
    const { resourceVersion } = await create(make("a"))
    await expect(remove("a", { preconditions: { uid: "x" } })).rejects.toThrow(
      'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (',
    )
    await expect(remove("a", { preconditions: { resourceVersion: "1" } })).rejects.toMatchObject({ code: 409 })
    expect((await remove("a", { preconditions: { resourceVersion } })).gone).toBe(true)
  })

  test("writes nothing on dry run", async () => {
    const { create, make, remove, get } = openRegistry()
    await create(make("a"))
    expect((await remove("a", { dryRun: true })).gone).toBe(true)
    expect((await get("a")).metadata.name).toBe("a")
  })
})
