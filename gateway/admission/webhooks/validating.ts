// ValidatingAdmissionWebhook: calls all matching webhooks concurrently; any of them may deny the request. Source:
// k8s.io/apiserver/pkg/admission/plugin/webhook/validating.

import { internalError, StatusError, timeout } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import type { AdmissionRegistrations } from "../registrations.ts"
import { CallFailure, callHook, failOpenOrThrow } from "./call.ts"
import { type Hook, hooksOf, type WebhookConfiguration } from "./configuration.ts"
import { isExempt, matchHook } from "./match.ts"
import { type EvaluateMatchConditions, meetsConditions } from "./match-conditions.ts"
import { showAs, type Shown } from "./review.ts"

export class ValidatingWebhooks implements AdmissionPlugin {
  readonly #registrations: AdmissionRegistrations
  readonly #evaluate: EvaluateMatchConditions | undefined

  constructor(registrations: AdmissionRegistrations, evaluate: EvaluateMatchConditions | undefined) {
    this.#registrations = registrations
    this.#evaluate = evaluate
  }

  get isVisible(): boolean {
    return !this.#registrations.isEmpty
  }

  async validate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    const configurations = await this.#registrations.ofKind<WebhookConfiguration>("ValidatingWebhookConfiguration")
    if (configurations.length === 0 || isExempt(attributes)) return
    const calls: { hook: Hook; shown: Shown }[] = []
    const known = new Map<ResourceDefinition, Shown>()
    for (const hook of hooksOf(configurations)) {
      await ctx.pause?.() // a tenant may have a hundred thousand
      const definition = await matchHook(ctx, hook, attributes)
      if (definition === undefined) continue
      const shown = known.get(definition) ?? (await showOrRefuse(ctx, definition, attributes))
      known.set(definition, shown)
      const show = (): Promise<Shown> => Promise.resolve(shown)
      if (await meetsConditions(ctx, hook, attributes, show, this.#evaluate)) calls.push({ hook, shown })
    }
    if (calls.length === 0) return
    if (ctx.signal.aborted) throw timeout("request did not complete within requested timeout")
    // All are awaited before the earliest denial is returned: each may add warnings.
    const began = performance.now()
    const denials: unknown[] = []
    await Promise.all(
      calls.map(({ hook, shown }, index) =>
        callOne(ctx, hook, attributes, shown, `round_0_index_${index}`).catch(
          (error: unknown) => void denials.push(error),
        ),
      ),
    )
    ctx.waited?.(performance.now() - began)
    if (denials.length > 0) throw denials[0]
  }
}

/** Throws InternalError if the objects cannot be converted, whatever the failure policy is. */
async function showOrRefuse(
  ctx: RequestContext,
  definition: ResourceDefinition,
  attributes: AdmissionAttributes,
): Promise<Shown> {
  try {
    return await showAs(ctx, definition, attributes)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internalError(error.message, { cause: error })
  }
}

async function callOne(
  ctx: RequestContext,
  hook: Hook,
  attributes: AdmissionAttributes,
  shown: Shown,
  round: string,
): Promise<void> {
  try {
    await callHook(ctx, hook, attributes, shown, false)
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error
    failOpenOrThrow(ctx, hook, error)
    ctx.annotate?.(`failed-open.validating.webhook.admission.k8s.io/${round}`, hook.webhook.name)
  }
}
