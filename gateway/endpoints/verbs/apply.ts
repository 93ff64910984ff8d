// PATCH with application/apply-patch+yaml: server-side apply. The configuration is parsed and merged into the current object (if
// there is one), and the result is decoded like a body.

import { copyJson } from "../../../apimachinery/copy.ts"
import { parseGroupVersion, printGroupVersion, type Json, type KubeObject } from "../../../apimachinery/object.ts"
import { EmbeddedFault } from "../../../apimachinery/schema/decode/custom.ts"
import { memoryDetail } from "../../../apimachinery/schema/decode/errors.ts"
import { parseObject } from "../../../apimachinery/schema/json/parse.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { canonicalScalar, ScalarError } from "../../../apimachinery/schema/scalars.ts"
import { omitNulls } from "../../../apimachinery/schema/zeros.ts"
import {
  badRequest,
  conflict,
  hasReason,
  invalid,
  notFound,
  UnconvertedError,
  unexplained,
} from "../../../apimachinery/status.ts"
import {
  applyConfiguration,
  setEntries,
  type Unchecked,
} from "../../registry/generic/managed-fields/field-management.ts"
import type { ManagedKind } from "../../registry/generic/managed-fields/managed-kind.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { awaitedPause } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import { droppedOf } from "../../custom-resources/dropped-fields.ts"
import { findUnread, noteStoredOtherwise, noteUnread } from "../../registry/generic/storage/unread-fields.ts"
import { decodingValue } from "../body.ts"
import { inSteps } from "../../../apimachinery/steps.ts"
import { agreeOnName } from "../body-path.ts"
import { agreeOnNamespace } from "../../registry/generic/metadata.ts"
import type { Expected } from "../expected.ts"
import { type RequestBody, takeJson } from "../request-body.ts"
import type { FieldValidation } from "../request-options.ts"
import { between } from "../../../apimachinery/texts.ts"

interface Application {
  definition: ResourceDefinition
  of: ManagedKind
  expected: Expected
  /** From the path. */
  at: { namespace: string; name: string }
  fieldManager: string
  force: boolean
  /** The configuration is a long text: what is made of it is decoded in steps. */
  isLong?: boolean
}

/** A configuration as received: errors in its text are reported only when it would be applied, as upstream. */
interface Configuration {
  object: Unchecked
  /** "line 3: key … already set in map" */
  duplicates: readonly string[]
}

export function readConfiguration(body: RequestBody, validation: FieldValidation): Configuration {
  const { bytes, converted } = body
  const options = { duplicates: validation !== "Ignore", anyKind: true, converted, json: takeJson(body) }
  try {
    const parsed = parseObject(bytes, "yaml", options)
    const lines = parsed.duplicates.flatMap((fault) => fault.split("\n")).map((line) => line.trim())
    const object = parsed.value as Unchecked
    return { object, duplicates: lines.filter((line) => line.startsWith("line ")) }
  } catch (error) {
    if (!hasReason(error, "BadRequest")) throw error
    const fault = between(error.message, "the object provided is unrecognized: ", " (") ?? error.message
    const ofJson = "couldn't get version/kind; json parse error: "
    const shown = fault.startsWith(ofJson)
      ? `error unmarshaling JSON: while decoding JSON: ${fault.slice(ofJson.length)}`
      : `error converting YAML to JSON: ${fault}`
    throw badRequest(`error decoding YAML: ${withGoMap(shown)}`, { cause: error })
  }
}

/** Apply decodes into a map upstream, so error messages do not mention a Go struct. */
function withGoMap(fault: string): string {
  const start = fault.indexOf("Go value of type struct {")
  const end = fault.lastIndexOf("}")
  return start < 0 || end < start ? fault : `${fault.slice(0, start)}${goMap}${fault.slice(end + 1)}`
}

const goMap = "Go value of type map[string]interface {}"

/** `current`: a copy owned by the caller; undefined if there is no object. The configuration is not modified. */
export async function applied(
  ctx: RequestContext,
  application: Application,
  { object: configuration, duplicates }: Configuration,
  current: KubeObject | undefined,
  validation: FieldValidation,
): Promise<KubeObject> {
  const { definition, of, at, fieldManager, force } = application
  if (current === undefined && !mayCreateByApply(ctx, definition)) throw notFound(definition, at.name)
  const options = { fieldManager, force, pause: ctx.pause }
  const copy = copyJson(configuration)
  await ctx.pause?.()
  const { object, isChanged, managers } = await applyConfiguration(of, current, copy, options)
  await ctx.pause?.()
  if (duplicates.length > 0) reportDuplicates(ctx, duplicates, validation)
  const isWritten = partWritten(ctx, definition)
  // The current object may lack defaults of a custom resource's version, in which it is not stored.
  const isUnreadKept = isChanged && definition.customResource !== undefined
  const unread = isUnreadKept ? findUnread(object as unknown as Json).filter(({ step }) => isWritten(step)) : []
  const decoded = isChanged ? await decodeApplied(ctx, object, configuration, application) : object
  noteUnread(decoded, unread)
  if (droppedOf(decoded).some(isWritten)) noteStoredOtherwise(decoded)
  if (!isChanged) omitNulls(definition.schema, decoded as unknown as Json)
  setEntries(decoded, managers)
  const { uid } = decoded.metadata
  if (current === undefined && uid) {
    const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
    throw conflict(definition, at.name, detail)
  }
  agreeOnNamespace(decoded, at.namespace)
  agreeOnName(decoded, at.name)
  return decoded
}

/** Whether an apply creates what is not there. */
export function mayCreateByApply(ctx: RequestContext, { strategy }: ResourceDefinition): boolean {
  const { subresource } = ctx.info
  if (subresource === "" || strategy.allowCreateOnUpdate === true) return true
  return subresource === "status" && strategy.applyOfStatusCreates === true
}

function reportDuplicates(ctx: RequestContext, duplicates: readonly string[], validation: FieldValidation): void {
  if (validation === "Strict") {
    const lines = duplicates.map((line) => `\n  ${line}`).join("")
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`)
  }
  for (const line of duplicates) ctx.warn(line)
}

/** A write has only its own part: the status, or the rest. */
function partWritten(ctx: RequestContext, { subresources }: ResourceDefinition): (field: string | number) => boolean {
  const hasStatus = subresources.some(({ name }) => name === "status")
  const isStatus = ctx.info.subresource === "status"
  return (field) => !hasStatus || (field === "status") === isStatus
}

/** What Go's time is that is not set. */
const unsetTime = "0001-01-01T00:00:00Z"

/** Upstream reads the metadata of a custom resource field by field: a time or a whole number that cannot be read is none. */
function dropUnread(metadata: JsonObject): void {
  for (const field of ["creationTimestamp", "deletionTimestamp"]) if (!isTime(metadata[field])) delete metadata[field]
  for (const field of ["generation", "deletionGracePeriodSeconds"]) {
    const value = metadata[field]
    if (typeof value === "number" && !Number.isInteger(value)) delete metadata[field]
  }
}

function isTime(value: Json | undefined): boolean {
  if (typeof value !== "string") return value === undefined
  try {
    return canonicalScalar("time", value) !== unsetTime
  } catch (error) {
    if (error instanceof ScalarError) return false
    throw error
  }
}

/** An object that does not fit the kind is an error without a reason upstream, which is answered with 500. */
async function decodeApplied(
  ctx: RequestContext,
  object: KubeObject,
  { metadata }: Unchecked,
  { expected, isLong }: Application,
): Promise<KubeObject> {
  const { metadata: given = null } = object as unknown as { metadata?: Json }
  if (expected.schema.custom === true && isObject(given)) dropUnread(given)
  try {
    const decoding = decodingValue(ctx, object as unknown as Json, expected, "Ignore", { origin: "apply", isLong })
    return await inSteps(decoding, awaitedPause(ctx))
  } catch (error) {
    if (!hasReason(error, "BadRequest")) throw error
    const { group, version } = parseGroupVersion(printGroupVersion(expected))
    const kind = `${group === "" ? "/" : `${group}/`}${version}, Kind=${expected.kind}`
    const { cause } = error
    // Upstream finds it when the object is validated.
    if (cause instanceof EmbeddedFault) throw invalid(expected, object.metadata.name ?? "", [cause.fieldError()])
    const name = `(${metadata?.namespace ?? ""}/${metadata?.name ?? ""}; ${kind})`
    if (cause instanceof UnconvertedError) {
      throw unexplained(`failed to convert to unversioned ${name}: ${cause.message}`, { cause: error })
    }
    const detail = memoryDetail(error, expected.schema)
    const message = `failed to convert new object ${name} to proper version: unable to convert unstructured object to ${kind}: ${detail}`
    throw unexplained(message, { cause: error })
  }
}
