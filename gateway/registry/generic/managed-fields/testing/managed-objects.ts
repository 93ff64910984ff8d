// A control plane stub in which fields have managers, for tests.

import { onTestFinished } from "vitest"
import type { ManagedFieldsEntry } from "../../../../../apimachinery/managed-fields/managers.ts"
import { printSet } from "../../../../../apimachinery/managed-fields/testing/state.ts"
import type { KubeObject } from "../../../../../apimachinery/object.ts"
import type { KubeClient, PatchOptions, Resource } from "../../../../../client/rest.ts"
import { createKindsStub } from "../../../../testing/kinds.ts"

export const configMaps: Resource = { group: "", version: "v1", resource: "configmaps", namespaced: true }
export const deployments: Resource = { group: "apps", version: "v1", resource: "deployments", namespaced: true }

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
export const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "x", namespace: "default" },
  spec: { replicas: 2, selector: { matchLabels: { a: "b" } }, template },
}

export const configMap = (data?: object, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", namespace: "default", ...metadata },
  ...(data === undefined ? {} : { data }),
})

/** Closed after the test. */
export function setUp(): KubeClient {
  const stub = createKindsStub()
  onTestFinished(() => stub[Symbol.asyncDispose]())
  return stub.client
}

export const patchOf =
  (client: KubeClient, resource: Resource) =>
  (patch: unknown, options: PatchOptions): Promise<KubeObject> =>
    client.patch(resource, "default", "x", patch, options)

/** "manager operation subresource" → fields. */
export function managers(object: KubeObject): Record<string, string[]> {
  const entries = (object.metadata.managedFields ?? []) as unknown as ManagedFieldsEntry[]
  return Object.fromEntries(
    entries.map(({ manager = "", operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(" "),
      printSet(fieldsV1),
    ]),
  )
}
