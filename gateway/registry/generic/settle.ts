// The form of an object that is stored and returned, after admission and validation.

import { type Json, type KubeObject, printGroupVersion } from "../../../apimachinery/object.ts"
import { writeZeros, writingZeros } from "../../../apimachinery/schema/decode/decode.ts"
import { isLong } from "../../../apimachinery/schema/large-values.ts"
import { inSteps } from "../../../apimachinery/steps.ts"
import { decodePatched } from "../../custom-resources/undecoded.ts"
import type { RequestContext } from "../../request/context.ts"
import { isDelegated } from "../delegated-groups.ts"
import type { ResourceDefinition } from "../rest.ts"
import { dropEmptyMetadata } from "./metadata.ts"
import { noteStoredOtherwise } from "./storage/unread-fields.ts"

/** Throws if it cannot be stored. Returns a promise if it takes steps. */
export function settle(
  { pause }: RequestContext,
  definition: ResourceDefinition,
  object: KubeObject,
  isStored = true,
): Promise<void> | undefined {
  const { strategy, schema, customResource, group, storageVersion } = definition
  if (customResource !== undefined)
    decodePatched(schema, object, isStored && storageVersion !== printGroupVersion(definition))
  strategy.settle?.(object)
  if (strategy.defaultOnRead?.(object) === true) noteStoredOtherwise(object)
  dropEmptyMetadata(object)
  if (customResource !== undefined) return undefined
  // Protobuf has no empty lists, but JSON does.
  const [value, dropsEmpty] = [object as unknown as Json, isStored && !isDelegated(group)]
  if (isLong(object)) return inSteps(writingZeros(schema, value, dropsEmpty), pause) as Promise<void> | undefined
  writeZeros(schema, value, dropsEmpty)
  return undefined
}
