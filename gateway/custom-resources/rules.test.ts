// rules.cases.json contains a kube-apiserver's responses to these sequences of writes of objects whose definition has that schema.

import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { StatusError } from "../../apimachinery/status.ts"
import type { AdmitFunctions } from "../registry/rest.ts"
import { contextOf } from "../testing/control-plane-stub.ts"
import { createKindsStub, type KindsStub, type Loose } from "../testing/kinds.ts"
import { startCustomResources } from "./handler.ts"

interface Write {
  verb: "create" | "update" | "status" | "schema"
  name?: string
  spec?: Loose
  status?: Loose
  schema?: Json
  code: number
  causes?: [string, string, string][]
  warnings?: string[]
}

const cases = JSON.parse(readFileSync(new URL("./rules.cases.json", import.meta.url), "utf8")) as {
  schema: Json
  status: boolean
  writes: Write[]
}[]

const crds = "apiextensions.k8s.io/customresourcedefinitions"
const kind = "example.com/widgets"

function definition(schema: Json, status: boolean): Loose {
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }
  return {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [status ? { ...version, subresources: { status: {} } } : version],
    },
  }
}

const open: AdmitFunctions = { mutate: async () => undefined, validate: async () => undefined }

/** Returns the causes of the rejection, and the warnings. */
async function write(kinds: KindsStub, one: Write): Promise<{ causes: string[]; warnings: string[] }> {
  const { verb, name = "w", spec, status, schema } = one
  const warnings: string[] = []
  try {
    if (verb === "schema") {
      await kinds.patch(
        crds,
        "widgets.example.com",
        [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: schema }],
        { type: "json" },
      )
      return { causes: [], warnings }
    }
    const registry = kinds.stub.resources.registry({ group: "example.com", version: "v1", resource: "widgets" })!
    const subresource = verb === "status" ? "status" : ""
    const ctx = {
      ...contextOf(kinds.stub, { namespace: "default", subresource }),
      warn: (text: string) => warnings.push(text),
    }
    const options = { dryRun: false, fieldManager: "test", subresource }
    if (verb === "create") {
      await kinds.delete(kind, name).catch(() => undefined)
      const object = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name, namespace: "default" }, spec }
      await registry.create(ctx, structuredClone(object), options, open)
    } else {
      const change = (current: KubeObject | undefined): KubeObject => ({
        ...current!,
        ...(verb === "update" ? { spec } : { status }),
      })
      await registry.update(ctx, "default", name, change, options, open)
    }
    return { causes: [], warnings }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const causes = error.status.details?.causes ?? []
    return { causes: causes.map(({ reason, field, message }) => [reason, field, message].join(" ")), warnings }
  }
}

describe("rules of a schema are enforced as by kube-apiserver:", () => {
  test.each(cases)("$schema", async ({ schema, status, writes }) => {
    await using kinds = createKindsStub()
    await using _handler = await startCustomResources({
      store: kinds.stub.store,
      table: kinds.stub.resources,
      client: () => kinds.client,
    })
    await kinds.create(crds, definition(schema, status))
    for (const one of writes) {
      const { causes, warnings } = await write(kinds, one)
      const where = JSON.stringify(one)
      expect(causes.sort(), where).toEqual((one.causes ?? []).map((cause) => cause.join(" ")).sort())
      const warned = (one.warnings ?? []).map((warning) => JSON.parse(warning.slice("299 - ".length)) as string)
      expect(warnings.sort(), where).toEqual(warned.sort())
    }
  })
})
