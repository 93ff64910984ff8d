// From a CustomResourceDefinition to what the gateway serves: one ResourceDefinition for each served version.

import type { CustomResourceDefinition } from "../../apimachinery/object.ts"
import type { ResourceDefinition } from "../registry/rest.ts"

/** Empty while the definition's names are not accepted. */
export function compileDefinition(crd: CustomResourceDefinition): ResourceDefinition[] {
  throw new Error(`not yet: ${crd.metadata.name}`)
}
