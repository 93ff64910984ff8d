import { afterEach, describe, expect, test } from "vitest"
import type { ManagedFieldsEntry } from "../../../../apimachinery/managed-fields/managers.ts"
import { printSet } from "../../../../apimachinery/managed-fields/testing/state.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KubeClient, PatchOptions, Resource, WriteOptions } from "../../../../client/rest.ts"
import { createKindsStub, type KindsStub } from "../../../testing/kinds.ts"

const open: KindsStub[] = []

afterEach(async () => {
  for (const stub of open.splice(0)) await stub[Symbol.asyncDispose]()
})

const configMaps: Resource = { group: "", version: "v1", resource: "configmaps", namespaced: true }
const deployments: Resource = { group: "apps", version: "v1", resource: "deployments", namespaced: true }

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "x", namespace: "default" },
  spec: { replicas: 2, selector: { matchLabels: { a: "b" } }, template },
}
const configMap = (data?: object, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", namespace: "default", ...metadata },
  ...(data === undefined ? {} : { data }),
})

function setUp(): KubeClient {
  const stub = createKindsStub()
  open.push(stub)
  return stub.client
}

const patchOf =
  (client: KubeClient, resource: Resource) =>
  (patch: unknown, options: PatchOptions): Promise<KubeObject> =>
    client.patch(resource, "default", "x", patch, options)

/** "manager operation subresource" → fields. */
function managers(object: KubeObject): Record<string, string[]> {
  const entries = (object.metadata.managedFields ?? []) as unknown as ManagedFieldsEntry[]
  return Object.fromEntries(
    entries.map(({ manager = "", operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(" "),
      printSet(fieldsV1),
    ]),
  )
}

describe("writes other than apply", () => {
  test("on create, the manager owns given and defaulted fields, but not those that the server sets", async () => {
    const made = await setUp().create(deployments, deployment as KubeObject, { fieldManager: "me" })
    const { "me Update": fields = [] } = managers(made)
    expect(fields).toContain(".spec.replicas")
    expect(fields).toContain(".spec.progressDeadlineSeconds")
    expect(fields).toContain('.spec.template.spec.containers[name="c"].resources')
    expect(fields).not.toContain(".spec")
    expect(fields.filter((field) => /^\.(?:metadata|status|kind|apiVersion)/.test(field))).toEqual([])
    expect(made.metadata.managedFields?.[0]).toMatchObject({
      apiVersion: "apps/v1",
      fieldsType: "FieldsV1",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
    })
  })

  test("a changed field is owned by its last writer, and a removed one by nobody", async () => {
    const client = setUp()
    await client.create(configMaps, configMap({ a: "1", b: "1" }), { fieldManager: "one" })
    const patch = patchOf(client, configMaps)
    await patch({ data: { b: "2", c: "2" } }, { type: "merge", fieldManager: "two" })
    const after = await patch({ data: { a: null } }, { type: "strategic", fieldManager: "three" })
    expect(managers(after)).toEqual({ "one Update": [".data"], "two Update": [".data.b", ".data.c"] })
  })

  test("an update without a change is not written", async () => {
    const client = setUp()
    const made = await client.create(configMaps, configMap({ a: "1" }), { fieldManager: "one" })
    const again = await client.update(configMaps, made, { fieldManager: "two" })
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion)
    expect(managers(again)).toEqual({ "one Update": [".data", ".data.a"] })
  })

  test("a write of status owns only status and the metadata that it may change", async () => {
    const client = setUp()
    await client.create(deployments, deployment as KubeObject, { fieldManager: "one" })
    const options: PatchOptions = { type: "merge", subresource: "status", fieldManager: "two" }
    const document = { spec: { replicas: 5 }, status: { replicas: 1 }, metadata: { annotations: { x: "1" } } }
    const after = await patchOf(client, deployments)(document, options)
    expect(managers(after)["two Update status"]).toEqual([
      ".metadata.annotations",
      ".metadata.annotations.x",
      ".status.replicas",
    ])
  })

  test("above ten managers, the oldest are merged into one", async () => {
    const client = setUp()
    await client.create(configMaps, configMap({ x: "1" }), { fieldManager: "creator" })
    let last: KubeObject = configMap()
    for (let index = 0; index < 13; index++) {
      const document = { data: { [`k${index}`]: "1" } }
      last = await patchOf(client, configMaps)(document, { type: "merge", fieldManager: `m${index}` })
    }
    expect(last.metadata.managedFields).toHaveLength(10)
    expect(managers(last)["ancient-changes Update"]?.length).toBeGreaterThan(3)
    const all = Object.values(managers(last)).flat()
    for (let index = 0; index < 13; index++) expect(all).toContain(`.data.k${index}`)
  })

  test.each([[[]], [[{}]]])("setting managers to %j removes them all until the next apply", async (managedFields) => {
    const client = setUp()
    const patch = patchOf(client, configMaps)
    await client.create(configMaps, configMap({ a: "1" }), { fieldManager: "one" })
    const reset = await patch({ metadata: { managedFields } }, { type: "merge", fieldManager: "two" })
    expect(reset.metadata).not.toHaveProperty("managedFields")
    const later = await patch({ data: { b: "1" } }, { type: "merge", fieldManager: "two" })
    expect(later.metadata).not.toHaveProperty("managedFields")
    const applied = await patch(configMap({ c: "1" }), { type: "apply", fieldManager: "three" })
    expect(managers(applied)).toEqual({
      "three Apply": [".data.c"],
      "before-first-apply Update": [".data", ".data.a", ".data.b"],
    })
  })

  test("valid managers can be set, and invalid ones are ignored", async () => {
    const client = setUp()
    const made = await client.create(configMaps, configMap({ a: "1" }), { fieldManager: "one" })
    const patch = patchOf(client, configMaps)
    const [entry] = made.metadata.managedFields ?? []
    const given = { ...entry, manager: "given", fieldsV1: { "f:data": { "f:a": {} } } }
    const set = await patch({ metadata: { managedFields: [given] } }, { type: "merge", fieldManager: "two" })
    expect(managers(set)).toEqual({ "given Update": [".data.a"] })
    const odd = [{ ...given, operation: "Whatever" }]
    const kept = await patch({ metadata: { managedFields: odd } }, { type: "merge", fieldManager: "two" })
    expect(managers(kept)).toEqual({ "given Update": [".data.a"] })
  })

  test("fields that a version stores in annotations are owned as annotations", async () => {
    const autoscalers = { group: "autoscaling", version: "v1", resource: "horizontalpodautoscalers", namespaced: true }
    const client = setUp()
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "x" }
    const object = {
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "x", namespace: "default" },
      spec: { maxReplicas: 3, scaleTargetRef },
    }
    await client.create(autoscalers, object as KubeObject, { fieldManager: "one" })
    const v2 = { ...autoscalers, version: "v2" }
    const memory = { name: "memory", current: { averageUtilization: 7 } }
    const ofV2 = { currentReplicas: 1, desiredReplicas: 1, currentMetrics: [{ type: "Resource", resource: memory }] }
    await client.patch(
      v2,
      "default",
      "x",
      { status: ofV2 },
      { type: "merge", subresource: "status", fieldManager: "v2" },
    )
    const status = { currentReplicas: 2, desiredReplicas: 2, currentCPUUtilizationPercentage: 5 }
    const options: PatchOptions = { type: "merge", subresource: "status", fieldManager: "v1" }
    // The percentage of the status counts only without the annotation, which contains it otherwise.
    const change = { metadata: { annotations: null }, status }
    const after = await client.patch(autoscalers, "default", "x", change, options)
    expect(managers(after)["v1 Update status"]).toEqual([
      ".metadata.annotations.autoscaling.alpha.kubernetes.io/current-metrics",
      ".status.currentCPUUtilizationPercentage",
      ".status.currentReplicas",
      ".status.desiredReplicas",
    ])
  })
})

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
