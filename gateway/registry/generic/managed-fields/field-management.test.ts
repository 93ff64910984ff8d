// Who manages the fields that creates, updates and patches write.

import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { PatchOptions } from "../../../../client/rest.ts"
import { configMap, configMaps, deployment, deployments, managers, patchOf, setUp } from "./testing/managed-objects.ts"

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
