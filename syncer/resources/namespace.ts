// Namespaces: each has a super namespace, which contains all other objects of that namespace.

import type { Namespace } from "../../apimachinery/object.ts"
import { namespaces } from "../../client/resources.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import type { ResourceSync } from "./resource-sync.ts"

export const namespace: ResourceSync<Namespace> = {
  resource: namespaces,
  kind: "Namespace",
  // The name depends on the tenant's cluster key, so the controller sets it.
  toSuper: () => ({ apiVersion: "v1", kind: "Namespace", metadata: {} }),
  changed: () => [],
  // Marked with this tenant's key but without uid: a service address was claimed before the namespace was seen. A namespace without
  // marks belongs to somebody else, whatever its name.
  adopts: (superObject) => recordedOwner(superObject) !== undefined,
}
