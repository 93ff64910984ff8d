// The objects of a request in the version of the webhook that is called next, as mutating webhooks change them one after the other. An
// object stays as a webhook has made it until one of another version is called: only then is it converted. Source:
// VersionedAttributes in k8s.io/apiserver/pkg/admission/conversion.go.

import { copyJson } from "../../../apimachinery/copy.ts"
import { equalJson } from "../../../apimachinery/equality.ts"
import { isTimedNow, type ManagedFieldsEntry } from "../../../apimachinery/managed-fields/managers.ts"
import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { refusalDetail } from "../../../apimachinery/schema/decode/errors.ts"
import { schemaOf } from "../../../apimachinery/schema/facts.ts"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { typeFault } from "../../../apimachinery/schema/json/parse.ts"
import { hasReason, internalError, StatusError, UnconvertedError, unexplained } from "../../../apimachinery/status.ts"
import { convertObject } from "../../registry/conversion/convert.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, DecodeOptions } from "../chain.ts"
import { replaceObject } from "../patched.ts"
import { checkObjectSize } from "../object-size.ts"
import { addCustomDefaults, checkTyped, convertCustom } from "./custom-kind.ts"
import { showAs, type Shown } from "./review.ts"
import { isCustom, isOwnKind, madeVersion, printed } from "./versions.ts"

export class VersionedObjects {
  readonly #ctx: RequestContext
  readonly #attributes: AdmissionAttributes
  #shown: Shown | undefined
  /** What a webhook has made of the shown object, if it is not yet that of the request. */
  #made: Made | undefined

  constructor(ctx: RequestContext, attributes: AdmissionAttributes) {
    this.#ctx = ctx
    this.#attributes = attributes
  }

  /** As selectors see it: like the webhook that was called last. */
  get object(): KubeObject | undefined {
    return this.#shown?.object ?? this.#attributes.object
  }

  /** Throws InternalError if they cannot be converted, whatever the failure policy is. */
  async in(definition: ResourceDefinition): Promise<Shown> {
    if (this.#shown?.definition === definition) return this.#shown
    try {
      const shown = await showAs(this.#ctx, definition, this.#attributes, () => this.#replace())
      // A webhook of another version may have made it one of another kind.
      if (isCustom(this.#attributes) && shown.object !== undefined) shown.object.kind = definition.kind
      this.#shown = shown
      return shown
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      throw internalError(`Internal error occurred: ${error.message}`, { cause: error })
    }
  }

  /** `result`: what a webhook has made of the object that it was shown. Returns whether it is another one. */
  async patch(shown: Shown, object: KubeObject, result: KubeObject, isFirst: boolean): Promise<boolean> {
    if (!isCustom(this.#attributes)) return this.#patchBuiltIn(shown, object, result, isFirst)
    checkTyped(result)
    checkObjectSize(result)
    const made = copyJson(result)
    addCustomDefaults(this.#ctx, shown.definition, made)
    this.#shown = { ...shown, object: made }
    this.#made = { object: made, version: undefined }
    return !equalJson(object as unknown as Json, result as unknown as Json)
  }

  /** Called when no other webhook is called: the object of the request is what they have made of it. */
  async end(): Promise<void> {
    await this.#replace()
  }

  async #replace(): Promise<void> {
    const made = this.#made
    if (made === undefined) return
    const { definition } = this.#attributes
    const next = isCustom(this.#attributes)
      ? await convertCustom(this.#ctx, made.object, definition)
      : await converted(made, definition)
    replaceObject(this.#attributes, next)
    this.#made = undefined
  }

  #patchBuiltIn(shown: Shown, object: KubeObject, result: KubeObject, isFirst: boolean): boolean {
    const attributes = this.#attributes
    const { definition } = shown
    const version = isOwnKind(attributes) ? madeVersion(this.#ctx, definition, result) : undefined
    const made = decoded(attributes, result, { version, isVersioned: true })
    checkObjectSize(made)
    const isOther = result.apiVersion !== object.apiVersion || result.kind !== object.kind
    const changed = isOther || (isFirst && writesManagers(attributes)) || !this.#isSame(definition, object, result)
    this.#shown = { ...shown, object: printed(made, version?.schema ?? schemaOf(attributes.kind)) }
    this.#made = { object: made, version }
    return changed
  }

  /** Without the defaults that they get: to remove one is a change. Both are of the version of `definition`. */
  #isSame(definition: ResourceDefinition, object: KubeObject, result: KubeObject): boolean {
    const attributes = this.#attributes
    const [version, schema] = isOwnKind(attributes)
      ? [definition, definition.schema]
      : [undefined, schemaOf(attributes.kind)]
    const [before, after] = [object, result].map((each) =>
      printed(decoded(attributes, each, { version, lacksDefaults: true }), schema),
    )
    return semanticEqual(before, after)
  }
}

interface Made {
  object: KubeObject
  /** Of an object of a built-in kind; undefined for those of its subresources. */
  version: ResourceDefinition | undefined
}

/** Upstream's error for what cannot be converted has no reason. */
async function converted({ object, version }: Made, definition: ResourceDefinition): Promise<KubeObject> {
  if (version === undefined) return object
  try {
    version.strategy.convert?.(object)
  } catch (error) {
    if (!hasReason(error, "BadRequest")) throw error
    throw unexplained(refusalDetail(error.message), { cause: error })
  }
  return convertObject(object, version, definition)
}

type Entries = readonly ManagedFieldsEntry[] | undefined

/**
 * In upstream's memory the time of a manager that the request records has nanoseconds, until a patch is applied to the printed
 * object. So the first patch always modifies it. Custom resources are kept as printed.
 */
function writesManagers({ object, current, definition }: AdmissionAttributes): boolean {
  if (definition.customResource !== undefined) return false
  const [entries = [], old = []] = [object, current].map((each) => each?.metadata?.managedFields as Entries)
  return entries.some((entry) => isTimedNow(entry) && !old.includes(entry))
}

/** An invalid result of a webhook is not the caller's fault. */
function decoded(attributes: AdmissionAttributes, object: KubeObject, options: DecodeOptions): KubeObject {
  const fault = typeFault(object as unknown as JsonObject)
  if (fault !== undefined) throw internalError(fault)
  try {
    return attributes.decode(structuredClone(object) as unknown as Json, options)
  } catch (error) {
    if (!hasReason(error, "BadRequest", "Invalid")) throw error
    const why = refusalDetail(error.message)
    if (why.endsWith(": unknown conversion")) throw new UnconvertedError(why, { cause: error })
    throw internalError(why, { cause: error })
  }
}
