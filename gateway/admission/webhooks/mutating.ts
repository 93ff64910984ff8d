// MutatingAdmissionWebhook: webhooks are called one after the other, each with the result of the previous ones. Source:
// k8s.io/apiserver/pkg/admission/plugin/webhook/mutating.

import type { Json, KubeObject } from "../../../apimachinery/object.ts"
import { applyJsonPatch, rejectionReason } from "../../../apimachinery/patch/json-patch.ts"
import { parseExactly } from "../../../apimachinery/schema/exact-integers.ts"
import { badRequest, hasReason, internalError } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { RequestContext } from "../../request/context.ts"
import { type AdmissionAttributes, type AdmissionPlugin, replaceObject } from "../chain.ts"
import type { AdmissionRegistrations } from "../registrations.ts"
import { CallFailure, callHook, failOpenOrThrow } from "./call.ts"
import { type Hook, hooksOf, type WebhookConfiguration } from "./configuration.ts"
import { isExempt, matchHook } from "./match.ts"
import { isOwnKind } from "./review.ts"
import { type EvaluateMatchConditions, meetsConditions } from "./match-conditions.ts"
import { convertObject } from "./versions.ts"
import { refusalDetail } from "../../../apimachinery/schema/decode/errors.ts"

const pluginName = "MutatingAdmissionWebhook"

/** State from the first run of all plugins to the second. */
interface Invocations {
  /** Webhooks that must be called again if another one modifies the object, until one does. */
  reinvocable: Set<string>
  /** Webhooks of the second run. */
  again: Set<string>
  /** The object after the webhooks of the first run. */
  last: KubeObject | undefined
}

export class MutatingWebhooks implements AdmissionPlugin {
  readonly name = pluginName
  readonly #registrations: AdmissionRegistrations
  readonly #evaluate: EvaluateMatchConditions | undefined

  constructor(registrations: AdmissionRegistrations, evaluate: EvaluateMatchConditions | undefined) {
    this.#registrations = registrations
    this.#evaluate = evaluate
  }

  concerns(): boolean {
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
    }))
    const { isSecond } = reinvocation
    // Built-in plugins have modified the object after the webhooks' first run.
    if (isSecond && !semanticEqual(invocations.last, attributes.object)) askAgain(invocations)
    for (const [index, hook] of hooksOf(configurations).entries()) {
      const definition = await matchHook(ctx, hook, attributes)
      if (definition === undefined) continue
      if (!(await meetsConditions(ctx, hook, attributes, this.#evaluate))) continue
      if (isSecond && !invocations.again.has(hook.id)) continue
      const round = `round_${isSecond ? 1 : 0}_index_${index}`
      if (await callOne(ctx, hook, attributes, definition, round)) {
        askAgain(invocations)
        reinvocation.want()
      }
      if (hook.webhook.reinvocationPolicy === "IfNeeded") invocations.reinvocable.add(hook.id)
    }
    invocations.last = structuredClone(attributes.object)
  }
}

function askAgain(invocations: Invocations): void {
  for (const id of invocations.reinvocable) invocations.again.add(id)
  invocations.reinvocable.clear()
}

/** Returns true if the object was modified. */
async function callOne(
  ctx: RequestContext,
  hook: Hook,
  attributes: AdmissionAttributes,
  definition: ResourceDefinition,
  round: string,
): Promise<boolean> {
  const { name } = hook.webhook
  const report = { configuration: hook.configuration, webhook: name }
  let mutated = false
  try {
    mutated = await callAndPatch(ctx, hook, attributes, definition)
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error
    failOpenOrThrow(ctx, hook, error)
    ctx.annotate?.(`failed-open.mutation.webhook.admission.k8s.io/${round}`, name)
  }
  ctx.annotate?.(`mutation.webhook.admission.k8s.io/${round}`, JSON.stringify({ ...report, mutated }))
  return mutated
}

async function callAndPatch(
  ctx: RequestContext,
  hook: Hook,
  attributes: AdmissionAttributes,
  definition: ResourceDefinition,
): Promise<boolean> {
  const own = isOwnKind(attributes)
  const convert = async (object: KubeObject | undefined): Promise<KubeObject | undefined> =>
    object === undefined || !own ? object : convertObject(object, attributes.definition, definition)
  const shown = { definition, object: await convert(attributes.object), current: await convert(attributes.current) }
  const { patch, patchType } = await callHook(ctx, hook, attributes, shown, true)
  const operations = readPatch(hook, patch)
  if (operations.length === 0) return false
  const { object } = shown
  if (object === undefined || attributes.operation === "CONNECT") {
    const name = JSON.stringify(hook.webhook.name)
    throw internalError(
      `admission webhook ${name} attempted to modify the object, which is not supported for this operation`,
    )
  }
  if (patchType !== "JSONPatch") {
    throw new CallFailure(hook.webhook.name, `unsupported patch type ${JSON.stringify(patchType)}`)
  }
  const patched = applied(object, operations)
  if (semanticEqual(patched, object)) return false
  const back = own ? await convertObject(patched, definition, attributes.definition) : patched
  const next = decoded(attributes, back)
  keepIdentity(attributes, next)
  replaceObject(attributes, next)
  return true
}

/** The request was authorized for that namespace, and the server has assigned the identity. */
function keepIdentity({ object, operation, definition }: AdmissionAttributes, next: KubeObject): void {
  const { namespace, uid, creationTimestamp } = object?.metadata ?? {}
  if (definition.namespaced && !next.metadata.namespace && namespace) next.metadata.namespace = namespace
  if (definition.namespaced && (next.metadata.namespace ?? "") !== (namespace ?? "")) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request")
  }
  if (operation !== "CREATE") return
  if (uid !== undefined) next.metadata.uid = uid
  if (creationTimestamp !== undefined) next.metadata.creationTimestamp = creationTimestamp
}

/** An invalid result of a webhook is not the caller's fault. */
function decoded(attributes: AdmissionAttributes, object: KubeObject): KubeObject {
  try {
    return attributes.decode(structuredClone(object) as unknown as Json)
  } catch (error) {
    if (!hasReason(error, "BadRequest", "Invalid")) throw error
    throw internalError(refusalDetail(error.message), {
      cause: error,
    })
  }
}

function readPatch({ webhook }: Hook, text: string): Json[] {
  if (text === "") return []
  const undecodable = (why: string, cause?: unknown): CallFailure =>
    new CallFailure(webhook.name, `received undecodable patch in webhook response: ${why}`, { cause })
  let patch: Json
  try {
    patch = parseExactly(text)
  } catch (error) {
    throw undecodable((error as Error).message, error)
  }
  if (patch === null) return []
  if (!Array.isArray(patch)) throw undecodable("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
  return patch
}

function applied(object: KubeObject, operations: Json[]): KubeObject {
  try {
    return applyJsonPatch(object as unknown as Json, operations) as unknown as KubeObject
  } catch (error) {
    // The error for a caller's own patch is less detailed.
    throw internalError(rejectionReason(error as Error), { cause: error })
  }
}
