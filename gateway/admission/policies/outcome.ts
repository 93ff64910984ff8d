// What becomes of an object that a policy has mutated. Source: dispatchOne and dispatchInvocations in
// k8s.io/apiserver/pkg/admission/plugin/policy/mutating/dispatcher.go.

import { type Json, type KubeObject, parseGroupVersion, printGroupVersion } from "../../../apimachinery/object.ts"
import { decodeObject } from "../../../apimachinery/schema/decode/decode.ts"
import { memoryDetail, refusalDetail } from "../../../apimachinery/schema/decode/errors.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import { badRequest, hasReason, internalError, StatusError } from "../../../apimachinery/status.ts"
import { convertObject } from "../../registry/conversion/convert.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { AdmissionAttributes } from "../chain.ts"
import { replaceObject } from "../patched.ts"
import { addCustomDefaults, convertCustom } from "../webhooks/custom-kind.ts"
import { isCustom, isOwnKind } from "../webhooks/versions.ts"
import type { PolicyInput } from "./input.ts"
import { MutationFault } from "./mutation-result.ts"

/**
 * The type of the object in the version of `definition`. Upstream knows the kinds of the paths of each version, as in OpenAPI: none of
 * subresources that are of another one, or of what a patch has made of a custom resource.
 */
export function typeOf(
  attributes: AdmissionAttributes,
  definition: ResourceDefinition,
  { apiVersion, kind: given }: KubeObject,
): Schema | undefined {
  const { kind, resource } = attributes
  if (!isOwnKind(attributes))
    return kind.group === resource.group && kind.version === resource.version ? schemaOf(kind) : undefined
  const isOther = given !== definition.kind || apiVersion !== printGroupVersion(definition)
  return isCustom(attributes) && isOther ? undefined : definition.schema
}

/**
 * In the version of the request. `made`: in that of `definition`, which for built-in kinds is the same. `isConfigured`: by an applied
 * configuration. Of a custom resource nothing is looked at: it only gets the defaults of the version in which it was made.
 */
export async function taken(
  { ctx, attributes }: PolicyInput,
  definition: ResourceDefinition,
  made: unknown,
  isConfigured: boolean,
): Promise<KubeObject> {
  if (!isCustom(attributes)) return isConfigured ? configured(attributes, made) : decoded(attributes, made)
  const object = structuredClone(made) as KubeObject
  addCustomDefaults(ctx, definition, object)
  return convertObject(object, definition, attributes.definition)
}

/**
 * What all policies have made, as the request has it: until then an object of a built-in kind is not converted (Strategy), and a custom
 * resource may be of another version.
 */
export async function convertMade({ ctx, attributes }: PolicyInput): Promise<void> {
  const { object, definition } = attributes
  if (object === undefined) throw new TypeError("there is no object to convert")
  try {
    if (isCustom(attributes)) replaceObject(attributes, structuredClone(await convertCustom(ctx, object, definition)))
    else if (isOwnKind(attributes)) definition.strategy.convert?.(object)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const { message } = error
    const why = hasReason(error, "BadRequest") ? refusalDetail(message) : message
    throw internalError(`failed to convert object: ${why}`, { cause: error })
  }
}

/** What does not fit the type is the fault of the policy, if upstream has not made JSON of it. */
function configured(attributes: AdmissionAttributes, object: unknown): KubeObject {
  try {
    return attributes.decode(structuredClone(object) as Json, { origin: "apply", isVersioned: true })
  } catch (error) {
    if (!hasReason(error, "BadRequest")) throw error
    const { group, version, kind, schema } = attributes.definition
    const detail = memoryDetail(error, schema)
    const into = `${group === "" ? "/" : `${group}/`}${version}, Kind=${kind}`
    throw new MutationFault(`unable to convert unstructured object to ${into}: ${detail}`)
  }
}

/** An invalid result of a policy is not the caller's fault. */
function decoded(attributes: AdmissionAttributes, object: unknown): KubeObject {
  try {
    if (isObject(object as Json)) checkOtherKind(attributes, object as JsonObject)
    return attributes.decode(structuredClone(object) as Json, { unknownFields: "Strict", isVersioned: true })
  } catch (error) {
    if (!hasReason(error, "BadRequest", "Invalid")) throw error
    const why = refusalDetail(error.message)
    // A known kind that is not that of the request is found out when all policies are done.
    const isOtherKind = why.startsWith("converting (")
    throw internalError(isOtherKind ? `failed to convert object: ${why}` : why, { cause: error })
  }
}

/** An object that a policy has made one of another known kind is decoded as that one, and has to be of the version of the request. */
function checkOtherKind({ kind: requested }: AdmissionAttributes, object: JsonObject): void {
  const { apiVersion, kind } = object
  if (typeof apiVersion !== "string" || typeof kind !== "string" || kind === requested.kind) return
  const { group, version } = parseGroupVersion(apiVersion)
  const schema = schemaOf({ group, version, kind })
  if (schema === undefined) return
  const { unknown } = decodeObject(schema, structuredClone(object), true)
  if (unknown.length > 0) throw badRequest(`strict decoding error: ${unknown.join(", ")}`)
  const wanted = printGroupVersion(requested)
  if (wanted !== apiVersion)
    throw new MutationFault(`${version}.${kind} is not suitable for converting to ${JSON.stringify(wanted)}`)
}
