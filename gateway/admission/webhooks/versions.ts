// Objects in the version that webhooks and policies see: those of built-in kinds are converted by way of the stored version, custom
// resources at once.

import { copyJson } from "../../../apimachinery/copy.ts"
import { type Json, type KubeObject, printGroupVersion } from "../../../apimachinery/object.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import { writeZeros } from "../../../apimachinery/schema/zeros.ts"
import { convertObject } from "../../registry/conversion/convert.ts"
import { dropEmptyMetadata } from "../../registry/generic/metadata.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import { convertCustom } from "./custom-kind.ts"

/** Objects of the resource's kind are converted to the matched version; those of a subresource (Scale) have only one version. */
export function isOwnKind({ kind, definition }: Pick<AdmissionAttributes, "kind" | "definition">): boolean {
  return kind.kind === definition.kind && kind.group === definition.group
}

/** The object is one that a tenant defines, and not what a subresource of it has (Scale). */
export function isCustom(attributes: Pick<AdmissionAttributes, "kind" | "definition">): boolean {
  return attributes.definition.customResource !== undefined && isOwnKind(attributes)
}

/** The version that a patch has made of an object of a built-in kind, if it is served; otherwise that as which it was `shown`. */
export function madeVersion(
  ctx: RequestContext,
  shown: ResourceDefinition,
  { apiVersion, kind }: KubeObject,
): ResourceDefinition {
  if (apiVersion === printGroupVersion(shown)) return shown
  const isMade = (other: ResourceDefinition): boolean =>
    other.storagePrefix === shown.storagePrefix && other.kind === kind && apiVersion === printGroupVersion(other)
  return ctx.controlPlane.resources.served().find(isMade) ?? shown
}

/** A copy, as Go prints it: with the zero values that are always present. Custom resources have none. */
export async function shownObject(
  ctx: RequestContext,
  object: KubeObject,
  attributes: AdmissionAttributes,
  definition: ResourceDefinition,
): Promise<KubeObject> {
  const own = attributes.definition
  if (isCustom(attributes)) return copyJson(definition === own ? object : await convertCustom(ctx, object, definition))
  const isOwn = isOwnKind(attributes)
  return printed(
    isOwn ? await convertObject(object, own, definition) : object,
    isOwn ? definition.schema : schemaOf(attributes.kind),
  )
}

/** A copy with the zero values that are always present. */
export function printed(object: KubeObject, schema: Schema | undefined): KubeObject {
  const copy = copyJson(object)
  // The options of a connection have no metadata.
  if ((copy.metadata as unknown) !== undefined) dropEmptyMetadata(copy)
  if (schema !== undefined) writeZeros(schema, copy as unknown as Json, false)
  return copy
}
