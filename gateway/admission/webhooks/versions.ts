// Objects in the version that webhooks and policies see, converted by way of the stored version.

import { copyJson } from "../../../apimachinery/copy.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import { writeZeros } from "../../../apimachinery/schema/zeros.ts"
import { convertObject } from "../../registry/conversion/convert.ts"
import { dropEmptyMetadata } from "../../registry/generic/metadata.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { AdmissionAttributes } from "../chain.ts"

/** Objects of the resource's kind are converted to the matched version; those of a subresource (Scale) have only one version. */
export function isOwnKind({ kind, definition }: Pick<AdmissionAttributes, "kind" | "definition">): boolean {
  return kind.kind === definition.kind && kind.group === definition.group
}

/** The object is one that a tenant defines, and not what a subresource of it has (Scale). */
export function isCustom(attributes: Pick<AdmissionAttributes, "kind" | "definition">): boolean {
  return attributes.definition.customResource !== undefined && isOwnKind(attributes)
}

/** A copy, as Go prints it: with the zero values that are always present. Custom resources have none. */
export async function shownObject(
  object: KubeObject,
  attributes: AdmissionAttributes,
  definition: ResourceDefinition,
): Promise<KubeObject> {
  const isOwn = isOwnKind(attributes)
  const converted = isOwn ? await convertObject(object, attributes.definition, definition) : object
  const copy = copyJson(converted)
  if (isOwn && definition.customResource !== undefined) return copy
  const schema = isOwn ? definition.schema : schemaOf(attributes.kind)
  // The options of a connection have no metadata.
  if ((copy.metadata as unknown) !== undefined) dropEmptyMetadata(copy)
  if (schema !== undefined) writeZeros(schema, copy as unknown as Json, false)
  return copy
}
