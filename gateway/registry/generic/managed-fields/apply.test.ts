// What an apply takes over, leaves to others, and conflicts with.

import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { PatchOptions, Resource, WriteOptions } from "../../../../client/rest.ts"
import { configMap, configMaps, deployment, deployments, managers, patchOf, setUp } from "./testing/managed-objects.ts"

describe("apply", () => {
  const apply = (manager: string, more: Partial<PatchOptions> = {}): PatchOptions => ({
    type: "apply",
    fieldManager: manager,
    ...more,
  })

  test("creates a missing object, and writes nothing without a change", async () => {
    const client = setUp()
    const patch = patchOf(client, deployments)
    const made = await patch(deployment, apply("me"))
    expect(managers(made)).toEqual({
      "me Apply": expect.arrayContaining([".spec.replicas", ".spec.selector"]) as string[],
    })
    expect(managers(made)["me Apply"]).not.toContain(".spec.progressDeadlineSeconds")
    const again = await patch(deployment, apply("me"))
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
  })

  test("takes fields that it does not give from nobody, even if Go would print them", async () => {
    const nodes: Resource = { group: "", version: "v1", resource: "nodes", namespaced: false }
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec: { configSource: { configMap: {} } } }
    const client = setUp()
    // The source is dropped, but not its managers.
    await client.create(nodes, node as KubeObject, { fieldManager: "one" })
    const apply = (force: boolean): Promise<KubeObject> =>
      client.patch(nodes, undefined, "n", node, { type: "apply", fieldManager: "two", force })
    await expect(apply(false)).rejects.toThrow("Apply failed with 2 conflicts")
    const source = ".spec.configSource.configMap"
    expect(managers(await apply(true))).toEqual({
      "one Update": ["kubeletConfigKey", "name", "namespace"].map((name) => `${source}.${name}`),
      "two Apply": [source],
    })
  })

  test("a struct that is pruned as a whole has no manager, even if Go would print it", async () => {
    const services: Resource = { group: "", version: "v1", resource: "services", namespaced: true }
    const patch = patchOf(setUp(), services)
    const service = (spec: object): object => ({ apiVersion: "v1", kind: "Service", metadata: { name: "x" }, spec })
    await patch(service({ clusterIP: "None" }), apply("two"))
    await patch(service({}), apply("one"))
    expect(managers(await patch(service({}), apply("two")))).toEqual({ "one Apply": [".spec"], "two Apply": [".spec"] })
    // A list without items is no field, and nobody's: the struct has none then.
    expect(managers(await patch(service({ ports: [] }), apply("two")))).toEqual({})
  })

  test("changes nothing of an object with a null that Go prints", async () => {
    const ingresses: Resource = { group: "networking.k8s.io", version: "v1", resource: "ingresses", namespaced: true }
    const spec = { defaultBackend: { resource: { kind: "Thing", name: "t" } } }
    const ingress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name: "x" } }
    const patch = patchOf(setUp(), ingresses)
    const made = await patch({ ...ingress, spec }, apply("one"))
    expect(made["spec"]).toEqual({ defaultBackend: { resource: { apiGroup: null, ...spec.defaultBackend.resource } } })
    const again = await patch({ ...ingress, spec: {} }, apply("two"))
    expect(again["spec"]).toEqual(made["spec"])
    expect(again.metadata.generation).toBe(made.metadata.generation)
  })

  test("conflicts with all fields of other managers", async () => {
    const client = setUp()
    await client.create(configMaps, configMap({ a: "1", b: "1" }), { fieldManager: "one" })
    const refused = patchOf(client, configMaps)(configMap({ a: "2", b: "2", c: "2" }), apply("two"))
    await expect(refused).rejects.toMatchObject({
      code: 409,
      reason: "Conflict",
      message: 'Apply failed with 2 conflicts: conflicts with "one" using v1:\n- .data.a\n- .data.b',
      status: {
        details: {
          causes: [
            { reason: "FieldManagerConflict", message: 'conflict with "one" using v1', field: ".data.a" },
            { reason: "FieldManagerConflict", message: 'conflict with "one" using v1', field: ".data.b" },
          ],
        },
      },
    })
  })

  test("rejects changes of version and identity", async () => {
    const client = setUp()
    const patch = patchOf(client, configMaps)
    await patch(configMap({ a: "1" }), apply("one"))
    await expect(patch(configMap({}, { resourceVersion: "1" }), apply("one"))).rejects.toMatchObject({ code: 409 })
    await expect(patch(configMap({}, { uid: "other" }), apply("one"))).rejects.toMatchObject({ code: 422 })
    await expect(patch({ ...configMap(), kind: "Secret" }, apply("one"))).rejects.toMatchObject({
      code: 400,
      message: "invalid object type: /v1, Kind=Secret",
    })
    await expect(patch(configMap({}, { managedFields: [] }), apply("one"))).rejects.toMatchObject({ code: 400 })
    await expect(patch({ ...configMap(), bogus: 1 }, apply("one"))).rejects.toMatchObject({
      code: 500,
      message:
        "failed to create typed patch object (default/x; /v1, Kind=ConfigMap): .bogus: field not declared in schema",
    })
  })

  test("by kubectl takes over the fields of client-side apply, and updates its annotation", async () => {
    const client = setUp()
    const annotation = "kubectl.kubernetes.io/last-applied-configuration"
    const before = configMap({ a: "1", b: "1" })
    await client.create(
      configMaps,
      configMap({ a: "1", b: "1" }, { annotations: { [annotation]: JSON.stringify(before) } }),
      { fieldManager: "kubectl-client-side-apply" },
    )
    const patch = patchOf(client, configMaps)
    await patch({ data: { b: "2" } }, { type: "merge", fieldManager: "editor" })
    const wanted = configMap({ a: "9", b: "2" })
    await expect(patch(wanted, apply("other"))).rejects.toMatchObject({ code: 409 })
    const after = await patch(wanted, apply("kubectl"))
    expect(after["data"]).toEqual({ a: "9", b: "2" })
    expect(JSON.parse(after.metadata.annotations?.[annotation] ?? "")).toEqual(wanted)
    await patch({ data: { b: "3" } }, { type: "merge", fieldManager: "editor" })
    await expect(patch(wanted, apply("kubectl"))).rejects.toMatchObject({ code: 409 })
  })

  test("of scale transfers the ownership of replicas in the object's managers", async () => {
    const client = setUp()
    await client.create(deployments, deployment as KubeObject, { fieldManager: "one" })
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "x" }, spec: { replicas: 7 } }
    const patch = patchOf(client, deployments)
    await expect(patch(scale, apply("two", { subresource: "scale" }))).rejects.toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "one" using autoscaling/v1: .spec.replicas',
    })
    await patch(scale, apply("two", { subresource: "scale", force: true }))
    const after = await client.get(deployments, "default", "x")
    expect(managers(after)["two Apply scale"]).toEqual([".spec.replicas"])
    expect(managers(after)["one Update"]).not.toContain(".spec.replicas")
  })

  test("writes nothing on dry run", async () => {
    const client = setUp()
    const options: WriteOptions & PatchOptions = apply("me", { dryRun: true })
    expect(managers(await patchOf(client, configMaps)(configMap({ a: "1" }), options))).toEqual({
      "me Apply": [".data.a"],
    })
    await expect(client.get(configMaps, "default", "x")).rejects.toMatchObject({ code: 404 })
  })
})
