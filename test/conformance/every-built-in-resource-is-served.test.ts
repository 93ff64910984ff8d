// Creates, gets, lists, watches, updates, patches (with every patch type) and deletes a minimal object of every built-in kind,
// individually and as a collection, and tests its subresources status and scale.

import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"
import type { ResourceFacts } from "../../apimachinery/schema/facts.ts"
import { apiVersionOf, collectionPath, minimalObject, storedResources } from "./minimal-objects.ts"

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

/** Each patch adds an annotation named after the patch type. */
const patches: Readonly<Record<string, unknown>> = {
  "application/merge-patch+json": { metadata: { annotations: { merge: "yes" } } },
  "application/strategic-merge-patch+json": { metadata: { annotations: { strategic: "yes" } } },
  "application/json-patch+json": [{ op: "add", path: "/metadata/annotations/json", value: "yes" }],
}

/** Kinds with finalizers that a controller removes. */
const held: ReadonlySet<string> = new Set([
  "Namespace",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "CustomResourceDefinition",
  "VolumeAttributesClass",
])

/** Kinds with a grace period: they are marked as terminating even if it is 0. */
const ending: ReadonlySet<string> = new Set(["Pod"])

async function checkStatus(path: string, verbs: readonly string[]): Promise<void> {
  const read = await plane.call("GET", `${path}/status`)
  expect(read).toMatchObject({ code: 200, json: { metadata: { labels: { updated: "yes" } } } })
  expect(verbs).toEqual(["get", "patch", "update"])
  expect(await plane.call("PUT", `${path}/status`, read.json)).toMatchObject({ code: 200, json: read.json })
  const contentType = "application/merge-patch+json"
  const patched = await plane.call("PATCH", `${path}/status`, {}, { contentType })
  expect(patched).toMatchObject({ code: 200, json: read.json })
}

async function checkScale(path: string): Promise<void> {
  const read = await plane.call("GET", `${path}/scale`)
  expect(read).toMatchObject({
    code: 200,
    json: { kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 1 } },
  })
  const written = await plane.call("PUT", `${path}/scale`, { ...read.json, spec: { replicas: 0 } })
  expect(written).toMatchObject({ code: 200, json: { kind: "Scale" } })
  expect((await plane.call("GET", path)).json).toMatchObject({ spec: { replicas: 0 } })
}

/** Creates the object again and deletes it by label. */
async function checkCollection(resource: ResourceFacts, path: string): Promise<void> {
  const collection = collectionPath(resource)
  const object = minimalObject(resource)
  const labels = { ...object.metadata.labels, collected: "yes" }
  const created = await plane.call("POST", collection, { ...object, metadata: { ...object.metadata, labels } })
  expect(created.code).toBe(201)
  const now = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0, propagationPolicy: "Background" }
  expect(await plane.call("DELETE", `${collection}?labelSelector=collected%3Dno`, now)).toMatchObject({ code: 200 })
  expect(await plane.call("GET", path)).toMatchObject({ code: 200 })
  const deleted = await plane.call("DELETE", `${collection}?labelSelector=collected`, now)
  expect(deleted).toMatchObject({ code: 200, json: { kind: resource.listKind } })
  expect(await plane.call("GET", path)).toMatchObject({ code: 404 })
}

/** The first update of these kinds is written even if it changes nothing: Strategy.defaultOnRead. */
const rewritten: ReadonlySet<string> = new Set(["Job", "PersistentVolumeClaim"])

/** The gateway writes the status of these kinds shortly after their creation. */
const toldHere: ReadonlySet<string> = new Set(["FlowSchema"])

/** The finalizer of these kinds belongs to the gateway: after a delete they can disappear at any moment. */
const finalizedHere: ReadonlySet<string> = new Set(["CustomResourceDefinition"])

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
    expect(await watch.next()).toMatchObject({
      type: "ADDED",
      object: { metadata: { uid: created.json.metadata.uid } },
    })
    if (toldHere.has(resource.kind)) created.json = (await watch.next())?.object
    expect((await plane.call("GET", path)).json).toEqual(created.json)

    const listed = await plane.call("GET", `${collection}?fieldSelector=metadata.name=${name}`)
    expect(listed.json.items).toHaveLength(1)
    expect(listed.json.items[0].metadata.uid).toBe(created.json.metadata.uid)

    if (rewritten.has(resource.kind)) {
      const { json } = await plane.call("PUT", path, created.json)
      expect(json.metadata.resourceVersion).not.toBe(created.json.metadata.resourceVersion)
      created.json = json
      expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: created.json })
    }
    const unchanged = await plane.call("PUT", path, created.json)
    expect(unchanged).toMatchObject({ code: 200, json: created.json })
    created.json.metadata.labels = { updated: "yes" }
    const updated = await plane.call("PUT", path, created.json)
    expect(updated).toMatchObject({ code: 200, json: { metadata: { labels: { updated: "yes" } } } })
    expect(updated.json.metadata.resourceVersion).not.toBe(created.json.metadata.resourceVersion)
    expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: updated.json })

    for (const [contentType, patch] of Object.entries(patches)) {
      const patched = await plane.call("PATCH", path, patch, { contentType })
      expect(patched, contentType).toMatchObject({
        code: 200,
        json: {
          metadata: { labels: { updated: "yes" }, annotations: { [/\/(\w+)/.exec(contentType)?.[1] ?? ""]: "yes" } },
        },
      })
      expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: patched.json })
    }

    for (const { name: subresource, verbs } of resource.subresources) {
      if (subresource === "status") await checkStatus(path, verbs)
      if (subresource !== "scale") continue
      await checkScale(path)
      expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { spec: { replicas: 0 } } })
    }

    const isCollected = resource.verbs.includes("deletecollection")
    if (isCollected && held.has(resource.kind) && !finalizedHere.has(resource.kind)) {
      const deleted = await plane.call("DELETE", `${collection}?labelSelector=updated`)
      expect(deleted).toMatchObject({ code: 200, json: { kind: resource.listKind } })
      const marked = await plane.call("GET", path)
      expect(marked.json.metadata.deletionTimestamp).toBeDefined()
    }
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
    if (ending.has(resource.kind)) {
      const marks = { name, deletionTimestamp: expect.any(String) as string, deletionGracePeriodSeconds: 0 }
      expect(await watch.next()).toMatchObject({ type: "MODIFIED", object: { metadata: marks } })
    }
    expect(await watch.next()).toMatchObject({ type: "DELETED", object: { metadata: { name } } })
    await watch.stop()
    expect((await plane.call("GET", path)).json).toMatchObject({ code: 404, reason: "NotFound" })
    if (isCollected) await checkCollection(resource, path)
  },
)
