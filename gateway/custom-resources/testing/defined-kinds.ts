// Resources that definitions make, for tests.

import { expect } from "vitest"
import type { AdmissionPlugin } from "../../admission/chain.ts"
import { deleteUnasked } from "../../local-client/local-client.ts"
import { createKindsStub, type KindsStub, type Loose } from "../../testing/kinds.ts"
import { startCustomResources } from "../handler.ts"

export const crds = "apiextensions.k8s.io/customresourcedefinitions"
export const group = "example.com"
export const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, maximum: 10 },
        color: { type: "string", enum: ["red", "blue"], default: "red" },
        replicas: { type: "integer" },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
  },
}

export function definition(plural: string, kind: string, version: Loose = {}, spec: Loose = {}): Loose {
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }]
  return {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: "Namespaced", names: { plural, kind }, versions, ...spec },
  }
}

export const withAll = {
  subresources: {
    status: {},
    scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  },
  additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
  selectableFields: [{ jsonPath: ".spec.color" }],
}

export interface World extends KindsStub {
  close(): Promise<void>
}

/** With the handler that serves the defined resources. */
export async function world(...definitions: Loose[]): Promise<World> {
  return worldWith([], ...definitions)
}

export async function worldWith(plugins: readonly AdmissionPlugin[], ...definitions: Loose[]): Promise<World> {
  const kinds = createKindsStub({ plugins })
  const handler = await startCustomResources({
    store: kinds.stub.store,
    table: kinds.stub.resources,
    client: () => kinds.client,
    deleteObject: (...object) => deleteUnasked(kinds.stub, ...object),
  })
  for (const each of definitions) await kinds.create(crds, each)
  return {
    ...kinds,
    async close() {
      await handler[Symbol.asyncDispose]()
    },
    async [Symbol.asyncDispose]() {
      await handler[Symbol.asyncDispose]()
      await kinds[Symbol.asyncDispose]()
    },
  }
}

export const until = (done: () => Promise<boolean>): Promise<void> => expect.poll(done).toBe(true)

export const conditions = (object: Loose): string[] =>
  object["status"].conditions.map(({ type, status, reason }: Loose) => `${type}=${status} ${reason}`)
