// Create, get, list, watch, update, patch and delete a minimal object of every built-in kind.

import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"
import { apiVersionOf, collectionPath, minimalObject, storedResources } from "./minimal-objects.ts"

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

/** Kinds whose objects are kept by finalizers until a controller is done with them. */
const held: ReadonlySet<string> = new Set([
  "Namespace",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "CustomResourceDefinition",
  "VolumeAttributesClass",
])

test.each(storedResources().map((resource) => [`${apiVersionOf(resource)} ${resource.resource}`, resource] as const))(
  "%s",
  async (_name, resource) => {
    const object = minimalObject(resource)
    const collection = collectionPath(resource)
    const name = object.metadata.name ?? ""
    const path = `${collection}/${name}`

    const before = await plane.call("GET", collection)
    expect(before).toMatchObject({ code: 200, json: { kind: resource.listKind, apiVersion: apiVersionOf(resource) } })
    const { resourceVersion } = before.json.metadata as { resourceVersion: string }
    const watch = await plane.watch(`${collection}?resourceVersion=${resourceVersion}`)
    expect(watch.code).toBe(200)

    const created = await plane.call("POST", collection, object)
    expect(created.json).toMatchObject({ kind: resource.kind, apiVersion: object.apiVersion, metadata: { name } })
    expect(created.code).toBe(201)
    expect(created.json.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(created.json.metadata.namespace).toBe(resource.namespaced ? "default" : undefined)
    expect((await plane.call("GET", path)).json).toEqual(created.json)
    expect(await watch.next()).toMatchObject({
      type: "ADDED",
      object: { metadata: { uid: created.json.metadata.uid } },
    })

    const listed = await plane.call("GET", `${collection}?fieldSelector=metadata.name=${name}`)
    expect(listed.json.items).toHaveLength(1)
    expect(listed.json.items[0].metadata.uid).toBe(created.json.metadata.uid)

    const unchanged = await plane.call("PUT", path, created.json)
    expect(unchanged).toMatchObject({ code: 200, json: created.json })
    created.json.metadata.labels = { updated: "yes" }
    const updated = await plane.call("PUT", path, created.json)
    expect(updated).toMatchObject({ code: 200, json: { metadata: { labels: { updated: "yes" } } } })
    expect(updated.json.metadata.resourceVersion).not.toBe(created.json.metadata.resourceVersion)
    expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: updated.json })

    const patched = await plane.call(
      "PATCH",
      path,
      { metadata: { annotations: { patched: "yes" } } },
      { contentType: "application/merge-patch+json" },
    )
    expect(patched).toMatchObject({
      code: 200,
      json: { metadata: { labels: { updated: "yes" }, annotations: { patched: "yes" } } },
    })
    expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: patched.json })

    const removed = await plane.call("DELETE", path, {
      kind: "DeleteOptions",
      apiVersion: "v1",
      gracePeriodSeconds: 0,
      propagationPolicy: "Background",
    })
    expect(removed.code).toBe(200)
    if (held.has(resource.kind)) {
      expect(removed.json.metadata.deletionTimestamp).toBeDefined()
      await watch.stop()
      return
    }
    expect(await watch.next()).toMatchObject({ type: "DELETED", object: { metadata: { name } } })
    expect((await plane.call("GET", path)).json).toMatchObject({ code: 404, reason: "NotFound" })
    await watch.stop()
  },
)
