// Kinds that are custom resources, of any content.

import { customResourceDefinitions } from "../../../client/resources.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import { eventually } from "../../harness/eventually.ts"

const group = "scenarios.example.com"
/** Scenarios may have objects of these. */
export const things: Resource = { group, version: "v1", resource: "things", namespaced: true }
/** These have a scale, and Things have none. */
export const scaledThings: Resource = { group, version: "v1", resource: "scaledthings", namespaced: true }
export const clusterThings: Resource = { group, version: "v1", resource: "clusterthings", namespaced: false }

export async function defineThings(client: KubeClient): Promise<void> {
  await define(client, things, "Thing")
  await define(client, clusterThings, "ClusterThing")
  await define(client, scaledThings, "ScaledThing", {
    scale: {
      specReplicasPath: ".spec.replicas",
      statusReplicasPath: ".status.replicas",
      labelSelectorPath: ".status.selector",
    },
  })
}

/** Until it is served. */
export async function define(
  client: KubeClient,
  resource: Resource,
  kind: string,
  subresources: object = {},
): Promise<void> {
  const { group, version, resource: plural, namespaced } = resource
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      annotations: { "api-approved.kubernetes.io": "unapproved, for tests" },
    },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { plural, kind, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema, subresources }],
    },
  }
  await client.create(customResourceDefinitions, definition)
  await eventually(() => client.list(resource))
}
