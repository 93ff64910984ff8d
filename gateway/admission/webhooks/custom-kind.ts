// What admission makes of a custom resource: of any of its kind's versions, from which it is converted to another. Source: crConverter in
// k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/converter.go.

import { printJson } from "../../../apimachinery/go/print.ts"
import { type Json, type KubeObject, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { addDefaults } from "../../../apimachinery/schema/defaults.ts"
import { typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { type JsonObject, sortedKeys } from "../../../apimachinery/schema/json-object.ts"
import { internalError, unexplained } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"

/** The definition of another version of the same kind, served or not. */
function inVersion(
  ctx: RequestContext,
  definition: ResourceDefinition,
  version: string,
): ResourceDefinition | undefined {
  if (definition.version === version) return definition // also if it is not served any more since the request began
  const served = ctx.controlPlane.resources
    .served()
    .find((other) => other.storagePrefix === definition.storagePrefix && other.version === version)
  return served ?? definition.customResource?.unserved?.(version)
}

/** Whatever a patch has made of an object, it has types that can be read, and a kind. Throws InternalError. */
export function checkTyped(object: KubeObject): void {
  const json = object as unknown as JsonObject
  const fault = typeFault(json)
  if (fault !== undefined) throw internalError(fault)
  if (!object.kind) throw internalError(`Object 'Kind' is missing in '${printJson(sortedKeys(json))}'`)
}

/** In place: the defaults of the version that a patch has made of the object. What is of another kind, or of no version, has none. */
export function addCustomDefaults(ctx: RequestContext, definition: ResourceDefinition, object: KubeObject): void {
  const { group, version } = parseGroupVersion(object.apiVersion ?? "")
  if (object.kind !== definition.kind || group !== definition.group) return
  const made = inVersion(ctx, definition, version)
  if (made !== undefined) addDefaults(made.schema, object as unknown as Json)
}

/** An object that a patch has made, in the version of `to`. What is none of its kind's versions cannot be converted. */
export async function convertCustom(
  ctx: RequestContext,
  object: KubeObject,
  to: ResourceDefinition,
): Promise<KubeObject> {
  const wanted = printGroupVersion(to)
  const apiVersion = (object.apiVersion as string | undefined | null) ?? ""
  const { group, version } = parseGroupVersion(apiVersion)
  if (group !== to.group) {
    const given = `${group}/${version}, Kind=${object.kind}`
    throw unexplained(`${given} is unstructured and is not suitable for converting to ${JSON.stringify(wanted)}`)
  }
  if (inVersion(ctx, to, version) === undefined)
    throw unexplained(`request to convert CR from an invalid group/version: ${apiVersion}`)
  if (apiVersion === wanted) return object
  return (await to.customResource?.between?.(object, wanted)) ?? { ...object, apiVersion: wanted }
}
