// Namespaces: one super namespace each. Everything else of the tenant lies in these.

import type { Namespace } from "../../apimachinery/object.ts"
import { namespaces } from "../../client/resources.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import type { ResourceSync } from "./resource-sync.ts"

export const namespace: ResourceSync<Namespace> = {
  resource: namespaces,
  kind: "Namespace",
  // The name depends on the tenant's cluster key: the controller sets it.
  toSuper: () => ({ apiVersion: "v1", kind: "Namespace", metadata: {} }),
  changed: () => [],
  // Marked with this tenant's key but no uid: a service address was claimed before the namespace was seen here. One
  // without marks is somebody else's, whatever its name.
  adopts: (superObject) => recordedOwner(superObject) !== undefined,
}
