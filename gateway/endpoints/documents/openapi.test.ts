import type { ServerResponse } from "node:http"
import { expect, onTestFinished, test } from "vitest"
import type { CustomResourceDefinition } from "../../../apimachinery/object.ts"
import { compileDefinition, editionOf } from "../../custom-resources/definitions.ts"
import { contextOf, createControlPlaneStub } from "../../testing/control-plane-stub.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { serveOpenAPI } from "./openapi.ts"

function definitionOf(group: string): ResourceDefinition {
  const names = { plural: "ones", singular: "one", kind: "One", listKind: "OneList" }
  const schema = { openAPIV3Schema: { type: "object", description: group } }
  const crd = {
    metadata: { name: `ones.${group}`, uid: group },
    spec: { group, scope: "Namespaced", names, versions: [{ name: "v1", served: true, storage: true, schema }] },
    status: { acceptedNames: names, conditions: [{ type: "Established", status: "True" }] },
  } as unknown as CustomResourceDefinition
  const [definition] = compileDefinition(crd, undefined, 0, editionOf(crd))
  if (definition === undefined) throw new Error("it is served")
  return definition
}

test("the index of the documents looks at each of very many groups once", async () => {
  const stub = createControlPlaneStub()
  onTestFinished(() => stub[Symbol.asyncDispose]())
  const groups = Array.from({ length: 1000 }, (_, index) => `g${index}.example.com`)
  let reads = 0
  const counted = (group: string): ResourceDefinition => {
    const count = (): string => {
      reads++
      return group
    }
    return Object.defineProperty(definitionOf(group), "group", { get: count })
  }
  stub.resources.setCustom(groups.map(counted))
  reads = 0
  let text = ""
  const response = {
    req: { method: "GET" },
    writeHead: () => response,
    end: (body: Buffer) => void (text = body.toString()),
  }
  await serveOpenAPI(contextOf(stub, { path: "/openapi/v3" }), response as unknown as ServerResponse)
  const { paths } = JSON.parse(text) as { paths: Record<string, { serverRelativeURL: string }> }
  const hashes = groups.map((group) => paths[`apis/${group}/v1`]?.serverRelativeURL)
  expect(new Set(hashes)).toHaveLength(groups.length)
  expect(reads).toBeLessThan(20 * groups.length)
})
