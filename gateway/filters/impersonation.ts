// Lets an authorized caller act as another user (Impersonate-User and related headers). All code after this filter sees only that
// user. Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation.

import type { IncomingMessage } from "node:http"
import { ownValue, setOwn } from "../../apimachinery/schema/json-object.ts"
import { badRequest, hasReason } from "../../apimachinery/status.ts"
import { quote, refusal } from "../authorization/messages.ts"
import type { Attributes, Authorizer } from "../authorization/types.ts"
import type { User } from "../request/user.ts"
import { unsniffed } from "./authorization.ts"
import type { Filter, RequestState } from "./state.ts"

const extraPrefix = "impersonate-extra-"

interface Wanted {
  user: string
  uid: string
  groups: string[]
  extra: Record<string, string[]>
}

export const withImpersonation: Filter = (request, response, next) => {
  const wanted = wantedUser(request)
  if (wanted === undefined) return next()
  return impersonate(response.locals.state, wanted).then(next, (error: unknown) => {
    if (hasReason(error, "Forbidden")) response.setHeader(...unsniffed)
    throw error
  })
}

async function impersonate(state: RequestState, wanted: Wanted): Promise<void> {
  const caller = state.user
  await checkAll(state.controlPlane.authorizer, caller, wanted)
  state.impersonator = caller
  state.user = asUser(wanted)
}

function wantedUser(request: IncomingMessage): Wanted | undefined {
  const { headers } = request
  const names = Object.keys(headers).filter((name) => name.startsWith("impersonate-"))
  if (names.length === 0) return undefined
  const distinct = (name: string): string[] | undefined => valuesOf(request, name)
  const extra: Record<string, string[]> = {}
  for (const name of names) {
    if (!name.startsWith(extraPrefix)) continue
    const key = unescape(name.slice(extraPrefix.length))
    setOwn(extra, key, [...(ownValue(extra, key) ?? []), ...(distinct(name) ?? [])])
  }
  const wanted = {
    user: distinct("impersonate-user")?.[0] ?? "",
    uid: distinct("impersonate-uid")?.[0] ?? "",
    groups: distinct("impersonate-group") ?? [],
    extra,
  }
  if (wanted.user === "") {
    if (wanted.uid === "" && wanted.groups.length === 0 && Object.keys(extra).length === 0) return undefined
    throw badRequest(`requested ${printGo(wanted)} without impersonating a user name`)
  }
  return wanted
}

/** Each value of a header that may occur several times. Node returns headers as Latin-1 bytes. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] | undefined {
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === name) values.push(Buffer.from(rawHeaders[at + 1] ?? "", "latin1").toString())
  return values.length === 0 ? undefined : values
}

function unescape(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key // as upstream: a key that is not encoded is used unchanged
  }
}

/** Each impersonated attribute must be authorized separately. */
async function checkAll(authorizer: Authorizer, caller: User, wanted: Wanted): Promise<void> {
  for (const attributes of claims(caller, wanted)) {
    const { decision, reason } = await authorizer.authorize(attributes)
    if (decision !== "Allow") throw refusal(attributes, reason)
  }
}

function* claims(user: User, wanted: Wanted): Generator<Attributes> {
  const claim = (resource: string, name: string, more: Partial<Attributes> = {}): Attributes => ({
    user,
    verb: "impersonate",
    isResourceRequest: true,
    path: "",
    group: "",
    version: "v1",
    resource,
    subresource: "",
    namespace: "",
    name,
    ...more,
  })
  const authentication = { group: "authentication.k8s.io" }
  const account = serviceAccount(wanted.user)
  if (account === undefined) yield claim("users", wanted.user)
  else yield claim("serviceaccounts", account.name, { namespace: account.namespace })
  for (const group of wanted.groups) yield claim("groups", group)
  for (const [key, values] of Object.entries(wanted.extra))
    for (const value of values) yield claim("userextras", value, { ...authentication, subresource: key })
  if (wanted.uid !== "") yield claim("uids", wanted.uid, authentication)
}

function asUser(wanted: Wanted): User {
  const account = serviceAccount(wanted.user)
  const groups =
    wanted.groups.length > 0 || account === undefined
      ? [...wanted.groups]
      : ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`]
  const authenticated = groups.includes("system:authenticated")
  const unauthenticated = groups.includes("system:unauthenticated")
  if (wanted.user === "system:anonymous") {
    if (!unauthenticated) groups.push("system:unauthenticated")
  } else if (!authenticated && !unauthenticated) groups.push("system:authenticated")
  return { name: wanted.user, groups, extra: wanted.extra, ...(wanted.uid === "" ? {} : { uid: wanted.uid }) }
}

function serviceAccount(user: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(user)
  const [, namespace, name] = match ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

/** The requested user in Go's print format. */
function printGo({ uid, groups, extra }: Wanted): string {
  const list = (values: string[]): string => `[]string{${values.map(quote).join(", ")}}`
  const entries = Object.entries(extra).map(([key, values]) => `${quote(key)}:${list(values)}`)
  const map = entries.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`
  const printedGroups = groups.length === 0 ? "[]string(nil)" : list(groups)
  return `&user.DefaultInfo{Name:"", UID:${quote(uid)}, Groups:${printedGroups}, Extra:${map}}`
}
