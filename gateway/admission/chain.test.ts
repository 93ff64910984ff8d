// What the chain makes of the metadata of a custom resource that plugins have patched.

import { expect, test } from "vitest"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { compileSchema } from "../custom-resources/schemas.ts"
import type { CustomResourceVersion } from "../custom-resources/types.ts"
import { decodePatched } from "../custom-resources/undecoded.ts"
import type { RequestContext } from "../request/context.ts"
import { AdmissionChain, type AdmissionAttributes, Reinvocation } from "./chain.ts"
import { replaceObject } from "./patched.ts"

const schema = compileSchema({ name: "v1", schema: { openAPIV3Schema: { type: "object" } } } as CustomResourceVersion)
const type = { apiVersion: "a/v1", kind: "A" }
const kind = { group: "a", version: "v1", kind: "A" }

type Metadata = { [field: string]: Json }

interface Given {
  stored?: Metadata
  isClusterScoped?: boolean
}

/** What each plugin gives the object, in its order. Returns why it cannot be converted to be stored, and what else is read of it. */
async function patchedBy(made: readonly Metadata[], { stored, isClusterScoped = false }: Given = {}) {
  const object = { ...type, metadata: { name: "a" } } as unknown as KubeObject
  const seen: unknown[] = []
  const plugins = made.map((metadata) => ({
    mutate(_ctx: RequestContext, attributes: AdmissionAttributes): void {
      seen.push(attributes.object?.metadata)
      replaceObject(attributes, { ...type, metadata: { name: "a", ...metadata } } as unknown as KubeObject)
    },
  }))
  const attributes = {
    operation: stored === undefined ? "CREATE" : "UPDATE",
    kind,
    subresource: "",
    object,
    current: stored && { ...type, metadata: stored },
    dryRun: false,
    definition: { ...kind, customResource: {}, namespaced: !isClusterScoped },
    reinvocation: new Reinvocation(),
  } as unknown as AdmissionAttributes
  await new AdmissionChain(plugins).mutate({} as RequestContext, attributes)
  const read = { ...object.metadata }
  let fault: string | undefined
  try {
    decodePatched(schema, object, true)
  } catch (error) {
    fault = (error as Error).message
  }
  return { fault, read, seen }
}

test("is what the last plugin has made of it, in which alone faults count", async () => {
  const labels = { a: "b" }
  const mended = await patchedBy([{ labels: 5 }, { labels }])
  expect(mended).toEqual({
    fault: undefined,
    read: { name: "a", labels },
    seen: [{ name: "a" }, { name: "a", labels: 5 }],
  })
  const { fault, read } = await patchedBy([{ labels }, { labels: 5 }])
  expect(fault).toMatch(/cannot unmarshal number into Go struct field ObjectMeta.labels/)
  expect(read).toEqual({ name: "a" })
})

const deleted = { deletionTimestamp: "2024-01-02T03:04:05Z", deletionGracePeriodSeconds: 5 }

test.each<[string, Metadata, Given, boolean]>([
  ["the time of creation", { creationTimestamp: 5 }, {}, false],
  ["the namespace", { namespace: 5 }, {}, false],
  ["the namespace, of a kind that is in none", { namespace: 5 }, { isClusterScoped: true }, true],
  ["the time of deletion", { deletionTimestamp: 5 }, { stored: {} }, true],
  ["the time of deletion, while it is deleted", { deletionTimestamp: 5 }, { stored: deleted }, false],
  ["the grace period", { deletionGracePeriodSeconds: "x" }, { stored: {} }, true],
  ["the grace period, while it is deleted", { deletionGracePeriodSeconds: "x" }, { stored: deleted }, false],
])("has no fault in what the server sets: %s", async (_, metadata, given, isFault) => {
  const { fault } = await patchedBy([metadata], given)
  expect(fault !== undefined).toBe(isFault)
})
