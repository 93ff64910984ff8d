// Role-based access control of one control plane, with the roles and bindings in its own store only. Rules only grant permissions;
// everything else is denied. Source: k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac.

import { createHash } from "node:crypto"
import { goQuote } from "../../apimachinery/go/quote.ts"
import { aggregateMessage } from "../../apimachinery/error-message.ts"
import { notFoundMessage } from "../../apimachinery/status.ts"
import { inSteps, mostAtOnce, type Steps } from "../../apimachinery/steps.ts"
import type { User } from "../request/user.ts"
import { ruleAllows } from "./rules.ts"
import type { Attributes, Authorizer, Decision, PolicyRule, RoleReference, UserRules } from "./types.ts"

export interface Subject {
  kind: string
  name: string
  namespace?: string
}

export interface Binding {
  name: string
  subjects: readonly Subject[]
  roleRef: RoleReference
}

/** A binding, and its first subject that matches the user. */
export interface Bound {
  readonly binding: Binding
  readonly subject: Subject
}

/** The current RBAC objects of a control plane. Role names are "namespace/name". */
export interface Policy {
  roles: ReadonlyMap<string, readonly PolicyRule[]>
  clusterRoles: ReadonlyMap<string, readonly PolicyRule[]>
  /** The bindings for the user in a namespace; "": cluster-wide. In the order in which they were added. */
  bindingsOf(user: User, namespace: string): readonly Bound[]
  /** The namespaces with role bindings. */
  namespaces(): Iterable<string>
}

/** The source of the policy, which is current when it resolves (policy-view.ts). */
export interface PolicySource {
  current(): Promise<Policy>
}

const group = "rbac.authorization.k8s.io"

/** Members have all permissions in their control plane; certificates of its administrators contain this group. */
export const masters = "system:masters"

/** Characters of the rules of a user that are told; beyond, they are incomplete. */
const maxRules = 4 * 1024 * 1024

/** `pause`: RequestContext.pause; called after each role that does not allow what is asked. */
export function createRBACAuthorizer(source: PolicySource, pause?: () => Promise<void> | undefined): Authorizer {
  return {
    authorize(attributes) {
      if (attributes.user.groups.includes(masters)) return { decision: "Allow", reason: "" }
      return source.current().then((policy) => inSteps(decide(policy, attributes), pause))
    },
    async rulesFor(user, namespace): Promise<UserRules> {
      // As upstream, the rules of system:masters come from the binding of cluster-admin.
      const policy = await source.current()
      const rules: PolicyRule[] = []
      const missing: RoleReference[] = []
      let left = maxRules
      for (const { rules: found, missing: reference } of visit(policy, user, namespace)) {
        if (reference !== undefined) missing.push(reference)
        else {
          left -= printedRules(found).length
          if (left < 0) return { rules, missing, isIncomplete: true }
          for (const rule of found) rules.push(rule)
        }
        await pause?.()
      }
      return { rules, missing }
    },
    rulesOf: async (reference, namespace) => resolve(await source.current(), reference, namespace),
  }
}

/** The permissions of a user, cluster-wide and in all namespaces, as text; equal permissions give equal texts. */
export function grantsTo(policy: Policy, user: User): string {
  const visits = ["", ...policy.namespaces()].flatMap((namespace) => visitsIn(policy, user, namespace))
  const grants = visits.map(({ rules, missing, source }) =>
    JSON.stringify([source(), missing ?? "", printedRules(rules).digest]),
  )
  return grants.sort().join("\n")
}

/** By the rules of a role, which very many bindings may give. */
const printed = new WeakMap<readonly PolicyRule[], { length: number; digest: string }>()

function printedRules(rules: readonly PolicyRule[]): { length: number; digest: string } {
  let known = printed.get(rules)
  if (known === undefined) {
    const text = JSON.stringify(rules)
    const digest = createHash("sha256").update(text).digest("base64")
    printed.set(rules, (known = { length: text.length, digest }))
  }
  return known
}

function* decide(policy: Policy, attributes: Attributes): Steps<Decision> {
  const absent: RoleReference[] = []
  // A role is asked once, however many bindings give it.
  const asked = new Set<readonly PolicyRule[]>()
  for (const { rules, missing, source } of visit(policy, attributes.user, attributes.namespace)) {
    if (missing !== undefined) absent.push(missing)
    if (asked.has(rules)) continue
    if (rules.some((rule) => ruleAllows(rule, attributes)))
      return { decision: "Allow", reason: `RBAC: allowed by ${source()}` }
    asked.add(rules)
    yield
  }
  return { decision: "NoOpinion", reason: absent.length === 0 ? "" : `RBAC: ${yield* namingMissing(absent)}` }
}

interface Visit {
  rules: readonly PolicyRule[]
  missing?: RoleReference
  source: () => string
}

/** Every binding that applies to the user: cluster-wide ones first, then those of the namespace. */
function* visit(policy: Policy, user: User, namespace: string): Generator<Visit> {
  yield* visitsIn(policy, user, "")
  if (namespace !== "") yield* visitsIn(policy, user, namespace)
}

function visitsIn(policy: Policy, user: User, namespace: string): Visit[] {
  return policy.bindingsOf(user, namespace).map((bound) => visitOf(policy, bound, namespace))
}

function visitOf(policy: Policy, { binding, subject }: Bound, namespace: string): Visit {
  const { roleRef } = binding
  const rules = resolve(policy, roleRef, namespace)
  const source = (): string => {
    const name = namespace === "" ? binding.name : `${binding.name}/${namespace}`
    const kind = namespace === "" ? "ClusterRoleBinding" : "RoleBinding"
    const who = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace || namespace}` : subject.name
    return `${kind} ${goQuote(name)} of ${roleRef.kind} ${goQuote(roleRef.name)} to ${subject.kind} ${goQuote(who)}`
  }
  if (rules !== undefined) return { rules, source }
  return { rules: [], missing: roleRef, source }
}

function resolve(policy: Policy, reference: RoleReference, namespace: string): readonly PolicyRule[] | undefined {
  return reference.kind === "Role"
    ? policy.roles.get(`${namespace}/${reference.name}`)
    : policy.clusterRoles.get(reference.name)
}

function* namingMissing(references: readonly RoleReference[]): Steps<string> {
  const messages: string[] = []
  for (const reference of references) {
    messages.push(missingRole(reference))
    if (messages.length % mostAtOnce === 0) yield
  }
  return aggregateMessage(messages)
}

/** As upstream's listers name it: by the kind in the singular, lower case. */
export function missingRole({ kind, name }: RoleReference): string {
  return notFoundMessage({ group, resource: kind === "Role" ? "role" : "clusterrole" }, name)
}
