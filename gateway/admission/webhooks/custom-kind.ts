// What admission has made of a custom resource is of one of its kind's versions, from which it is converted to that of the request.
// Source: crConverter in k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/converter.go.

import { printJson } from "../../../apimachinery/go/print.ts"
import { type Json, type KubeObject, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { sortedKeys } from "../../../apimachinery/schema/json-object.ts"
import { typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { internalError, UnconvertedError } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"

/** The definition of the version that a patch has made of the object, if there is one; otherwise that of the object as it was `shown`. */
export function versionOf(
  ctx: RequestContext,
  shown: ResourceDefinition,
  { apiVersion, kind }: KubeObject,
): ResourceDefinition {
  if (apiVersion === printGroupVersion(shown)) return shown
  const isServed = (other: ResourceDefinition): boolean =>
    other.storagePrefix === shown.storagePrefix && other.kind === kind && apiVersion === printGroupVersion(other)
  const served = ctx.controlPlane.resources.definitions().find(isServed)
  if (served !== undefined || kind !== shown.kind || typeof apiVersion !== "string") return served ?? shown
  const { group, version } = parseGroupVersion(apiVersion)
  return (group === shown.group ? shown.customResource?.unserved?.(version) : undefined) ?? shown
}

/** What is none of its kind's versions cannot be converted to that of the request. */
export function checkCustom(ctx: RequestContext, definition: ResourceDefinition, object: KubeObject): void {
  const { customResource } = definition
  if (customResource === undefined || typeFault(object as unknown as { [key: string]: Json }) !== undefined) return
  const { kind } = object
  const apiVersion = (object.apiVersion as string | undefined | null) ?? ""
  if (!kind) throw internalError(`Object 'Kind' is missing in '${printJson(sortedKeys(object as unknown as Json))}'`)
  const { group, version } = parseGroupVersion(apiVersion)
  if (group !== definition.group) {
    const own = JSON.stringify(printGroupVersion(definition))
    const given = `${group}/${version}, Kind=${kind}`
    throw new UnconvertedError(`${given} is unstructured and is not suitable for converting to ${own}`)
  }
  const isVersion = ctx.controlPlane.resources
    .definitions()
    .some((other) => other.storagePrefix === definition.storagePrefix && other.version === version)
  if (!isVersion && customResource.unserved?.(version) === undefined)
    throw new UnconvertedError(`request to convert CR from an invalid group/version: ${apiVersion}`)
}
