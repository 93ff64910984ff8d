import { describe, expect, test } from "vitest"
import type { Attributes, Authorizer } from "../authorization/types.ts"
import type { User } from "../request/user.ts"
import { impersonatedUser, type RememberedModes, type Wanted } from "./impersonation-modes.ts"

/** Allows what is listed: "verb resource/subresource:name", where the name may be `*`. */
function allowing(...allowed: string[]): Authorizer {
  return {
    authorize({ verb, resource, subresource, name, isResourceRequest, path }: Attributes) {
      const what = isResourceRequest ? `${resource}${subresource === "" ? "" : `/${subresource}`}` : path
      const isAllowed = allowed.includes(`${verb} ${what}:${name}`) || allowed.includes(`${verb} ${what}`)
      return { decision: isAllowed ? "Allow" : "NoOpinion", reason: "" }
    },
    rulesFor: () => Promise.resolve({ rules: [], missing: [] }),
    rulesOf: () => Promise.resolve([]),
  }
}

const ann: User = { name: "ann", groups: [], extra: {} }
const listing = (user: User): Attributes => ({
  user,
  verb: "list",
  isResourceRequest: true,
  path: "/api/v1/pods",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "",
  name: "",
})
const wanted = (user: string, more: Partial<Wanted> = {}): Wanted => ({ user, uid: "", groups: [], extra: {}, ...more })

interface Try {
  as: Wanted
  caller?: User
  remembered?: RememberedModes
}

async function attempt(authorizer: Authorizer, { as, caller = ann, remembered = new Map() }: Try): Promise<unknown> {
  try {
    return (await impersonatedUser(authorizer, remembered, as, listing(caller))).groups
  } catch (error) {
    return String((error as Error).message)
  }
}

const cannot = (verb: string, resource: string, group = "authentication.k8s.io"): string =>
  `User "ann" cannot ${verb} resource "${resource}" in API group "${group}" at the cluster scope`

describe("impersonatedUser()", () => {
  test("without permissions, the message contains the missing constrained permission", async () => {
    expect(await attempt(allowing(), { as: wanted("bob") })).toBe(
      `pods is forbidden: ${cannot("impersonate-on:user-info:list", "pods", "")}`,
    )
  })

  test("requires permission for the user in addition to the one for the verb", async () => {
    expect(await attempt(allowing("impersonate-on:user-info:list pods"), { as: wanted("bob") })).toBe(
      `users.authentication.k8s.io "bob" is forbidden: ${cannot("impersonate:user-info", "users")}`,
    )
  })

  test.each([
    ["users:bob", "user-info", "bob", ["system:authenticated"]],
    ["nodes:n1", "arbitrary-node", "system:node:n1", ["system:nodes", "system:authenticated"]],
    ["users:system:node:N_1", "user-info", "system:node:N_1", ["system:authenticated"]],
    [
      "serviceaccounts:robot",
      "serviceaccount",
      "system:serviceaccount:ns:robot",
      ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    ],
    [
      "users:system:serviceaccount:ns:robot:x",
      "user-info",
      "system:serviceaccount:ns:robot:x",
      ["system:authenticated"],
    ],
  ])("%s is allowed by the mode %s", async (claim, mode, user, groups) => {
    const authorizer = allowing(`impersonate-on:${mode}:list pods`, `impersonate:${mode} ${claim}`)
    expect(await attempt(authorizer, { as: wanted(user) })).toEqual(groups)
  })

  test("a service account on a node can impersonate only that node", async () => {
    const authorizer = allowing("impersonate-on:associated-node:list pods", "impersonate:associated-node nodes:*")
    const agent = {
      ...ann,
      name: "system:serviceaccount:ns:agent",
      extra: { "authentication.kubernetes.io/node-name": ["n1"] },
    }
    expect(await attempt(authorizer, { as: wanted("system:node:n1"), caller: agent })).toContain("system:nodes")
    expect(await attempt(authorizer, { as: wanted("system:node:n2"), caller: agent })).toMatch("arbitrary-node:list")
    expect(await attempt(authorizer, { as: wanted("system:node:n1") })).toMatch("arbitrary-node:list")
  })

  test("nodes and accounts with groups can be impersonated only without constraints", async () => {
    const as = wanted("system:node:n1", { groups: ["g"] })
    expect(await attempt(allowing(), { as })).toBe(
      `users "system:node:n1" is forbidden: ${cannot("impersonate", "users", "")}`,
    )
    expect(await attempt(allowing("impersonate users", "impersonate groups"), { as })).toEqual([
      "g",
      "system:authenticated",
    ])
  })

  test.each<[Partial<Wanted>, string]>([
    [{ groups: ["system:masters"] }, "impersonating the system:masters group is not allowed"],
    [{ groups: [""] }, "impersonating the empty string group is not allowed"],
    [{ extra: { "a/b": [""] } }, "impersonating the empty string value in extra is not allowed"],
    [{ extra: { "a/B": ["x"] } }, 'impersonating a non-lowercase key in extra is not allowed: "a/B"'],
    [
      { extra: { a: ["x"] } },
      'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
  ])("constrained permissions do not extend to %j", async (more, message) => {
    const on = "impersonate-on:user-info:list pods"
    const constrained = [on, "impersonate:user-info users", "impersonate:user-info groups"]
    expect(await attempt(allowing(...constrained), { as: wanted("bob", more) })).toMatch(message)
  })

  test("many groups are allowed as a whole or one by one", async () => {
    const groups = ["a", "b", "c", "d"]
    const rights = ["impersonate-on:user-info:list pods", "impersonate:user-info users"]
    const each = groups.map((group) => `impersonate:user-info groups:${group}`)
    const as = wanted("bob", { groups })
    expect(await attempt(allowing(...rights, "impersonate:user-info groups:*"), { as })).toContain("d")
    expect(await attempt(allowing(...rights, ...each), { as })).toContain("d")
    expect(await attempt(allowing(...rights, ...each.slice(1)), { as })).toMatch('groups.authentication.k8s.io "a"')
  })

  test("the mode that last allowed a user is tried first, and is used in the message", async () => {
    const remembered: RememberedModes = new Map()
    const authorizer = allowing("impersonate users:bob")
    expect(await attempt(authorizer, { as: wanted("bob"), remembered })).toEqual(["system:authenticated"])
    expect(await attempt(authorizer, { as: wanted("carl"), remembered })).toBe(
      `users "carl" is forbidden: ${cannot("impersonate", "users", "")}`,
    )
  })
})
