// Checks the kind in a body against the kind that the path expects. Error messages are kube-apiserver's.

import { goQuote } from "../../apimachinery/go/quote.ts"
import {
  type GroupVersionKind,
  type KubeObject,
  parseGroupVersion,
  printGroupVersion,
} from "../../apimachinery/object.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { unrecognized } from "../../apimachinery/schema/json/parse.ts"
import { olderScales, olderSchemaOf } from "../../apimachinery/schema/older-types.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { badRequest, type StatusError } from "../../apimachinery/status.ts"
import type { Expected } from "./expected.ts"
import { notRegistered, packageOf, typeIn } from "./schemes.ts"

/** What Go takes for the same: "/v1" is "v1", "/" is nothing. Source: k8s.io/apimachinery/pkg/runtime/schema (ParseGroupVersion). */
export function simplifyVersion(object: { apiVersion?: unknown }): void {
  const { apiVersion } = object
  if (typeof apiVersion === "string" && apiVersion.lastIndexOf("/") === 0) object.apiVersion = apiVersion.slice(1)
}

/** Whether it names a group alone, as "apps/" does. */
export const lacksVersion = (apiVersion: string): boolean =>
  apiVersion.length > 1 && apiVersion.indexOf("/") === apiVersion.length - 1

const isOfOtherGroup = (apiVersion: unknown, group: string): boolean =>
  typeof apiVersion === "string" && lacksVersion(apiVersion) && apiVersion !== `${group}/`

/** What Go says of an object that names a group alone. */
export const versionMissingIn = (text: string): string => `Object 'apiVersion' is missing in '${text}'`

/** The same of a custom resource. */
export const noVersion = versionMissingIn("object has no apiVersion field")

/** Built-in kinds may omit apiVersion and kind, which then default to those of the path. `text`: what the object was read from. */
export function checkKind(object: KubeObject, expected: Expected, text = () => JSON.stringify(object)): void {
  const { group, version, kind, schema } = expected
  const apiVersion = printGroupVersion({ group, version })
  if (schema.custom === true) {
    checkCustomKind(object, expected, apiVersion, text)
    return
  }
  const missing = isOfOtherGroup(object.apiVersion, group) ? versionMissingIn(text()) : undefined
  object.kind ||= kind
  if (missing !== undefined) throw badRequest(`${object.kind} in version "" cannot be handled as a ${kind}: ${missing}`)
  if (expected.mayLackVersion === true && !object.apiVersion && object.kind === kind) return
  object.apiVersion ||= apiVersion
  if (object.apiVersion === `${group}/`) object.apiVersion = apiVersion
  if (object.kind === kind && expected.alike?.includes(object.apiVersion) === true) object.apiVersion = apiVersion
  if (object.kind === kind && object.apiVersion === apiVersion) return
  const given = parseGroupVersion(object.apiVersion)
  const type = typeIn(group, { ...given, kind: object.kind })
  if (type !== undefined && object.kind === kind) throw otherVersion(object.apiVersion, apiVersion)
  const detail =
    type === undefined
      ? notRegistered({ ...given, kind: object.kind })
      : `converting (${type}) to (${packageOf(group)}.${kind}): unknown conversion`
  const shown = goQuote(given.version)
  // In protobuf a kind may have bytes that are no text, which Go quotes and JSON does not have.
  throw badRequest(`${object.kind} in version ${shown} cannot be handled as a ${kind}: ${detail}`.toWellFormed())
}

/** For two kinds of a group that cannot be converted into each other. */
export function unconvertible(group: string, from: string, to: string): string {
  return `converting (${packageOf(group)}.${from}) to (${packageOf(group)}.${to}): unknown conversion`
}

/** Custom resources must specify apiVersion and kind. Which kind is validated with the object, since its status may name any. */
function checkCustomKind(object: KubeObject, { kind }: Expected, apiVersion: string, text: () => string): void {
  if (!object.kind) {
    const given = text()
    throw unrecognized(Buffer.from(given), { kind }, `Object 'Kind' is missing in '${given}'`)
  }
  if (object.apiVersion === null)
    throw badRequest(`${object.kind} in version "" cannot be handled as a ${kind}: ${noText}`)
  if (object.apiVersion !== apiVersion) throw otherVersion(object.apiVersion ?? "", apiVersion)
}

/** What Go says of an apiVersion that is null. */
export const noText = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"

function otherVersion(given: string, expected: string): StatusError {
  return badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`)
}

/** The registered kind of the body, if it is a different one. */
export function knownOther(
  object: KubeObject,
  expected: Expected,
): { version: string; kind: string; schema: Schema } | undefined {
  if (expected.schema.custom === true) return undefined
  const kind = object.kind || expected.kind
  const { group, version } = object.apiVersion ? parseGroupVersion(object.apiVersion) : expected
  if (kind === expected.kind && group === expected.group && version === expected.version) return undefined
  if (typeIn(expected.group, { group, version, kind }) === undefined) return undefined
  const schema = schemaOf({ group, version, kind }) ?? olderSchema({ group, version, kind }, expected)
  return schema && { version, kind, schema }
}

function olderSchema(kind: GroupVersionKind, expected: Expected): Schema | undefined {
  const isScale = kind.kind === "Scale" && expected.kind === "Scale"
  return isScale ? olderScales(expected.schema).get(printGroupVersion(kind)) : olderSchemaOf(kind)
}
