import { describe, expect, test } from "vitest"
import type { Authorizer } from "../authorization/types.ts"
import type { User } from "../request/user.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import type { GatewayRequest, GatewayResponse } from "./chain.ts"
import { withImpersonation } from "./impersonation.ts"
import { serve, inPlane } from "./testing/serve.ts"

describe("withImpersonation()", () => {
  const asked: { resource: string; name: string; namespace: string; subresource: string }[] = []
  const authorizer: Authorizer = {
    authorize(attributes) {
      const isConstrained = attributes.verb.startsWith("impersonate-on:")
      if (!isConstrained) asked.push(attributes)
      const decision = isConstrained || attributes.name === "forbidden" ? "NoOpinion" : "Allow"
      return Promise.resolve({ decision, reason: "" })
    },
    rulesFor: () => Promise.resolve({ rules: [], missing: [] }),
    rulesOf: () => Promise.resolve([]),
  }
  const admin: User = { name: "admin", groups: ["system:masters"], extra: {} }
  const start = () =>
    serve([
      inPlane({ authorizer } as ControlPlane, admin),
      withImpersonation(),
      (_request, response) => void response.end(JSON.stringify(response.locals.state.user)),
    ])
  const ask = async (headers: [string, string][]): Promise<unknown> => {
    asked.length = 0
    return (await fetch(await start(), { headers })).json()
  }

  test("changes nothing without the headers", async () => {
    expect(await ask([])).toEqual(admin)
  })

  test("authenticates the user, with the given groups and extra", async () => {
    expect(
      await ask([
        ["impersonate-user", "bob"],
        ["impersonate-group", "dev"],
        ["impersonate-extra-acme.com%2Fscope", "x"],
      ]),
    ).toEqual({ name: "bob", groups: ["dev", "system:authenticated"], extra: { "acme.com/scope": ["x"] } })
    expect(asked.map(({ resource, name, subresource }) => `${resource}/${subresource}:${name}`)).toEqual([
      "users/:bob",
      "groups/:dev",
      "userextras/acme.com/scope:x",
    ])
  })

  test("authorizes each claim, regardless of its name and encoding", async () => {
    const user = (await ask([
      ["impersonate-user", "bob"],
      ["impersonate-extra-__proto__", "x"],
      ["impersonate-extra-%61", "1"],
      ["impersonate-extra-a", "2"],
    ])) as User
    expect(asked.map(({ subresource, name }) => `${subresource}:${name}`)).toEqual([
      ":bob",
      "__proto__:x",
      "a:1",
      "a:2",
    ])
    expect(Object.entries(user.extra)).toEqual([
      ["__proto__", ["x"]],
      ["a", ["1", "2"]],
    ])
  })

  test("adds the groups of service accounts", async () => {
    expect(await ask([["impersonate-user", "system:serviceaccount:ns:robot"]])).toMatchObject({
      groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
    })
    expect(asked[0]).toMatchObject({ resource: "serviceaccounts", namespace: "ns", name: "robot" })
  })

  test("responds with 403 without the permission to impersonate", async () => {
    expect(await ask([["impersonate-user", "forbidden"]])).toMatchObject({
      code: 403,
      message: 'forbidden: User "admin" cannot impersonate-on:user-info:get path "/"',
    })
  })

  test("unescapes the names of extra, and keeps what is not escaped", async () => {
    const headers: [string, string][] = ["b%2fc", "%zz"].map((name) => [`impersonate-extra-${name}`, "x"])
    const shown = 'Extra:map[string][]string{"%zz":[]string{"x"}, "b/c":[]string{"x"}}}'
    expect(await ask(headers)).toMatchObject({ code: 400, message: expect.stringContaining(shown) as string })
  })

  test("looks at each header once, however many there are", () => {
    const headers = Array.from({ length: 3000 }, (_, index) => [`impersonate-extra-${index}`, "x"])
    let reads = 0
    const rawHeaders = new Proxy(headers.flat(), {
      get(target, key) {
        reads++
        return Reflect.get(target, key) as unknown
      },
    })
    const request = { headers: Object.fromEntries(headers), rawHeaders } as unknown as GatewayRequest
    const response = { setHeader: () => undefined } as unknown as GatewayResponse
    const filter = withImpersonation()
    expect(() => void filter(request, response, () => undefined)).toThrow("without impersonating a user name")
    expect(reads).toBeLessThan(10 * headers.length)
  })

  test("rejects groups without a user", async () => {
    expect(await ask([["impersonate-group", "bob"]])).toMatchObject({
      code: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"bob"}, Extra:map[string][]string(nil)} without impersonating a user name',
    })
  })
})
