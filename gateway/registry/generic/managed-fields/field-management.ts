// The managers of fields, for every write: connects the verbs, which know the writer, with apimachinery/managed-fields, which has
// the rules. Writes other than apply are recorded between decoding and admission, as upstream.

import { copyJson } from "../../../../apimachinery/copy.ts"
import { apply } from "../../../../apimachinery/managed-fields/apply.ts"
import { type Subject, TypeErrors } from "../../../../apimachinery/managed-fields/configuration.ts"
import { keepLastApplied, kubectl, lastApplied } from "../../../../apimachinery/managed-fields/last-applied.ts"
import { NotOfItsType } from "../../../../apimachinery/managed-fields/list-element.ts"
import {
  entriesOf,
  equalEntries,
  isReset,
  type ManagedFieldsEntry,
  type Managers,
  managersOf,
  parseManagers,
} from "../../../../apimachinery/managed-fields/managers.ts"
import { mergeTypeOf } from "../../../../apimachinery/managed-fields/merge-type.ts"
import { type Change, reconcileManagers, recordingUpdate } from "../../../../apimachinery/managed-fields/ownership.ts"
import {
  type Json,
  type KubeObject,
  parseGroupVersion,
  printGroupVersion,
  timestamp,
} from "../../../../apimachinery/object.ts"
import { writeZeros } from "../../../../apimachinery/schema/decode/decode.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"
import { badRequest, StatusError, unexplained } from "../../../../apimachinery/status.ts"
import { inSteps } from "../../../../apimachinery/steps.ts"
import type { RequestContext } from "../../../request/context.ts"
import { deepFreeze } from "../../../../apimachinery/freeze.ts"
import type { ManagedKind } from "./managed-kind.ts"
import type { WriteOptions } from "../../rest.ts"
import { withNullBytes } from "../empty-bytes.ts"
import { isOfKind, isTyped } from "./typed-change.ts"

const blanks = new WeakMap<Schema, KubeObject>()

/** A new object of the kind in Go. Its fields exist in every object, so they have no manager. */
export function blankOf({
  schema,
  kind,
  group,
  version,
}: Pick<ManagedKind, "schema" | "kind" | "group" | "version">): KubeObject {
  let blank = blanks.get(schema)
  if (blank === undefined) {
    blank = { apiVersion: printGroupVersion({ group, version }), kind, metadata: {} }
    if (schema.custom !== true) writeZeros(schema, blank as unknown as Json)
    blanks.set(schema, deepFreeze(blank))
  }
  return blank
}

type Entries = readonly ManagedFieldsEntry[] | undefined

export function managersIn(object: KubeObject | undefined): Entries {
  return object?.metadata.managedFields as unknown as Entries
}

export function setEntries(object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): void {
  if (entries === undefined || entries.length === 0) delete object.metadata.managedFields
  else object.metadata.managedFields = entries as unknown as { [key: string]: unknown }[]
}

interface Recording extends Pick<WriteOptions, "fieldManager"> {
  /** The current object may not be of its type (ValueReader.isUnchecked). */
  isUnchecked?: boolean
  /** Admission calls out, or evaluates expressions, before the object is validated. */
  isSeen?: boolean
}

/**
 * Records the writer as the manager of the fields in which the object differs from `current` (undefined: it is created). Managers
 * set by the client are used if they are valid, except through a subresource. `pause`: RequestContext.pause.
 */
export async function recordWrite(
  of: ManagedKind,
  object: KubeObject,
  current: KubeObject | undefined,
  { fieldManager, isUnchecked = false, isSeen = false }: Recording,
  pause?: RequestContext["pause"],
): Promise<void> {
  const managers = managersBefore(of, managersIn(object), managersIn(current))
  delete object.metadata.managedFields
  // Managed fields of this object have not been tracked yet, or a client has reset them.
  if (managers.size === 0 && current !== undefined) return
  if (!isOfKind(of, object)) return
  const apiVersion = printGroupVersion(of)
  // Null bytes differ from the empty ones as which they are read.
  const given = { ...withNullBytes(of, object), apiVersion } as unknown as Json
  const change: Change = {
    before: (current ?? blankOf(of)) as unknown as Json,
    after: of.asRead === undefined ? given : await of.asRead(given),
    type: mergeTypeOf(of.schema),
    areStructs: of.schema.custom !== true,
  }
  const changes = await changesByVersion(of, change, managers)
  if (changes === undefined) return
  if (!isTyped(of, change, isUnchecked, isSeen)) return
  const writer = { manager: fieldManager || "unknown", apiVersion, subresource: of.subresource, now: timestamp() }
  try {
    if (of.schema.custom === true) reconcileManagers(managers, (version) => changes.get(version)?.type)
    const recording = recordingUpdate(
      managers,
      writer,
      (version) => changes.get(version),
      (version) => of.reset(version),
    )
    const waiting = inSteps(recording, pause)
    if (waiting !== undefined) await waiting
  } catch (error) {
    // A list whose items cannot be distinguished, or a value of the wrong type: validation reports it later.
    if (error instanceof NotOfItsType) return
    throw error
  }
  setEntries(object, entriesOf(managers))
}

/** The change in all versions in which managers have written. undefined: the managers are dropped. */
async function changesByVersion(
  of: ManagedKind,
  change: Change,
  managers: Managers,
): Promise<ReadonlyMap<string, Change> | undefined> {
  const own = printGroupVersion(of)
  const changes = new Map([[own, change]])
  for (const { apiVersion } of managers.values()) {
    if (changes.has(apiVersion)) continue
    if (!isGroupVersion(apiVersion)) return undefined
    try {
      const type = of.versions.typeIn(apiVersion)
      if (type === undefined) continue
      const [before, after] = await Promise.all([
        of.versions.convert(change.before, own, apiVersion),
        of.versions.convert(change.after, own, apiVersion),
      ])
      changes.set(apiVersion, { ...change, before, after, type })
    } catch (error) {
      // As upstream, a failed conversion does not prevent the write, but the managers are dropped.
      if (error instanceof StatusError || error instanceof TypeErrors) return undefined
      throw error
    }
  }
  return changes
}

/** One with more slashes cannot be read. */
const isGroupVersion = (apiVersion: string): boolean => apiVersion.split("/").length <= 2

/** Clients that omit the managers, because they do not know them, do not remove them. */
function managersBefore({ subresource, schema }: ManagedKind, given: Entries, live: Entries): Managers {
  if (given === undefined || subresource !== "" || given === live) return managersOf(live)
  // Upstream decodes the metadata of custom resources in a way that drops empty lists.
  if (given.length === 0 && schema.custom === true) return managersOf(live)
  if (isReset(given)) return new Map()
  if (live !== undefined && equalEntries(given, live)) return managersOf(live)
  try {
    return parseManagers(given, schema.custom === true)
  } catch (error) {
    if (error instanceof SyntaxError) return managersOf(live)
    throw error
  }
}

/**
 * Managers modified by admission are kept if they are valid. Source:
 * k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager/admission.go.
 */
export function checkAfterAdmission(ctx: RequestContext, object: KubeObject, before: Entries): void {
  const after = managersIn(object)
  if (after === before || after === undefined) return
  try {
    parseManagers(after)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    setEntries(object, before)
    ctx.warn(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${error.message}`,
    )
  }
}

interface ApplyOptions {
  fieldManager: string
  force: boolean
  /** RequestContext.pause. */
  pause: RequestContext["pause"]
}

interface AppliedObject {
  /** Without managers, mutable. Not decoded if it has changed. */
  object: KubeObject
  isChanged: boolean
  managers: readonly ManagedFieldsEntry[] | undefined
}

/** `current`: a mutable copy, or undefined if the configuration creates the object. */
export async function applyConfiguration(
  of: ManagedKind,
  current: KubeObject | undefined,
  configuration: Unchecked,
  { fieldManager, force, pause }: ApplyOptions,
): Promise<AppliedObject> {
  checkKind(of, configuration)
  const blank = blankOf(of)
  const live: KubeObject = current ?? copyJson(blank)
  const managers = managersOf(managersIn(live))
  delete live.metadata.managedFields
  if (managers.size === 0)
    checkReadable(of, "failed to create manager for existing fields: failed to convert live object")
  const apiVersion = printGroupVersion(of)
  try {
    const applied = await apply({
      live: live as unknown as Json,
      blank: blank as unknown as Json,
      managers,
      configuration: configuration as unknown as Json,
      writer: { manager: fieldManager, apiVersion, subresource: of.subresource, now: timestamp() },
      force,
      versions: of.versions,
      reset: (version) => of.reset(version),
      pause,
      excused: fieldManager === kubectl ? () => lastApplied(live, apiVersion, mergeTypeOf(of.schema)) : undefined,
    })
    if (applied.object !== undefined) checkReadable(of, "failed to convert new object", configuration)
    const object = (applied.object ?? live) as unknown as KubeObject
    if (fieldManager === kubectl) keepLastApplied(object, configuration)
    return { object, isChanged: applied.object !== undefined, managers: entriesOf(applied.managers) }
  } catch (error) {
    if (error instanceof TypeErrors)
      throw notOfItsType(of, error.subject === "configuration" ? configuration : live, error)
    throw error
  }
}

/** As received from a client: any field may be missing. */
export type Unchecked = { [Key in "apiVersion" | "kind"]?: string } & { metadata?: KubeObject["metadata"] }

function checkKind({ group, version, kind }: ManagedKind, configuration: Unchecked): void {
  const apiVersion = textOf(configuration.apiVersion)
  const given = textOf(configuration.kind)
  if (apiVersion === printGroupVersion({ group, version }) && given === kind) return
  const asked = isGroupVersion(apiVersion) ? parseGroupVersion(apiVersion) : undefined
  throw badRequest(`invalid object type: ${asked?.group ?? ""}/${asked?.version ?? ""}, Kind=${asked ? given : ""}`)
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** A stored object may conform to an older type, or to none. */
function notOfItsType(of: ManagedKind, object: Unchecked, cause: TypeErrors): StatusError {
  const attempt = cause.subject === "conversion" ? "" : `${attempts[cause.subject](nameOf(of, object))}: `
  return unexplained(`${attempt}${cause.message}`, { cause })
}

function checkReadable(of: ManagedKind, attempt: string, object: Unchecked = {}): void {
  if (of.unreadable !== undefined)
    throw unexplained(`${attempt} ${nameOf(of, object)} to proper version: ${of.unreadable}`)
}

function nameOf({ group, version, kind }: ManagedKind, { metadata }: Unchecked): string {
  return `(${textOf(metadata?.namespace)}/${textOf(metadata?.name)}; ${group}/${version}, Kind=${kind})`
}

const attempts: Readonly<Record<Exclude<Subject, "conversion">, (name: string) => string>> = {
  configuration: (name) => `failed to create typed patch object ${name}`,
  live: (name) => `failed to create typed live object ${name}`,
  unmanaged: (name) =>
    `failed to create manager for existing fields: failed to convert new object ${name} to smd typed`,
}
