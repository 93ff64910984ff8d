// Lets an authorized caller act as another user (Impersonate-User and related headers). All code after this filter sees only that
// user. Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation.

import type { IncomingMessage } from "node:http"
import { goQuote } from "../../apimachinery/go/quote.ts"
import { percentDecoded } from "../../apimachinery/go/text.ts"
import { compareText } from "../../apimachinery/go/text-order.ts"
import { ownValue, setOwn } from "../../apimachinery/schema/json-object.ts"
import { badRequest, hasReason } from "../../apimachinery/status.ts"
import type { Authorizer } from "../authorization/types.ts"
import { hasMalformedEscape } from "../request/request-info.ts"
import { requestAttributes, noSniffHeader } from "./authorization.ts"
import { impersonatedUser, type RememberedModes, type Wanted } from "./impersonation-modes.ts"
import type { Filter } from "./chain.ts"

const prefix = "impersonate-"
const extraPrefix = `${prefix}extra-`

export function withImpersonation(): Filter {
  const remembered = new WeakMap<Authorizer, RememberedModes>()
  return (request, response, next) => {
    const wanted = wantedUser(request)
    if (wanted === undefined) return next()
    if (wanted.user === "") {
      response.setHeader(...noSniffHeader)
      throw badRequest(`requested ${printGo(wanted)} without impersonating a user name`)
    }
    const { state } = response.locals
    const { authorizer } = state.controlPlane
    const modes = remembered.get(authorizer) ?? new Map()
    remembered.set(authorizer, modes)
    return impersonatedUser(authorizer, modes, wanted, requestAttributes(state)).then(
      (user) => {
        state.impersonator = state.user
        state.user = user
        next()
      },
      (error: unknown) => {
        if (hasReason(error, "Forbidden")) response.setHeader(...noSniffHeader)
        throw error
      },
    )
  }
}

/** Without a user, only if something else is wanted. */
function wantedUser(request: IncomingMessage): Wanted | undefined {
  if (!Object.keys(request.headers).some((name) => name.startsWith(prefix))) return undefined
  const values = valuesOf(request)
  const extra: Record<string, string[]> = {}
  for (const [name, own] of values) {
    if (!name.startsWith(extraPrefix)) continue
    const key = unescape(name.slice(extraPrefix.length))
    const known = ownValue(extra, key)
    if (known === undefined) setOwn(extra, key, own)
    else known.push(...own)
  }
  const wanted = {
    user: values.get("impersonate-user")?.[0] ?? "",
    uid: values.get("impersonate-uid")?.[0] ?? "",
    groups: values.get("impersonate-group") ?? [],
    extra,
  }
  const isNobody = wanted.user === "" && wanted.uid === "" && wanted.groups.length === 0
  return isNobody && Object.keys(extra).length === 0 ? undefined : wanted
}

/**
 * The values of these headers, each of which may occur several times. Read in one pass: anybody can send thousands of them. Node returns
 * headers as Latin-1 bytes.
 */
function valuesOf({ rawHeaders }: IncomingMessage): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase()
    if (!name.startsWith(prefix)) continue
    const value = Buffer.from(rawHeaders[at + 1] ?? "", "latin1").toString()
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return values
}

/** As upstream, a key that is not encoded is used unchanged. */
function unescape(key: string): string {
  return hasMalformedEscape(key) ? key : percentDecoded(key).toString()
}

/** The requested user in Go's print format. */
function printGo({ uid, groups, extra }: Wanted): string {
  const list = (values: readonly string[]): string => `[]string{${values.map(goQuote).join(", ")}}`
  const sorted = Object.entries(extra).toSorted(([a], [b]) => compareText(a, b))
  const entries = sorted.map(([key, values]) => `${goQuote(key)}:${list(values)}`)
  const map = entries.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`
  const printedGroups = groups.length === 0 ? "[]string(nil)" : list(groups)
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, Groups:${printedGroups}, Extra:${map}}`
}
