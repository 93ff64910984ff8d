// Bookmarks: objects of their kind with nothing but a resource version.

import { blankObject } from "../blank.ts"
import type { RegistryEvent, ResourceDefinition } from "../../rest.ts"
import { ComputedValue } from "../storage/value.ts"

const initialEventsEnd = { "k8s.io/initial-events-end": "true" }

export function bookmark(
  definition: ResourceDefinition,
  revision: number,
  says: "initial events end" | "revision" = "revision",
): RegistryEvent {
  const annotations = says === "initial events end" ? { annotations: initialEventsEnd } : {}
  const object = blankObject(definition, { resourceVersion: String(revision), ...annotations })
  return { type: "BOOKMARK", value: new ComputedValue(object) }
}
