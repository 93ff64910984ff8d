import { describe, expect, onTestFinished, test } from "vitest"
import { badRequest } from "../../../apimachinery/status.ts"
import type { AdmissionPlugin } from "../../admission/chain.ts"
import { internalWrite, withoutAdmission } from "../../registry/generic/internal-write.ts"
import type { Registry } from "../../registry/rest.ts"
import { contextOf, createControlPlaneStub } from "../../testing/control-plane-stub.ts"
import { deleteSelected } from "./delete-collection.ts"

const namespace = "default"
const configMaps = { group: "", version: "v1", resource: "configmaps" }

async function setUp(count: number, plugins: readonly AdmissionPlugin[] = []) {
  const stub = createControlPlaneStub({ plugins })
  onTestFinished(() => stub[Symbol.asyncDispose]())
  const registry = stub.resources.registry(configMaps) as Registry
  const ctx = contextOf(stub, { ...configMaps, namespace, verb: "deletecollection" })
  for (let index = 0; index < count; index++) {
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: `c-${index}` } }
    await registry.create(ctx, object, internalWrite(), withoutAdmission)
  }
  return {
    ctx,
    run: (more = {}) =>
      deleteSelected({ ...ctx, ...more }, registry, registry.definition, { namespace }, { dryRun: false }),
    left: async () => (await registry.list(ctx, { namespace })).items.length,
  }
}

describe("deleting a collection", () => {
  test("ends when its client disconnects", async () => {
    const { run, left } = await setUp(100)
    const abort = new AbortController()
    let pauses = 0
    const pause = (): undefined => {
      if (++pauses === 30) abort.abort()
    }
    await expect(run({ signal: abort.signal, pause })).rejects.toThrow("request did not complete")
    expect(await left()).toBeGreaterThanOrEqual(70)
  })

  test("stops at the first refusal and responds after the running deletions have ended", async () => {
    let asked = 0
    const refusing: AdmissionPlugin = {
      validate() {
        if (++asked === 10) throw badRequest("the tenth stays")
      },
    }
    const { run, left } = await setUp(100, [refusing])
    await expect(run()).rejects.toThrow("the tenth stays")
    const remaining = await left()
    expect(remaining).toBeGreaterThan(70)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await left()).toBe(remaining)
  })
})
