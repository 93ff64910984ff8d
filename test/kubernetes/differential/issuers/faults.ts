// Authenticators that are wrong. kube-apiserver tells all faults of a file at once, and so does a tenant.

import type { Loose } from "../../../../gateway/testing/kinds.ts"

const issuer = { audiences: ["a"] }
const claimMappings = { username: { claim: "sub", prefix: "" } }

/** Issuers without a URL get one of their own. */
export const faultyAuthenticators = (): Loose[] => [
  ...byIssuer(),
  ...byMapping(),
  ...byRule(),
  ...byExpression(),
  ...byNull(),
  { issuer },
  { claimMappings },
  {},
]

function byIssuer(): Loose[] {
  const urls = [
    "",
    "http://a",
    "a",
    "https://u:p@a",
    "https://u@b",
    "https://a?b",
    "https://a#b",
    "https://%zz",
    "://a",
    "https://a?",
  ]
  const issuers: Loose[] = [
    ...urls.map((url) => ({ ...issuer, url })),
    { ...issuer, url: "https://twice" },
    { ...issuer, url: "https://twice" },
    { ...issuer, url: "https://same", discoveryURL: "https://same/" },
    { ...issuer, discoveryURL: "https://discovery" },
    { ...issuer, discoveryURL: "https://discovery" },
    { ...issuer, discoveryURL: "http://a?b" },
    { audiences: [] },
    { audiences: ["", "a", "a", ""] },
    { audiences: ["", "a"], audienceMatchPolicy: "MatchAny" },
    { audiences: ["a"], audienceMatchPolicy: "MatchAll" },
    { audiences: ["a", "b"], audienceMatchPolicy: "MatchAll" },
    { ...issuer, certificateAuthority: "x" },
    { ...issuer, certificateAuthority: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
    { ...issuer, egressSelectorType: "x" },
  ]
  return issuers.map((one) => ({ issuer: one, claimMappings }))
}

function byMapping(): Loose[] {
  const one = { claim: "a", prefix: "" }
  const both = { claim: "a", expression: "claims.a" }
  const mappings: Loose[] = [
    { username: {} },
    { username: { prefix: "a" } },
    { username: { claim: "a" } },
    { username: { ...both, prefix: "" } },
    { username: { expression: "claims.a", prefix: "" } },
    { username: { expression: "claims.", prefix: "a" } },
    { username: one, groups: { claim: "a" } },
    { username: one, groups: { prefix: "a" } },
    { username: one, groups: both },
    { username: one, groups: { expression: "claims.a.b(" } },
    { username: one, uid: both },
    { username: one, uid: { expression: "claim" } },
    {
      username: one,
      extra: [
        ...["a", "", "A.b/c", "a.b/C", "a/b c", "kubernetes.io/a", "x.k8s.io/a", "a_b/c", "/a", "a/"].map((key) => ({
          key,
          valueExpression: "claims.a",
        })),
        { key: "a.b/c", valueExpression: "claims.a" },
        { key: "a.b/c", valueExpression: "claims.b" },
        { key: "d.e/f" },
        { key: "d.e/g", valueExpression: "claims." },
        { valueExpression: "claims.a" },
      ],
    },
    { username: { expression: "claims.email" } },
    { username: { expression: "claims.?email.orValue('')" } },
    { username: { expression: "has(claims.email) ? 'a' : 'b'" } },
    { username: { expression: "[claims.email][0]" } },
    { username: { expression: 'claims["email"]' } },
    { username: { expression: "claims.email" }, groups: { expression: "claims.email_verified ? ['a'] : []" } },
  ]
  return mappings.map((mapping) => ({ issuer, claimMappings: mapping }))
}

function byRule(): Loose[] {
  const claimRules = [
    {},
    { requiredValue: "a" },
    { claim: "a", expression: "true" },
    { claim: "a", message: "m" },
    { claim: "a", requiredValue: "b" },
    { expression: "true", requiredValue: "a" },
    { expression: "true" },
    { expression: "claims.a" },
    { expression: "claims.b == 'a'", message: "m" },
    { expression: "'a'" },
    { expression: "user.name == ''" },
  ]
  const userRules = [
    {},
    { expression: "user.username" },
    { expression: "user.name == ''" },
    { expression: "claims.a == ''" },
    { expression: "user.groups" },
    { expression: "user.username == ''" },
    { expression: "user.username == ''", message: "m" },
    { expression: "user.extra.a == 'a'" },
  ]
  return [
    { issuer, claimMappings, claimValidationRules: claimRules },
    { issuer, claimMappings, userValidationRules: userRules },
  ]
}

function byExpression(): Loose[] {
  const expressions = [
    "claims.nested.exists(k, k == 'n')",
    "claims.groups.map(g, g)",
    "claims[1]",
    "'%s'.format([claims.sub])",
    "'%d'.format([claims.sub])",
    "['a', 1]",
    "[claims.sub, 'x']",
    "[claims.sub, dyn('x')]",
    "{'a': claims.sub, 'b': 'x'}",
    "claims + 1",
    "claims.sub + 1 + 'a'",
    "claims.sub.nothing()",
    "other.sub",
    "claims.sub.matches('[')",
    "kubernetes.UserInfo{}",
  ]
  return expressions.map((expression) => ({ issuer, claimMappings: { username: { expression } } }))
}

/** What is null is absent, and what a list has of it is empty. */
function byNull(): Loose[] {
  const nothing = {
    discoveryURL: null,
    certificateAuthority: null,
    audienceMatchPolicy: null,
    egressSelectorType: null,
  }
  const given: Loose[] = [
    { issuer: { audiences: null }, claimMappings },
    { issuer: { audiences: [null] }, claimMappings },
    { issuer: { ...issuer, ...nothing, url: null }, claimMappings },
    { issuer, claimMappings: null },
    { issuer, claimMappings: { username: null } },
    { issuer, claimMappings: { username: { claim: null, expression: null, prefix: null } } },
    { issuer, claimMappings: { username: { claim: "sub", prefix: null }, groups: null, uid: null, extra: null } },
    { issuer, claimMappings: { ...claimMappings, extra: [null] } },
    { issuer, claimMappings: { ...claimMappings, extra: [{ key: null, valueExpression: null }] } },
    { issuer, claimMappings, claimValidationRules: [null] },
    { issuer, claimMappings, userValidationRules: [null, { expression: null, message: null }] },
  ]
  return given
}
