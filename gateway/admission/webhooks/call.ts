// One call of one webhook: sends the review and processes the response. Warnings and audit annotations of the webhook are passed
// on; a denial is thrown as the error for the caller; a failed call is a CallFailure. Source:
// k8s.io/apiserver/pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go.

import { validateQualifiedName } from "../../../apimachinery/names.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { badRequest, internalError, type Status, StatusError, timeout } from "../../../apimachinery/status.ts"
import { callWebhook } from "../../backends/webhook-client.ts"
import { authoritiesOf } from "../../pki/authorities.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import type { Hook } from "./configuration.ts"
import { createReview, faultOf, readReview, type Review, type ReviewAnswer, type Shown } from "./review.ts"

const defaultTimeoutSeconds = 10
const leastErrorCode = 400
/** HTTP has no greater ones. */
const greatestCode = 999

/** The webhook returned no verdict; its failurePolicy decides. */
export class CallFailure extends Error {
  override readonly name = "CallFailure"

  constructor(webhook: string, reason: string, options?: ErrorOptions) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`, options)
  }
}

/** Throws if the request must be rejected, unless the failure policy ignores the failure. */
export async function callHook(
  ctx: RequestContext,
  hook: Hook,
  attributes: AdmissionAttributes,
  shown: Shown,
  mutating: boolean,
): Promise<ReviewAnswer> {
  const { name, failurePolicy } = hook.webhook
  const began = performance.now()
  let rejected = false
  try {
    return await ask(ctx, hook, attributes, shown, mutating)
  } catch (error) {
    rejected = !(error instanceof CallFailure && failurePolicy === "Ignore")
    throw error
  } finally {
    const seconds = (performance.now() - began) / 1000
    ctx.observer?.webhookAnswered(name, mutating ? "admit" : "validate", attributes.operation, rejected, seconds)
    if (mutating) ctx.waited?.(seconds * 1000)
  }
}

async function ask(
  ctx: RequestContext,
  { webhook }: Hook,
  attributes: AdmissionAttributes,
  shown: Shown,
  mutating: boolean,
): Promise<ReviewAnswer> {
  const { name, sideEffects, timeoutSeconds = defaultTimeoutSeconds, admissionReviewVersions = [] } = webhook
  if (attributes.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
  }
  const review = createReview(admissionReviewVersions, ctx.user, attributes, shown)
  if (review === undefined) {
    const detail = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
    throw new CallFailure(name, `could not create admission objects: ${detail}`)
  }
  const { fault } = authoritiesOf(webhook.clientConfig)
  if (fault !== undefined) throw new CallFailure(name, `could not get REST client: ${fault}`)
  const { backends } = ctx.controlPlane
  let answer: Json
  try {
    const leftMs = (ctx.deadline ?? Infinity) - performance.now()
    answer = await callWebhook(backends, webhook.clientConfig, review.body, timeoutSeconds * 1000, ctx.signal, leftMs)
  } catch (error) {
    throw new CallFailure(name, `failed to call webhook: ${(error as Error).message}`, { cause: error })
  }
  const reviewFault = faultOf(answer, review)
  if (reviewFault !== undefined) throw new CallFailure(name, `failed to call webhook: ${reviewFault}`)
  const result = verdict(name, answer, review, mutating)
  for (const [key, value] of Object.entries(result.annotations)) {
    // Upstream drops the others, and says so only in its own log.
    if (validateQualifiedName(`${name}/${key}`).length === 0) ctx.annotate?.(`${name}/${key}`, value)
  }
  for (const warning of result.warnings) ctx.warn(warning)
  if (!result.allowed) throw denied(name, result.status)
  return result
}

function verdict(name: string, answer: Json, review: Review, mutating: boolean): ReviewAnswer {
  try {
    return readReview(answer, review, mutating)
  } catch (error) {
    throw new CallFailure(name, `received invalid webhook response: ${(error as Error).message}`, { cause: error })
  }
}

/** The webhook's own Status, prefixed with its name and never of a success. Source: …/webhook/errors/statuserror.go. */
function denied(name: string, given: Partial<Status> = {}): StatusError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`
  const { metadata = {}, status, message, reason, details, code = 0 } = given
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata,
    status: status === "Success" ? "Failure" : status || "Failure",
    message: message ? `${by}: ${message}` : reason ? `${by}: ${reason}` : `${by} without explanation`,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code: code > greatestCode ? 500 : Math.max(code, leastErrorCode),
  })
}

/** After a failed call: throws unless the failure policy is Ignore. */
export function failOpenOrThrow(ctx: RequestContext, { webhook }: Hook, error: CallFailure): void {
  if (webhook.failurePolicy !== "Ignore") throw internalError(error.message, { cause: error })
  if (ctx.signal.aborted) throw timeout("request did not complete within requested timeout")
}
