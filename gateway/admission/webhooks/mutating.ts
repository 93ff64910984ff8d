// MutatingAdmissionWebhook: webhooks are called one after the other, each with the result of the previous ones. Source:
// k8s.io/apiserver/pkg/admission/plugin/webhook/mutating.

import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { applyOperations, rejectionReason } from "../../../apimachinery/patch/json-patch.ts"
import {
  PatchFault,
  type PatchOperation,
  readLenientOperations,
} from "../../../apimachinery/patch/json-patch-operations.ts"
import { parseValue } from "../../../apimachinery/schema/json/parse.ts"
import { internalError, UnconvertedError, unexplained } from "../../../apimachinery/status.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import type { AdmissionRegistrations } from "../registrations.ts"
import { CallFailure, callHook, failOpenOrThrow } from "./call.ts"
import { type Hook, hooksOf, type WebhookConfiguration } from "./configuration.ts"
import { isExempt, matchHook } from "./match.ts"
import { type EvaluateMatchConditions, meetsConditions } from "./match-conditions.ts"
import type { Shown } from "./review.ts"
import { VersionedObjects } from "./versioned.ts"

const pluginName = "MutatingAdmissionWebhook"

/** State from the first run of all plugins to the second. */
interface Invocations {
  /** Webhooks that must be called again if another one modifies the object, until one does. */
  reinvocable: Set<string>
  /** Webhooks of the second run. */
  again: Set<string>
  /** The object after the webhooks of the first run. */
  last: KubeObject | undefined
  /** A patch has been applied. */
  isPatched: boolean
}

/** One of the two runs. */
interface Run {
  attributes: AdmissionAttributes
  objects: VersionedObjects
  invocations: Invocations
}

export class MutatingWebhooks implements AdmissionPlugin {
  readonly #registrations: AdmissionRegistrations
  readonly #evaluate: EvaluateMatchConditions | undefined

  constructor(registrations: AdmissionRegistrations, evaluate: EvaluateMatchConditions | undefined) {
    this.#registrations = registrations
    this.#evaluate = evaluate
  }

  get isVisible(): boolean {
    return !this.#registrations.isEmpty
  }

  async mutate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    const configurations = await this.#registrations.ofKind<WebhookConfiguration>("MutatingWebhookConfiguration")
    if (configurations.length === 0 || isExempt(attributes)) return
    const { reinvocation } = attributes
    const invocations = reinvocation.state<Invocations>(pluginName, () => ({
      reinvocable: new Set(),
      again: new Set(),
      last: undefined,
      isPatched: false,
    }))
    const { isSecond } = reinvocation
    // Built-in plugins have modified the object after the webhooks' first run.
    if (isSecond && !semanticEqual(invocations.last, attributes.object)) askAgain(invocations)
    const objects = new VersionedObjects(ctx, attributes)
    const run: Run = { attributes, objects, invocations }
    for (const [index, hook] of hooksOf(configurations).entries()) {
      await ctx.pause?.() // a tenant may have a hundred thousand
      const definition = await matchHook(ctx, hook, attributes, objects.object)
      if (definition === undefined) continue
      const show = (): Promise<Shown> => objects.in(definition)
      if (!(await meetsConditions(ctx, hook, attributes, show, this.#evaluate))) continue
      if (isSecond && !invocations.again.has(hook.id)) continue
      const round = `round_${isSecond ? 1 : 0}_index_${index}`
      if (await callOne(ctx, hook, run, await show(), round)) {
        askAgain(invocations)
        reinvocation.want()
      }
      if (hook.webhook.reinvocationPolicy === "IfNeeded") invocations.reinvocable.add(hook.id)
    }
    await objects.end()
    invocations.last = structuredClone(attributes.object)
  }
}

function askAgain(invocations: Invocations): void {
  for (const id of invocations.reinvocable) invocations.again.add(id)
  invocations.reinvocable.clear()
}

/** Returns true if the object was modified. */
async function callOne(ctx: RequestContext, hook: Hook, run: Run, shown: Shown, round: string): Promise<boolean> {
  const { name } = hook.webhook
  const report = { configuration: hook.configuration, webhook: name }
  let mutated = false
  try {
    mutated = await callAndPatch(ctx, hook, run, shown)
  } catch (error) {
    if (error instanceof UnconvertedError) {
      mutated = true // upstream finds it when all webhooks have been called
      throw unexplained(error.message, { cause: error })
    }
    if (!(error instanceof CallFailure)) throw error
    failOpenOrThrow(ctx, hook, error)
    ctx.annotate?.(`failed-open.mutation.webhook.admission.k8s.io/${round}`, name)
  } finally {
    ctx.annotate?.(`mutation.webhook.admission.k8s.io/${round}`, JSON.stringify({ ...report, mutated }))
  }
  return mutated
}

async function callAndPatch(
  ctx: RequestContext,
  hook: Hook,
  { attributes, objects, invocations }: Run,
  shown: Shown,
): Promise<boolean> {
  const { patch, patchType } = await callHook(ctx, hook, attributes, shown, true)
  const operations = readPatch(hook, patch)
  if (operations.length === 0) return false
  const { object } = shown
  if (object === undefined) {
    const name = JSON.stringify(hook.webhook.name)
    throw internalError(
      `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
    )
  }
  if (patchType !== "JSONPatch") {
    throw new CallFailure(hook.webhook.name, `unsupported patch type ${JSON.stringify(patchType)}`)
  }
  const changed = await objects.patch(shown, object, applied(object, operations), !invocations.isPatched)
  invocations.isPatched = true
  return changed
}

function readPatch({ webhook }: Hook, text: Buffer): PatchOperation[] {
  if (text.length === 0) return []
  try {
    return readLenientOperations(parseValue(text))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof PatchFault)) throw error
    const why = `received undecodable patch in webhook response: ${error.message}`
    throw new CallFailure(webhook.name, why, { cause: error })
  }
}

function applied(object: KubeObject, operations: readonly PatchOperation[]): KubeObject {
  try {
    return applyOperations(object as unknown as Json, operations, true) as unknown as KubeObject
  } catch (error) {
    // The error for a caller's own patch is less detailed.
    throw internalError(rejectionReason(error as Error), { cause: error })
  }
}
