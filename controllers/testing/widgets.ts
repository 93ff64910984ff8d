// A custom resource for tests.

import { customResourceDefinitions } from "../../client/resources.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { Harness } from "./harness.ts"

export const widgets: DiscoveredResource = {
  group: "example.com",
  version: "v1",
  resource: "widgets",
  namespaced: true,
  kind: "Widget",
  verbs: ["get", "list", "watch", "delete", "deletecollection"],
}

/** Served by then. */
export async function defineWidgets(harness: Harness): Promise<void> {
  await harness.create(customResourceDefinitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true }],
    },
  })
  const definition = harness.cluster.find(customResourceDefinitions, undefined, "widgets.example.com")!
  const status = { conditions: [{ type: "Established", status: "True" }] }
  await harness.cluster.update(customResourceDefinitions, { ...definition, status }, { subresource: "status" })
}
