// MutatingAdmissionPolicy: policies are applied one after the other, each to the result of the previous ones. Source:
// k8s.io/apiserver/pkg/admission/plugin/policy/mutating.

import type { CompiledExpression, CompiledPolicy } from "../../../apimachinery/cel/admission/compile.ts"
import { ObjectValue } from "../../../apimachinery/cel/admission/patch-values.ts"
import { type KubeObject, printGroupVersion } from "../../../apimachinery/object.ts"
import { restated, type StatusError } from "../../../apimachinery/status.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { replaceObject } from "../patched.ts"
import { refuse } from "../plugins/refuse.ts"
import type { AdmissionRegistrations } from "../registrations.ts"
import { namespaceOf } from "../webhooks/match.ts"
import { convertObject } from "../../registry/conversion/convert.ts"
import { isCustom, isOwnKind } from "../webhooks/versions.ts"
import { ConfigurationError } from "./apply-configuration.ts"
import { ConditionsFault, meetsAll } from "./conditions.ts"
import { Evaluation, OutOfBudget } from "./evaluation.ts"
import { type PolicyHook, PolicyHooks } from "./hooks.ts"
import { PolicyInput } from "./input.ts"
import { isBeyondPolicies, matchResources } from "./match.ts"
import { MutationFault, patchedBy } from "./mutation-result.ts"
import { convertMade, taken, typeOf } from "./outcome.ts"
import { collectParams, ConfigurationFault, paramRegistry } from "./params.ts"
import { takeTurn } from "../../request/awaited.ts"

const pluginName = "MutatingAdmissionPolicy"

interface Invocation {
  /** Unique among the invocations of a request. */
  key: string
  hook: PolicyHook
  binding: string
  definition: ResourceDefinition
  params: KubeObject | undefined
}

interface PolicyError {
  policy: string
  binding: string | undefined
  message: string
  /** Undefined for configuration errors. */
  reason?: string
}

/** State from the first run of all plugins to the second. */
interface Invocations {
  /** Invocations that must be repeated if another one modifies the object, until one does. */
  reinvocable: Set<string>
  /** Invocations of the second run. */
  again: Set<string>
  last: KubeObject | undefined
}

export class MutatingPolicies implements AdmissionPlugin {
  readonly #hooks: PolicyHooks

  constructor(registrations: AdmissionRegistrations) {
    this.#hooks = new PolicyHooks(registrations, {
      policy: "MutatingAdmissionPolicy",
      binding: "MutatingAdmissionPolicyBinding",
    })
  }

  get isVisible(): boolean {
    return !this.#hooks.isEmpty
  }

  async mutate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    const hooks = await this.#hooks.current()
    if (hooks.length === 0 || attributes.operation === "DELETE" || isBeyondPolicies(attributes)) return
    const input = new PolicyInput(ctx, attributes)
    const errors: PolicyError[] = []
    const invocations: Invocation[] = []
    for (const hook of hooks) await collect(input, hook, invocations, errors)
    const run = new Run(input, errors)
    await run.invokeAll(invocations)
    const [first] = errors
    if (first !== undefined) throw denied(attributes, first, errors)
    run.end()
  }
}

function denied(attributes: AdmissionAttributes, first: PolicyError, errors: readonly PolicyError[]): StatusError {
  const error = refuse(attributes, "admission request denied by policy")
  return restated(error, {
    message: print(first),
    ...(first.reason === undefined ? {} : { reason: first.reason }),
    details: { ...error.status.details, causes: errors.map((each) => ({ message: print(each) })) },
  })
}

function print({ policy, binding, message }: PolicyError): string {
  return binding === undefined
    ? `policy ${JSON.stringify(policy)} denied request: ${message}`
    : `policy '${policy}' with binding '${binding}' denied request: ${message}`
}

/** Combinations of bindings and params for one write. Beyond: 403. */
const maxInvocations = 100_000

const tooMany = (attributes: AdmissionAttributes): StatusError =>
  refuse(attributes, `its mutating admission policies have more than ${maxInvocations} params for it`)

/** Returns the invocations, and errors in their configuration. */
async function collect(
  input: PolicyInput,
  hook: PolicyHook,
  invocations: Invocation[],
  errors: PolicyError[],
): Promise<void> {
  const { ctx, attributes } = input
  const { name: policy, spec, bindings } = hook
  const misconfigured = (error: unknown, binding: string | undefined): void => {
    if (!(error instanceof ConfigurationFault)) throw error
    const what = binding === undefined ? "policy" : "binding"
    if (spec.failurePolicy !== "Ignore")
      errors.push({ policy, binding, message: `failed to configure ${what}: ${error.message}` })
  }
  await ctx.pause?.()
  const definition = await matchResources(ctx, spec.matchConstraints ?? {}, attributes)
  if (definition === undefined) return
  try {
    const registry = spec.paramKind === undefined ? undefined : paramRegistry(ctx, spec.paramKind)
    for (const { metadata, spec: { matchResources: narrowed, paramRef } = {} } of bindings) {
      await ctx.pause?.() // a tenant may have a hundred thousand
      const { name: binding = "" } = metadata
      try {
        if (narrowed !== undefined && (await matchResources(ctx, narrowed, attributes)) === undefined) continue
        const fault = await input.conversionFault(definition)
        if (fault !== undefined) {
          misconfigured(new ConfigurationFault(fault), undefined)
          continue
        }
        for (const params of await collectParams(ctx, registry, paramRef, namespaceOf(attributes))) {
          await takeTurn(ctx)
          if (invocations.length >= maxInvocations) throw tooMany(attributes)
          const { name = "", namespace = "" } = params?.metadata ?? {}
          invocations.push({ key: [policy, binding, namespace, name].join("/"), hook, binding, definition, params })
        }
      } catch (error) {
        misconfigured(error, binding)
      }
    }
  } catch (error) {
    misconfigured(error, undefined)
  }
}

class Run {
  readonly #input: PolicyInput
  readonly #errors: PolicyError[]
  readonly #state: Invocations
  /** The versions in which mutations had an outcome, and that of the last mutation. */
  readonly #written = new Set<ResourceDefinition>()
  #last: ResourceDefinition | undefined
  /** The object is as mutations have made it, and not converted. */
  #isPatched = false

  constructor(input: PolicyInput, errors: PolicyError[]) {
    this.#input = input
    this.#errors = errors
    this.#state = input.attributes.reinvocation.state<Invocations>(pluginName, () => ({
      reinvocable: new Set(),
      again: new Set(),
      last: undefined,
    }))
  }

  async invokeAll(invocations: readonly Invocation[]): Promise<void> {
    const { attributes } = this.#input
    const { isSecond } = attributes.reinvocation
    if (isSecond && !semanticEqual(this.#state.last, attributes.object)) this.#askAgain()
    for (const invocation of invocations) {
      await takeTurn(this.#input.ctx)
      await this.#invoke(invocation, isSecond)
    }
    if (this.#isPatched) await convertMade(this.#input)
    // Upstream takes the outcome of a mutation for a change even if it is none.
    if (this.#last !== undefined && this.#written.has(this.#last)) this.#wantAgain()
  }

  /** Called when there are no errors. */
  end(): void {
    this.#state.last = structuredClone(this.#input.attributes.object)
  }

  #wantAgain(): void {
    this.#askAgain()
    this.#input.attributes.reinvocation.want()
  }

  #askAgain(): void {
    for (const key of this.#state.reinvocable) this.#state.again.add(key)
    this.#state.reinvocable.clear()
  }

  async #invoke(invocation: Invocation, isSecond: boolean): Promise<void> {
    const { hook, binding, definition, key } = invocation
    const { attributes } = this.#input
    const fail = (message: string): void => {
      if (hook.spec.failurePolicy !== "Ignore")
        this.#errors.push({ policy: hook.name, binding, message, reason: "Invalid" })
    }
    // An earlier policy may have made it what cannot be converted any more.
    const fault = await this.#input.conversionFault(definition)
    if (fault !== undefined) return fail(fault)
    const compiled = await hook.compiled(this.#input.ctx)
    try {
      if (!(await this.#meetsConditions(invocation, compiled))) return
    } catch (error) {
      if (error instanceof ConditionsFault || error instanceof OutOfBudget) return fail(error.message)
      throw error
    }
    if (isSecond && !this.#state.again.has(key)) return
    let mutated = false
    for (const expression of compiled.mutations) {
      await takeTurn(this.#input.ctx)
      this.#last = definition
      if (attributes.object === undefined) break
      try {
        mutated = (await this.#mutate(invocation, compiled, expression)) || mutated
        this.#written.add(definition)
      } catch (error) {
        if (!(error instanceof MutationFault || error instanceof ConfigurationError || error instanceof OutOfBudget))
          throw error
        fail(error.message)
      }
    }
    if (mutated) this.#wantAgain()
    if (hook.spec.reinvocationPolicy === "IfNeeded") this.#state.reinvocable.add(key)
  }

  async #meetsConditions(
    { definition, params }: Invocation,
    { matchConditions, variables }: CompiledPolicy,
  ): Promise<boolean> {
    if (matchConditions.length === 0) return true
    return meetsAll(await Evaluation.ofConditions(this.#input, definition, variables, params), matchConditions)
  }

  /** Returns true if the object was modified. */
  async #mutate(
    { definition, params }: Invocation,
    { variables }: CompiledPolicy,
    expression: CompiledExpression,
  ): Promise<boolean> {
    const { attributes } = this.#input
    const { object, definition: own } = attributes
    if (object === undefined) return false
    if (expression.fault !== undefined) throw new MutationFault(expression.fault)
    const evaluation = await Evaluation.of(this.#input, definition, variables, params)
    const { value, error } = await evaluation.run(expression)
    if (error !== undefined) throw new MutationFault(error)
    const isOwn = isOwnKind(attributes)
    // With the zero values that Go prints: a patch finds them. A custom resource is patched as an earlier patch has left it.
    const shown = isCustom(attributes)
      ? await convertObject(object, own, definition)
      : await this.#input.shown(definition)
    if (shown === undefined) return false
    const changed = patchedBy(value, shown, typeOf(attributes, definition, shown))
    if (isOwn) checkVersion(definition, own)
    if (changed === undefined) return false
    // Also if it is the same: it is read anew, so nothing is known any more of how the request gave it.
    const next = await taken(this.#input, definition, changed, value instanceof ObjectValue)
    this.#isPatched = true
    const isSame = semanticEqual(next, object)
    replaceObject(attributes, next)
    this.#input.forget()
    return !isSame
  }
}

/** Upstream cannot convert what a mutation makes of a built-in kind in another version than that of the request. */
function checkVersion(definition: ResourceDefinition, own: ResourceDefinition): void {
  if (definition === own || own.customResource !== undefined) return
  const [from, to] = [definition, own].map(({ version, kind }) => `${version}.${kind}`)
  throw new MutationFault(
    definition.group === own.group
      ? `converting (${from}) to (${to}): unknown conversion`
      : `${from} is not suitable for converting to ${JSON.stringify(printGroupVersion(own))}`,
  )
}
