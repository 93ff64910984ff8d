// Which configurations of issuers are accepted, and from whom.

import { describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import { issuerURLsIn, parseConfiguration } from "./configuration.ts"
import { call, configMaps, configuration, configure, issuer, useIssuer } from "./testing/issuer.ts"

useIssuer()

describe("a configuration", () => {
  test("is validated on write", async () => {
    const { code, json } = await configure({ kind: "Other" })
    expect(code).toBe(422)
    expect((json() as Loose)["message"]).toContain('kind: Unsupported value: "Other"')
  })

  test("may leave out what it says with null", () => {
    const mapping = { username: { claim: "sub", prefix: "" }, groups: null, extra: null }
    const [jwt] = configuration({ claimMappings: mapping, claimValidationRules: null })["jwt"] as Loose[]
    const given = {
      ...configuration(),
      anonymous: null,
      jwt: [{ ...jwt, issuer: { ...jwt?.["issuer"], discoveryURL: null } }],
    }
    const { authenticators, errors } = parseConfiguration(JSON.stringify(given), "https://own.example.com")
    expect(errors).toEqual([])
    expect(authenticators.map(({ given: { issuer: read } }) => read)).toEqual([jwt?.["issuer"]])
  })

  test("says its issuers without being compiled", () => {
    const source = JSON.stringify(configuration({ claimValidationRules: [{ expression: "(", message: "m" }] }))
    expect(issuerURLsIn(source)).toEqual([issuer.url])
    expect(issuerURLsIn("jwt: 1")).toEqual([])
  })

  test("can be written only by cluster administrators", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1"
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }]
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "editor" }]
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "editor" }
    const metadata = { name: "editor" }
    await call(`${rbac}/clusterroles`, { method: "POST", body: { metadata, rules } })
    await call(`${rbac}/clusterrolebindings`, { method: "POST", body: { metadata, subjects, roleRef } })
    const { code, text } = await call(`${configMaps}/authentication-configuration`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json", "impersonate-user": "editor" },
      body: { data: { "config.yaml": JSON.stringify(configuration({ claimValidationRules: [] })) } },
    })
    expect([code, text]).toEqual([
      403,
      expect.stringContaining("is attempting to grant RBAC permissions not currently held"),
    ])
  })

  test.each<[string, unknown, string]>([
    ["no YAML", "a: b: c", "is no YAML"],
    ["no mapping", "[]", "must be an AuthenticationConfiguration"],
    [
      "another version",
      { apiVersion: "v1", kind: "AuthenticationConfiguration" },
      'apiVersion: Unsupported value: "v1"',
    ],
    ["an http issuer", { jwt: [{ issuer: { url: "http://a", audiences: ["a"] } }] }, "URL scheme must be https"],
    ["no audience", { jwt: [{ issuer: { url: "https://a" } }] }, "jwt[0].issuer.audiences: Required value"],
    [
      "no prefix",
      { jwt: [{ claimMappings: { username: { claim: "sub" } } }] },
      "jwt[0].claimMappings.username.prefix: Required value",
    ],
    [
      "an expression that is none",
      { jwt: [{ claimMappings: { username: { expression: "claims." } } }] },
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.": compilation failed: ERROR: <input>:1:8',
    ],
    [
      "a condition that is none",
      { jwt: [{ userValidationRules: [{ expression: "user.username" }] }] },
      'jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool',
    ],
    [
      "another type",
      { jwt: [{ claimMappings: { username: { claim: 1 } } }] },
      "jwt[0].claimMappings.username.claim: Invalid value: must be a text",
    ],
    [
      "its own issuer",
      { jwt: [{ issuer: { url: "https://own.example.com" } }] },
      "URL must not overlap with disallowed issuers",
    ],
    ["anonymous", { anonymous: { enabled: true } }, "anonymous: Invalid value"],
    ["nothing in a list", { jwt: [null] }, "jwt[0].issuer.url: Required value"],
    ["an unknown field", { jwt: [{ color: "red" }] }, "jwt[0].color: Invalid value: unknown field"],
  ])("with %s is rejected with a reason", (_, content, message) => {
    const whole = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration" }
    const text = typeof content === "string" ? content : JSON.stringify({ ...whole, ...(content as object) })
    const { authenticators, errors } = parseConfiguration(text, "https://own.example.com")
    expect(authenticators).toEqual([])
    expect(errors.map((error) => error.message()).join("\n")).toContain(message)
  })
})
