// One attempt at a delete: decide what happens to the object (deletion.ts), admit, mark or remove it. If another write commits first,
// the attempt returns undefined, and store.ts starts again with the new current object.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { atRevision } from "../../../storage/transaction.ts"
import type { KeyValue } from "../../../storage/types.ts"
import type { AdmitFunctions, DeleteRequest, Deletion, ResourceDefinition } from "../rest.ts"
import type { RequestContext } from "../../request/context.ts"
import { noteOrigin } from "../conversion/convert.ts"
import { blankObject } from "./blank.ts"
import { revisionConflict } from "./checks.ts"
import { isUnchanged } from "./default-strategy.ts"
import { nextDeletionStep } from "./deletion.ts"
import { keepEmptyBytes } from "./empty-bytes.ts"
import type { ObjectStorage } from "./storage/object-storage.ts"
import { ComputedValue } from "./storage/value.ts"
import type { ValueReader } from "./storage/value-reader.ts"

/** Attempts for an object that is being deleted while others write to it. */
const maxRemovals = 16

export class DeleteAttempts {
  readonly #definition: ResourceDefinition
  readonly #reader: ValueReader
  readonly #storage: ObjectStorage

  constructor(definition: ResourceDefinition, reader: ValueReader, storage: ObjectStorage) {
    this.#definition = definition
    this.#reader = reader
    this.#storage = storage
  }

  /** undefined: the object has changed meanwhile; try again. */
  async delete(
    ctx: RequestContext,
    stored: KeyValue,
    request: DeleteRequest,
    admit: AdmitFunctions,
  ): Promise<Deletion | undefined> {
    const before = await this.#reader.whole(stored)
    const current = before.object()
    noteOrigin(this.#definition, current, () => this.#reader.unconverted(stored))
    const copy = before.copy()
    keepEmptyBytes(this.#definition, copy, current)
    const next = nextDeletionStep(this.#definition, copy, request, Date.now())
    // What is wrong with its grace period is corrected in the answer alone.
    const isCorrected = copy.metadata.deletionGracePeriodSeconds !== current.metadata.deletionGracePeriodSeconds
    if (next.step === "wait") return { gone: false, value: isCorrected ? new ComputedValue(copy) : before }
    const { graceSeconds } = next
    const granted = graceSeconds === undefined ? request : { ...request, gracePeriodSeconds: graceSeconds }
    await admit.validate(undefined, current, granted)
    if (next.step === "remove") {
      if (request.dryRun) return this.#dry(next)
      if (next.released) {
        this.#refuseReleased(current, request)
        await admit.validate(undefined, current, granted)
      }
      // As upstream, admission is asked again about the marked object.
      const validateMarked = (revision: number): Promise<void> => {
        const marked = { ...copy, metadata: { ...copy.metadata, resourceVersion: String(revision) } }
        return admit.validate(undefined, marked, granted)
      }
      const revision = next.marked
        ? await this.#markAndRemove(ctx, stored, copy, current, validateMarked)
        : await this.remove(ctx, stored, current)
      if (revision === undefined) return undefined
      next.object.metadata.resourceVersion = String(revision)
      return { gone: true, value: new ComputedValue(next.object) }
    }
    if (isUnchanged(copy, current)) return { gone: false, value: before }
    if (request.dryRun) return { gone: false, value: new ComputedValue(copy) }
    const value = await this.#storage.put(ctx, stored.key, copy, stored.modRevision, undefined)
    return value && { gone: false, value }
  }

  /** As upstream, which has begun an update that takes the last finalizer: its answer is what it would have written, nothing. */
  #dry({ object, released }: { object: KubeObject; released: boolean }): Deletion {
    if (!released) return { gone: true, value: new ComputedValue(object) }
    return { gone: true, isBlank: true, value: new ComputedValue(blankObject(this.#definition)) }
  }

  /** As upstream, which then expects the version of what it would have written, nothing. */
  #refuseReleased({ metadata }: KubeObject, { preconditions }: DeleteRequest): void {
    if (preconditions?.resourceVersion === undefined) return
    throw revisionConflict(this.#definition, metadata.name ?? "", "", metadata.resourceVersion ?? "")
  }

  /**
   * An object with a grace period is first marked as terminating, even if the period is 0, so that watches see it. Then it is removed,
   * even if it is modified meanwhile: a watcher may write or remove it first, and a new object of the same name may exist by then.
   * undefined: the object changed before, or too often since.
   */
  async #markAndRemove(
    ctx: RequestContext,
    stored: KeyValue,
    marked: KubeObject,
    current: KubeObject,
    validateMarked: (revision: number) => Promise<void>,
  ): Promise<number | undefined> {
    const { key, createRevision } = stored
    const value = await this.#storage.put(ctx, key, marked, stored.modRevision, undefined)
    if (value === undefined) return undefined
    await validateMarked(value.revision)
    let last: KeyValue | undefined = atRevision(stored, value.revision)
    for (let attempt = 1; attempt <= maxRemovals; attempt++) {
      const revision = await this.remove(ctx, last, current)
      if (revision !== undefined) return revision
      last = await this.#storage.read(ctx.controlPlane.store, key, "delete")
      if (last?.createRevision !== createRevision) return value.revision
    }
    return undefined
  }

  /** Returns the revision. undefined: the object has changed meanwhile. */
  async remove(ctx: RequestContext, stored: KeyValue, object: KubeObject): Promise<number | undefined> {
    const revision = await this.#storage.remove(ctx.controlPlane.store, stored)
    if (revision !== undefined) await this.#definition.strategy.afterDelete?.(ctx, object)
    return revision
  }
}
