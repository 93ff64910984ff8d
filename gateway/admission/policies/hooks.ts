// Policies with their bindings, in the order of their names, for both policy plugins.

import { type CompiledPolicy, policyCompilation, useCompilation } from "../../../apimachinery/cel/admission/compile.ts"
import type { Kept } from "../../../apimachinery/cel/compiled-texts.ts"
import type { Policy, PolicyBinding, PolicySpec } from "../../../apimachinery/cel/admission/policy.ts"
import { inSteps, type SharedSteps } from "../../../apimachinery/steps.ts"
import { awaitedPause } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionRegistrations } from "../registrations.ts"

export interface PolicyHook {
  name: string
  spec: PolicySpec
  bindings: readonly PolicyBinding[]
  /** Compiled at the first matching request, with turns for others. Throws if the request ends meanwhile. */
  compiled(ctx: RequestContext): CompiledPolicy | Promise<CompiledPolicy>
}

/** The two kinds of the group. */
interface PolicyKinds {
  policy: string
  binding: string
}

const none: readonly PolicyHook[] = []

/** The hooks of one control plane; recreated when its policies or bindings change. */
export class PolicyHooks {
  readonly #registrations: AdmissionRegistrations
  readonly #kinds: PolicyKinds
  #made: { policies: readonly Policy[]; bindings: readonly PolicyBinding[]; hooks: readonly PolicyHook[] } | undefined

  constructor(registrations: AdmissionRegistrations, kinds: PolicyKinds) {
    this.#registrations = registrations
    this.#kinds = kinds
  }

  /** There are no objects of the group, whether policies or others. */
  get isEmpty(): boolean {
    return this.#registrations.isEmpty
  }

  async current(): Promise<readonly PolicyHook[]> {
    const policies = await this.#registrations.ofKind<Policy>(this.#kinds.policy)
    if (policies.length === 0) return none
    const bindings = await this.#registrations.ofKind<PolicyBinding>(this.#kinds.binding)
    if (bindings.length === 0) return none
    if (this.#made?.policies !== policies || this.#made.bindings !== bindings) {
      this.#made = { policies, bindings, hooks: hooksOf(policies, bindings) }
    }
    return this.#made.hooks
  }
}

function hooksOf(policies: readonly Policy[], bindings: readonly PolicyBinding[]): PolicyHook[] {
  const bound = Map.groupBy(bindings, (binding) => binding.spec?.policyName ?? "")
  return policies.flatMap((policy): PolicyHook[] => {
    const { name = "" } = policy.metadata
    const own = bound.get(name)
    const { spec } = policy
    if (own === undefined || spec === undefined) return []
    return [{ name, spec, bindings: own, compiled: compiler(spec) }]
  })
}

/** What policies are compiled to is kept by the cache of all control planes alone: it may be seventy times as large as they are. */
function compiler(spec: PolicySpec): PolicyHook["compiled"] {
  let known: WeakRef<Kept<SharedSteps<CompiledPolicy>>> | undefined
  return (ctx) => {
    let kept = known?.deref()
    if (kept === undefined) known = new WeakRef((kept = policyCompilation(spec)))
    const compilation = useCompilation(kept)
    return compilation.made ?? inSteps(compilation.taking(), awaitedPause(ctx))
  }
}
