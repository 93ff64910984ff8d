// Keeps what a control plane serves in step with the CustomResourceDefinitions in its store.

import type { Store } from "../../storage/types.ts"
import type { ResourceDefinition } from "../registry/rest.ts"

export interface CustomResourceParts {
  store: Store
  /** The control plane's resource table: replaces all custom definitions at once. */
  table: { setCustom(definitions: ResourceDefinition[]): void }
  /** Told of what goes wrong in the background. */
  log?: { error(details: object, message: string): void }
}

/** Resolves when the definitions in the store are served. */
export function startCustomResources(parts: CustomResourceParts): Promise<AsyncDisposable> {
  throw new Error(`not yet: ${parts.store.revision}`)
}
