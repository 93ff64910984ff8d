// The ways in which a caller may be allowed to act as another user. The verb `impersonate` allows everything that the user may do.
// `impersonate:<mode>` allows only those verbs for which the caller also has `impersonate-on:<mode>:<verb>` (KEP-5284).
// Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation/mode.go. Upstream also keeps granted permissions for ten seconds, to
// spare calls of webhooks; here they are decided by rules in memory each time.

import { FieldPath } from "../../apimachinery/field-errors.ts"
import { goQuote } from "../../apimachinery/go/quote.ts"
import { validateDNS1123Subdomain } from "../../apimachinery/names.ts"
import { remember } from "../../apimachinery/remember.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"
import { hasReason } from "../../apimachinery/status.ts"
import { attributesOf } from "../authorization/further-rights.ts"
import { refusal } from "../authorization/messages.ts"
import type { Attributes, Authorizer } from "../authorization/types.ts"
import { domainPrefixedPath } from "../registry/validation/values.ts"
import { serviceAccountOf, type User } from "../request/user.ts"

export interface Wanted {
  user: string
  uid: string
  groups: readonly string[]
  extra: Readonly<Record<string, readonly string[]>>
}

interface Mode {
  /** The part of the verbs; undefined: the verb is `impersonate`. */
  name: string | undefined
  appliesTo(wanted: Wanted, caller: User): boolean
  /** The attributes that are authorized instead of the given ones. */
  authorizes?(attributes: Attributes): Attributes
}

const modes: readonly Mode[] = [
  {
    name: "associated-node",
    appliesTo: (wanted, caller) => isNameAlone(wanted) && isOnNode(caller, nodeName(wanted.user)),
    authorizes: (attributes) =>
      attributes.verb === "impersonate:associated-node" ? { ...attributes, name: "*" } : attributes,
  },
  { name: "arbitrary-node", appliesTo: (wanted) => isNameAlone(wanted) && nodeName(wanted.user) !== undefined },
  { name: "serviceaccount", appliesTo: (wanted) => isNameAlone(wanted) && serviceAccountOf(wanted.user) !== undefined },
  {
    name: "user-info",
    appliesTo: ({ user }) => nodeName(user) === undefined && serviceAccountOf(user) === undefined,
  },
  { name: undefined, appliesTo: () => true },
]

/** From this number of groups or values of extra on, the right to all of them is looked for first. */
const many = 4
/** Number of callers whose mode is remembered per control plane; the oldest are dropped. */
const maxRemembered = 1000

const authenticationGroup = "authentication.k8s.io"
const privilegedGroup = "system:masters"
const nodesGroup = "system:nodes"

/** The mode by which each caller, by name, was last allowed to act as another: it is tried first, and its refusal is the one told. */
export type RememberedModes = Map<string, Mode>

/** Returns the user to act as, or throws the refusal of the first mode that was tried. */
export async function impersonatedUser(
  authorizer: Authorizer,
  remembered: RememberedModes,
  wanted: Wanted,
  request: Attributes,
): Promise<User> {
  const last = remembered.get(request.user.name)
  const refusals: unknown[] = []
  for (const mode of new Set(last === undefined ? modes : [last, ...modes])) {
    if (!mode.appliesTo(wanted, request.user)) continue
    try {
      await check(authorizer, mode, wanted, request)
    } catch (error) {
      if (!hasReason(error, "Forbidden")) throw error
      refusals.push(error)
      continue
    }
    remember(remembered, request.user.name, mode, maxRemembered)
    return asUser(wanted, mode)
  }
  throw refusals[0] // the mode that is not constrained applies to everyone
}

/** Each impersonated attribute must be authorized separately. */
async function check(authorizer: Authorizer, mode: Mode, wanted: Wanted, request: Attributes): Promise<void> {
  const authorize = async (attributes: Attributes): Promise<void> => {
    const asked = mode.authorizes?.(attributes) ?? attributes
    const { decision, reason } = await authorizer.authorize(asked)
    if (decision !== "Allow") throw refusal(asked, reason)
  }
  if (mode.name !== undefined) await authorize({ ...request, verb: `impersonate-on:${mode.name}:${request.verb}` })
  const claim = claimOf(request.user, mode)
  await authorize(nameClaim(claim, mode, wanted.user))
  if (wanted.uid !== "") await authorize(claim("uids", wanted.uid, { group: authenticationGroup }))
  const groups = wanted.groups.map((group) => claim("groups", group))
  if (mode.name !== undefined) refuseGroups(wanted.groups, claim)
  await authorizeEach(authorize, mode, groups, claim("groups", "*"))
  if (mode.name !== undefined) refuseExtra(wanted.extra, claim)
  const { values, all } = extraClaims(wanted.extra, claim)
  await authorizeEach(authorize, mode, values, all)
}

type Claim = (resource: string, name: string, more?: Partial<Attributes>) => Attributes

function claimOf(user: User, { name: mode }: Mode): Claim {
  const verb = mode === undefined ? "impersonate" : `impersonate:${mode}`
  const group = mode === undefined ? "" : authenticationGroup
  return (resource, name, more = {}) => ({
    ...attributesOf(user, { verb, group, version: "v1", resource, name }),
    ...more,
  })
}

function nameClaim(claim: Claim, mode: Mode, user: string): Attributes {
  const account = serviceAccountOf(user)
  if (account !== undefined) return claim("serviceaccounts", account.name, { namespace: account.namespace })
  const node = mode.name === undefined ? undefined : nodeName(user)
  return node === undefined ? claim("users", user) : claim("nodes", node)
}

function extraClaims(extra: Wanted["extra"], claim: Claim): { values: Attributes[]; all: Attributes } {
  const of = (subresource: string, value: string): Attributes =>
    claim("userextras", value, { group: authenticationGroup, subresource })
  const values = Object.entries(extra).flatMap(([key, own]) => own.map((value) => of(key, value)))
  return { values, all: of("*", "*") }
}

async function authorizeEach(
  authorize: (attributes: Attributes) => Promise<void>,
  mode: Mode,
  claims: readonly Attributes[],
  all: Attributes,
): Promise<void> {
  if (mode.name !== undefined && claims.length >= many) {
    try {
      return await authorize(all)
    } catch (error) {
      if (!hasReason(error, "Forbidden")) throw error // what is not allowed as a whole may be so one by one
    }
  }
  for (const each of claims) await authorize(each)
}

function refuseGroups(groups: readonly string[], claim: Claim): void {
  if (groups.includes("")) throw refusal(claim("groups", ""), "impersonating the empty string group is not allowed")
  if (groups.includes(privilegedGroup))
    throw refusal(claim("groups", privilegedGroup), "impersonating the system:masters group is not allowed")
}

function refuseExtra(extra: Wanted["extra"], claim: Claim): void {
  for (const [key, values] of Object.entries(extra)) {
    const fault = faultOfExtra(key, values)
    if (fault === undefined) continue
    throw refusal(
      claim("userextras", "", { group: authenticationGroup }),
      `impersonating ${fault.what} in extra is not allowed${fault.detail}`,
    )
  }
}

function faultOfExtra(key: string, values: readonly string[]): { what: string; detail: string } | undefined {
  if (key === "") return { what: "the empty string key", detail: "" }
  const [first, ...others] = domainPrefixedPath(FieldPath.root("extra", "key"), key).map((error) => error.message())
  if (first !== undefined) {
    const detail = others.length === 0 ? first : `[${[first, ...others].join(", ")}]`
    return { what: "an invalid key", detail: `: ${detail}` }
  }
  if (key !== key.toLowerCase()) return { what: "a non-lowercase key", detail: `: ${goQuote(key)}` }
  return values.includes("") ? { what: "the empty string value", detail: "" } : undefined
}

function asUser(wanted: Wanted, mode: Mode): User {
  const groups = groupsOf(wanted, mode)
  const unauthenticated = groups.includes("system:unauthenticated")
  if (wanted.user === "system:anonymous") {
    if (!unauthenticated) groups.push("system:unauthenticated")
  } else if (!groups.includes("system:authenticated") && !unauthenticated) groups.push("system:authenticated")
  return { name: wanted.user, groups, extra: wanted.extra, ...(wanted.uid === "" ? {} : { uid: wanted.uid }) }
}

function groupsOf({ user, groups }: Wanted, mode: Mode): string[] {
  if (groups.length > 0) return [...groups]
  const account = serviceAccountOf(user)
  if (account !== undefined) return ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`]
  return mode.name !== undefined && nodeName(user) !== undefined ? [nodesGroup] : []
}

function isNameAlone({ uid, groups, extra }: Wanted): boolean {
  return uid === "" && groups.length === 0 && Object.keys(extra).length === 0
}

/** The caller is a service account whose token is bound to a pod on this node. */
function isOnNode({ name, extra }: User, node: string | undefined): boolean {
  if (node === undefined || serviceAccountOf(name) === undefined) return false
  const nodes = ownValue(extra, "authentication.kubernetes.io/node-name") ?? []
  return nodes.length === 1 && nodes[0] === node
}

function nodeName(user: string): string | undefined {
  const prefix = "system:node:"
  if (!user.startsWith(prefix)) return undefined
  const name = user.slice(prefix.length)
  return validateDNS1123Subdomain(name).length === 0 ? name : undefined
}
