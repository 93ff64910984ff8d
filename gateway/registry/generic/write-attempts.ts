// One attempt at a create or update, step by step: record managedFields, mutate, prepare, validate, canonicalize, admit, store. If
// another write commits first, the attempt returns undefined, and store.ts starts again with the new current object.

import type { FieldError } from "../../../apimachinery/field-errors.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { isLong } from "../../../apimachinery/schema/large-values.ts"
import { writeScalarZeros } from "../../../apimachinery/schema/zeros.ts"
import { internalError, isAlreadyExists, notFound } from "../../../apimachinery/status.ts"
import { inSteps } from "../../../apimachinery/steps.ts"
import { validateWithinBudget } from "../../../apimachinery/validation-budget.ts"
import type { KeyValue } from "../../../storage/types.ts"
import type { RequestContext } from "../../request/context.ts"
import type { Claim } from "../claim.ts"
import { keepUnwritten, noteOrigin, noteWritten } from "../conversion/convert.ts"
import { checkIdentity, checkVersion, refuseInvalid, sentRevision, uidConflict } from "./checks.ts"
import type { DeleteAttempts } from "./delete-attempts.ts"
import { changesEmptyBytes, keepEmptyBytes } from "./empty-bytes.ts"
import { endsDeletion } from "./deletion.ts"
import { checkAfterAdmission, managersIn, recordWrite } from "./managed-fields/field-management.ts"
import { managedKind } from "./managed-fields/managed-kind.ts"
import {
  asCompared,
  isUnchanged,
  prepareForCreate,
  prepareForUpdate,
  validateForCreate,
  validateForUpdate,
  validatingForCreate,
  validatingForUpdate,
} from "./default-strategy.ts"
import { fillSystemFields, keepSystemFields, placeInNamespace, refuseRevision } from "./metadata.ts"
import { nameTaken } from "./name-taken.ts"
import { dropRepeatedOwners } from "./owner-references.ts"
import { settle } from "./settle.ts"
import type { ObjectStorage } from "./storage/object-storage.ts"
import type { AdmitFunctions, ResourceDefinition, WriteOptions } from "../rest.ts"
import { ComputedValue, type KubeValue } from "./storage/value.ts"
import type { ValueReader } from "./storage/value-reader.ts"
import { validateInTurns } from "./validate-in-turns.ts"
import { begin, warn } from "./warnings.ts"

export type Change = (current: KubeObject | undefined) => KubeObject | Promise<KubeObject>

export class WriteAttempts {
  readonly #definition: ResourceDefinition
  readonly #reader: ValueReader
  readonly #storage: ObjectStorage
  readonly #deletes: DeleteAttempts

  constructor(definition: ResourceDefinition, reader: ValueReader, storage: ObjectStorage, deletes: DeleteAttempts) {
    this.#definition = definition
    this.#reader = reader
    this.#storage = storage
    this.#deletes = deletes
  }

  /** Runs once before create(), however many generated names are tried. */
  async admitNew(ctx: RequestContext, object: KubeObject, options: WriteOptions, admit: AdmitFunctions): Promise<void> {
    await this.#record(ctx, object, undefined, options)
    await this.#mutate(ctx, object, undefined, admit)
  }

  async create(
    ctx: RequestContext,
    object: KubeObject,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeValue> {
    const definition = this.#definition
    fillSystemFields(definition, object)
    prepareForCreate(ctx, definition, object)
    await ctx.pause?.()
    const errors =
      isLong(object) || definition.strategy.compiles
        ? await validateInTurns(ctx, definition, object, validatingForCreate(ctx, definition, object))
        : validateWithinBudget(() => validateForCreate(ctx, definition, object))
    await this.#refuseInvalid(ctx, object, undefined, errors)
    await ctx.pause?.()
    const { key, claim } = await this.#admitted(ctx, object, options, admit)
    if (options.dryRun) return this.#dry(ctx, object)
    const value = await this.#storage.put(ctx, key, object, 0, claim)
    if (value === undefined) throw await nameTaken(definition, this.#reader, await this.#existing(ctx, key), object)
    return this.#reader.shown(value)
  }

  /** The new object is as it will be stored, and what it needs outside the store is claimed. */
  async #admitted(
    ctx: RequestContext,
    object: KubeObject,
    { dryRun }: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<{ key: string; claim: Claim | undefined }> {
    const { strategy } = this.#definition
    if (dryRun) await strategy.preview?.(ctx, object, undefined)
    const allocated = dryRun ? undefined : await strategy.allocate?.(ctx, object)
    try {
      const takeBack = warn(ctx, strategy, object, undefined)
      strategy.canonicalize?.(object)
      await admit.validate(object, undefined)
      await ctx.pause?.()
      const { namespace = "", name = "" } = object.metadata
      const key = this.#storage.key(namespace, name)
      // In a dry run upstream refuses it before it converts the object.
      const existing = dryRun ? await this.#existing(ctx, key) : undefined
      if (existing !== undefined) throw await nameTaken(this.#definition, this.#reader, existing, object)
      if (!dryRun) refuseRevision(object)
      const settling = settle(ctx, this.#definition, object)
      if (settling !== undefined) await settling
      if (dryRun) return { key, claim: undefined }
      delete object.metadata.selfLink
      return { key, claim: allocated ?? (await begin(ctx, strategy, object, undefined, takeBack)) }
    } catch (error) {
      await allocated?.rollback()
      throw error
    }
  }

  /** undefined: another write committed first; try again. */
  async createOnUpdate(
    ctx: RequestContext,
    namespace: string,
    name: string,
    change: Change,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeValue | undefined> {
    if (!this.#definition.strategy.allowCreateOnUpdate && options.mayCreate !== true)
      throw notFound(this.#definition, name)
    const object = await change(undefined)
    const { uid } = object.metadata
    sentRevision(object)
    if (uid) throw uidConflict(this.#definition, name, uid, "")
    const dropRevision = (): void => {
      if (!options.dryRun) delete object.metadata.resourceVersion
    }
    dropRevision()
    object.metadata.name ??= name
    placeInNamespace(this.#definition, namespace, object)
    await this.#record(ctx, object, undefined, options)
    try {
      await this.#mutate(ctx, object, undefined, admit)
      sentRevision(object) // admission may have given it one
      dropRevision()
      // Names are generated for what is posted alone.
      if (!object.metadata.name && object.metadata.generateName) throw internalError("metadata.name was not generated")
      return await this.create(ctx, object, options, admit)
    } catch (error) {
      if (isAlreadyExists(error) && error.status.details?.name === name && !options.dryRun) return undefined
      throw error
    }
  }

  /** undefined: the object has changed meanwhile; try again. */
  async update(
    ctx: RequestContext,
    stored: KeyValue,
    change: Change,
    options: WriteOptions,
    admit: AdmitFunctions,
  ): Promise<KubeValue | undefined> {
    const definition = this.#definition
    const before = await this.#reader.whole(stored)
    const current = before.object()
    noteOrigin(definition, current, () => this.#reader.unconverted(stored))
    await ctx.pause?.()
    const given = options.readsCurrent === true ? current : before.copy()
    await ctx.pause?.()
    const object = await change(given)
    if (object === given) keepEmptyBytes(definition, object, current)
    await ctx.pause?.()
    await this.#record(ctx, object, current, options, this.#reader.isUnchecked(stored))
    checkIdentity(definition, object, current, options)
    await this.#mutate(ctx, object, current, admit)
    checkVersion(definition, object, current)
    placeInNamespace(definition, current.metadata.namespace ?? "", object)
    writeScalarZeros(definition.schema, object as unknown as Json)
    prepareForUpdate(ctx, definition, object, current, options.subresource)
    keepSystemFields(object, current)
    const compared = asCompared(definition, object, current)
    await ctx.pause?.()
    const errors = definition.strategy.validatingUpdate
      ? await validateInTurns(ctx, definition, object, validatingForUpdate(ctx, definition, object, compared))
      : validateWithinBudget(() => validateForUpdate(ctx, definition, object, compared))
    await this.#refuseInvalid(ctx, object, compared, errors)
    await ctx.pause?.()
    if (options.dryRun) await definition.strategy.preview?.(ctx, object, current)
    const takeBack = warn(ctx, definition.strategy, object, compared)
    definition.strategy.canonicalize?.(object)
    await noteWritten(definition, object, current, options.subresource)
    await admit.validate(object, current)
    await ctx.pause?.()
    const isLast = endsDeletion(definition, object, current)
    const settling = settle(ctx, definition, object, !isLast)
    if (settling !== undefined) await settling
    // It is removed when an object is stored, so it remains in dry runs and in objects that are deleted.
    const keepsLink = options.dryRun === true || isLast
    if (!keepsLink) delete object.metadata.selfLink
    if (isLast) return this.#finish(ctx, stored, object, options)
    return this.#replace(ctx, stored, before, object, options, takeBack)
  }

  /** Writes what differs from `before`. undefined: the object has changed meanwhile. */
  async #replace(
    ctx: RequestContext,
    stored: KeyValue,
    before: KubeValue,
    object: KubeObject,
    options: WriteOptions,
    takeBack: (() => void) | undefined,
  ): Promise<KubeValue | undefined> {
    const definition = this.#definition
    const current = before.object()
    const answered = (value: KubeValue): KubeValue =>
      options.subresource === "status" ? value : this.#reader.shown(value)
    const converted = await this.#storage.converted(object)
    if (converted !== undefined && definition.conversion !== undefined)
      keepUnwritten(definition, converted, this.#reader.unconverted(stored), options.subresource)
    // Compared as they are stored: different objects of one version may be the same in another, and the other way around.
    const isSame = isUnchanged(converted ?? object, converted ? this.#reader.unconverted(stored) : current)
    const hasOtherBytes = converted === undefined && changesEmptyBytes(definition, object, current)
    const isStoredOtherwise = hasOtherBytes || this.#storage.storesUnread(object, converted)
    if (isSame && !isStoredOtherwise && !this.#reader.isOutdated(stored, converted)) return answered(before)
    if (options.dryRun) return this.#dry(ctx, object, converted)
    const claim = await begin(ctx, definition.strategy, object, current, takeBack)
    const value = await this.#storage.put(ctx, stored.key, object, stored.modRevision, claim, converted)
    return value && answered(value)
  }

  /** What it answers if nothing is written. */
  async #dry({ pause }: RequestContext, object: KubeObject, converted?: KubeObject): Promise<KubeValue> {
    return inSteps(new ComputedValue(await this.#storage.asRead(object, converted)).encoding(), pause)
  }

  /** Nothing prevents the removal of the object any more. */
  async #finish(
    ctx: RequestContext,
    stored: KeyValue,
    object: KubeObject,
    { dryRun }: WriteOptions,
  ): Promise<KubeValue | undefined> {
    if (!dryRun && (await this.#deletes.remove(ctx, stored, object)) === undefined) return undefined
    return new ComputedValue(object)
  }

  /** Records the manager of the changed fields, unless that is already recorded. */
  async #record(
    ctx: RequestContext,
    object: KubeObject,
    current: KubeObject | undefined,
    { subresource, fieldManager, managersKnown = false }: WriteOptions,
    isUnchecked = false,
  ): Promise<void> {
    if (managersKnown) return
    const of = managedKind(ctx, this.#definition, subresource)
    const isSeen = this.#definition.customResource !== undefined && ctx.controlPlane.admission.isVisible
    await recordWrite(of, object, current, { fieldManager, isUnchecked, isSeen }, ctx.pause)
    await ctx.pause?.()
  }

  async #mutate(
    ctx: RequestContext,
    object: KubeObject,
    current: KubeObject | undefined,
    admit: AdmitFunctions,
  ): Promise<void> {
    const before = managersIn(object)
    const { namespace = "" } = object.metadata
    await admit.mutate(object, current)
    dropRepeatedOwners(ctx, object, "admitted")
    await ctx.pause?.()
    checkAfterAdmission(ctx, object, before)
    // The request was authorized for that namespace. An update compares it with the stored object's.
    if (current === undefined) placeInNamespace(this.#definition, namespace, object)
    await this.#definition.strategy.confirm?.(ctx, object, current)
  }

  async #refuseInvalid(
    ctx: RequestContext,
    object: KubeObject,
    current: KubeObject | undefined,
    errors: FieldError[],
  ): Promise<void> {
    const { strategy } = this.#definition
    const refused = strategy.refuse === undefined ? [] : await strategy.refuse(ctx, object, current)
    const further = await strategy.validateFurther?.(ctx, object, current, errors)
    refuseInvalid(this.#definition, object, [...refused, ...errors, ...(further ?? [])])
  }

  /** What has the name of a new object. */
  #existing(ctx: RequestContext, key: string): Promise<KeyValue | undefined> {
    return this.#storage.read(ctx.controlPlane.store, key, "create")
  }
}
