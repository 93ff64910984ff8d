// ValidatingAdmissionPolicy. Every policy is evaluated before the first denial is returned, since others may add warnings or audit
// annotations. Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating.

import { trimSpace } from "../../../apimachinery/texts.ts"
import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { Value } from "../../../apimachinery/cel/values.ts"
import { usableMessage } from "../../../apimachinery/cel/rules/validator.ts"
import type { CompiledPolicy } from "../../../apimachinery/cel/admission/compile.ts"
import type { PolicyBinding, PolicySpec } from "../../../apimachinery/cel/admission/policy.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { restated, type StatusError } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { refuse } from "../plugins/refuse.ts"
import type { AdmissionRegistrations } from "../registrations.ts"
import { ConditionsFault, meetsAll } from "./conditions.ts"
import { Evaluation, type Outcome, OutOfBudget } from "./evaluation.ts"
import { type PolicyHook, PolicyHooks } from "./hooks.ts"
import { PolicyInput } from "./input.ts"
import { isBeyondPolicies, matchResources } from "./match.ts"
import { collectParams, ConfigurationFault, paramRegistry } from "./params.ts"
import { takeTurn } from "../../request/awaited.ts"
import { namespaceOf } from "../webhooks/match.ts"

interface Denial {
  message: string
  reason: string
  policy: string
  binding: string | undefined
}

/** A failed validation. */
interface Finding {
  index: number
  message: string
  reason: string
}

/** Maximum length of an audit annotation; longer ones are truncated. */
const maxAnnotation = 10 * 1024
/** Different values of one annotation: there may be one for each of any number of params. */
const maxValues = 128
const codes: Readonly<Record<string, number>> = dictionary({
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
})

export class ValidatingPolicies implements AdmissionPlugin {
  readonly #hooks: PolicyHooks

  constructor(registrations: AdmissionRegistrations) {
    this.#hooks = new PolicyHooks(registrations, {
      policy: "ValidatingAdmissionPolicy",
      binding: "ValidatingAdmissionPolicyBinding",
    })
  }

  get isVisible(): boolean {
    return !this.#hooks.isEmpty
  }

  async validate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    const hooks = await this.#hooks.current()
    if (hooks.length === 0 || isBeyondPolicies(attributes)) return
    const input = new PolicyInput(ctx, attributes)
    let first: Denial | undefined
    for (const hook of hooks) {
      const denial = await askPolicy(input, hook)
      first ??= denial
    }
    if (first !== undefined) throw denied(attributes, first)
  }
}

function denied(attributes: AdmissionAttributes, { policy, binding, message, reason }: Denial): StatusError {
  const by = binding === undefined ? "" : ` with binding '${binding}'`
  const detail = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`
  const error = refuse(attributes, detail)
  return restated(error, {
    reason,
    code: codes[reason] ?? 422,
    details: { ...error.status.details, causes: [{ message: detail }] },
  })
}

/** Returns the first denial; the others may warn as well. */
async function askPolicy(input: PolicyInput, hook: PolicyHook): Promise<Denial | undefined> {
  const { ctx, attributes } = input
  const { name, spec, bindings } = hook
  const misconfigured = (error: unknown, binding: string | undefined): Denial | undefined => {
    if (!(error instanceof ConfigurationFault)) throw error
    const what = binding === undefined ? "policy" : "binding"
    const message = `failed to configure ${what}: ${error.message}`
    return spec.failurePolicy === "Ignore" ? undefined : { message, reason: "Invalid", policy: name, binding }
  }
  await ctx.pause?.()
  const definition = await matchResources(ctx, spec.matchConstraints ?? {}, attributes)
  if (definition === undefined) return undefined
  let first: Denial | undefined
  const annotations = new Map<string, Set<string>>()
  try {
    const registry = spec.paramKind === undefined ? undefined : paramRegistry(ctx, spec.paramKind)
    for (const binding of bindings) {
      await ctx.pause?.() // a tenant may have a hundred thousand
      const { name: bindingName = "" } = binding.metadata
      try {
        const { matchResources: narrowed, paramRef } = binding.spec ?? {}
        if (narrowed !== undefined && (await matchResources(ctx, narrowed, attributes)) === undefined) continue
        for (const params of await collectParams(ctx, registry, paramRef, namespaceOf(attributes))) {
          await takeTurn(ctx)
          const fault = await input.conversionFault(definition)
          if (fault !== undefined) throw new ConfigurationFault(`failed to convert object version: ${fault}`)
          const [denial] = await askBinding(input, hook, binding, definition, params, annotations)
          first ??= denial
        }
      } catch (error) {
        const fault = misconfigured(error, bindingName)
        first ??= fault
      }
    }
  } catch (error) {
    const fault = misconfigured(error, undefined)
    first ??= fault
  }
  for (const [key, values] of annotations) ctx.annotate?.(`${name}/${key}`, [...values].join(", "))
  return first
}

/** Adds the warnings and audit annotations of the binding, and returns its denials. */
async function askBinding(
  input: PolicyInput,
  hook: PolicyHook,
  binding: PolicyBinding,
  definition: ResourceDefinition,
  params: KubeObject | undefined,
  annotations: Map<string, Set<string>>,
): Promise<Denial[]> {
  const { ctx } = input
  const { name: policy } = hook
  const { name: bindingName = "" } = binding.metadata
  const actions = binding.spec?.validationActions ?? []
  const { findings, faults } = await evaluate(input, hook, definition, params, annotations)
  const denials: Denial[] = []
  for (const { index, message, reason } of findings) {
    for (const action of actions) {
      if (action === "Deny") denials.push({ message, reason, policy, binding: bindingName })
      else if (action === "Warn") {
        ctx.warn(
          `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${bindingName}': ${message}`,
        )
      } else if (action === "Audit") {
        const failure = {
          message,
          policy: binding.spec?.policyName ?? "",
          binding: bindingName,
          expressionIndex: index,
          validationActions: actions,
        }
        ctx.annotate?.("validation.policy.admission.k8s.io/validation_failure", JSON.stringify([failure]))
      }
    }
  }
  return [...denials, ...faults.map((message) => ({ message, reason: "Invalid", policy, binding: bindingName }))]
}

interface Findings {
  findings: Finding[]
  /** Errors of audit annotations, which deny the request regardless of the binding's actions. */
  faults: string[]
}

const nothing: Findings = { findings: [], faults: [] }

async function evaluate(
  input: PolicyInput,
  hook: PolicyHook,
  definition: ResourceDefinition,
  params: KubeObject | undefined,
  annotations: Map<string, Set<string>>,
): Promise<Findings> {
  const { spec } = hook
  const compiled = await hook.compiled(input.ctx)
  const failsOpen = spec.failurePolicy === "Ignore"
  const failed = (message: string): Findings =>
    failsOpen ? nothing : { findings: [{ index: 0, message, reason: "Invalid" }], faults: [] }
  const start = (budget?: number): Promise<Evaluation> =>
    Evaluation.of(input, definition, compiled.variables, params, budget)
  try {
    const { matchConditions, variables } = compiled
    if (matchConditions.length > 0) {
      const evaluation = await Evaluation.ofConditions(input, definition, variables, params)
      if (!(await meetsAll(evaluation, matchConditions))) return nothing
    }
  } catch (error) {
    if (error instanceof ConditionsFault || error instanceof OutOfBudget) return failed(error.message)
    throw error
  }
  try {
    const evaluation = await start()
    const outcomes: Outcome[] = []
    for (const expression of compiled.validations) outcomes.push(await evaluation.run(expression))
    const messages = await messagesOf((await start(evaluation.budget)).withoutAuthorizer(), compiled)
    const findings = outcomes.flatMap((outcome, index) => findingsOf(spec, index, outcome, messages, failsOpen))
    const annotating = (await start()).withoutAuthorizer()
    return { findings, faults: await annotate(annotating, { spec, compiled }, annotations, failsOpen) }
  } catch (error) {
    if (error instanceof OutOfBudget) return failed(error.message)
    throw error
  }
}

/** The results of message expressions by validation, whether it failed or not; or that they cost too much together. */
type Messages = readonly (Value | undefined)[] | OutOfBudget

async function messagesOf(evaluation: Evaluation, { messages }: CompiledPolicy): Promise<Messages> {
  const values: (Value | undefined)[] = []
  try {
    for (const made of messages) values.push(made === undefined ? undefined : (await evaluation.run(made)).value)
    return values
  } catch (error) {
    if (error instanceof OutOfBudget) return error
    throw error
  }
}

function findingsOf(
  spec: PolicyHook["spec"],
  index: number,
  { value, error }: Outcome,
  messages: Messages,
  failsOpen: boolean,
): Finding[] {
  // Without messages, validations that hold have failed as well.
  const fault = error ?? (messages instanceof OutOfBudget ? `failed messageExpression: ${messages.message}` : undefined)
  if (fault !== undefined) return failsOpen ? [] : [{ index, message: fault, reason: "Invalid" }]
  if (value === true || messages instanceof OutOfBudget) return []
  const { message = "", expression = "", reason = "Invalid" } = spec.validations?.[index] ?? {}
  const made = messages[index]
  const usable = made === undefined ? undefined : usableMessage(made)
  return [{ index, message: usable ?? (trimSpace(message) || `failed expression: ${trimSpace(expression)}`), reason }]
}

/** Returns the errors in their values. */
async function annotate(
  evaluation: Evaluation,
  { spec, compiled }: { spec: PolicySpec; compiled: CompiledPolicy },
  annotations: Map<string, Set<string>>,
  failsOpen: boolean,
): Promise<string[]> {
  const faults: string[] = []
  for (const [index, expression] of compiled.auditAnnotations.entries()) {
    const { value, error } = await evaluation.run(expression)
    if (error !== undefined) {
      if (!failsOpen) faults.push(error)
      continue
    }
    const text = typeof value === "string" ? trimSpace(value).slice(0, maxAnnotation) : ""
    if (text === "") continue
    const { key = "" } = spec.auditAnnotations?.[index] ?? {}
    const values = annotations.get(key) ?? new Set()
    if (values.size < maxValues) annotations.set(key, values.add(text))
  }
  return faults
}
