// Issuers as tenants configure them, each with the claims of its tokens: what user a token names, and why it names none.

import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { conditions, lists, usernames, users } from "./expressions.ts"

interface IssuerCase {
  name: string
  /** Of the authenticator, besides its issuer. */
  authenticator: Loose
  /** Of the issuer, besides its URL. */
  issuer?: Loose
  /** The claims of each token, besides those that every token has. */
  tokens: readonly Loose[]
}

const sub = { username: { claim: "sub", prefix: "" } }
const plain = { sub: "ann" }

/** What the tokens of most cases say. */
const claims: Loose = {
  sub: "ann",
  email: "ann@example.com",
  email_verified: true,
  age: 41,
  ratio: 1.5,
  big: 1e21,
  empty: "",
  none: null,
  groups: ["a", "b", ""],
  numbers: [1, 2],
  roles: "x,y",
  "a.b": "dotted",
  nested: { "x-y": "dashed", "c.d": "deep", list: ["p", { "e.f": "deeper" }], n: 7 },
}

export const issuerCases = (): IssuerCase[] => [...byClaims(), ...byExpressions(), ...byRules()]

function byClaims(): IssuerCase[] {
  return [
    {
      name: "claims name the user",
      authenticator: {
        claimMappings: {
          username: { claim: "sub", prefix: "u:" },
          groups: { claim: "groups", prefix: "g:" },
          uid: { claim: "uid" },
        },
      },
      tokens: [
        ...["1", "", null, 1, undefined, {}, []].map((uid) => ({ sub: "ann", uid })),
        ...[["a", "b"], "a", "", [], ["", null], null, 1, [1], ["a", 1], {}, true].map((groups) => ({
          sub: "ann",
          uid: "1",
          groups,
        })),
        ...[1, true, {}, [], undefined, "a\u0000b"].map((name) => ({ sub: name, uid: "1" })),
        ...["j", "", 1, null, {}].map((jti) => ({ sub: "ann", uid: "1", jti })),
        { ...plain, uid: "1", nbf: 1, iat: 4e9 },
        { ...plain, uid: "1", nbf: 4e9 },
        { ...plain, uid: "1", exp: 1 },
        { ...plain, uid: "1", exp: "x" },
        { ...plain, uid: "1", exp: 4e9 + 0.5 },
        { ...plain, uid: "1", exp: null },
        { ...plain, uid: "1", aud: [] },
        { ...plain, uid: "1", aud: ["x", "polyplane"] },
        { ...plain, uid: "1", aud: "x" },
        ...[1, {}, null, [1], [null, "polyplane"], ["polyplane", 1]].map((aud) => ({ ...plain, uid: "1", aud })),
        ...["4000000000", "4e9", "-1", "", "1.", true, {}, [1], -1].map((exp) => ({ ...plain, uid: "1", exp })),
        ...["1", null, "x", {}].map((nbf) => ({ ...plain, uid: "1", nbf })),
        ...["1", null, "x"].map((iat) => ({ ...plain, uid: "1", iat })),
        { ...plain, uid: "1", nonce: 1 },
        { ...plain, uid: "1", nonce: null, at_hash: {} },
        { sub: 1, uid: "1", exp: "x", aud: 1 },
        { sub: 1, uid: "1", nonce: {}, aud: {} },
        { ...plain, uid: "1", email: 1, email_verified: "x" },
      ],
    },
    {
      name: "an email address names the user",
      authenticator: { claimMappings: { username: { claim: "email", prefix: "" } } },
      tokens: [true, false, "true", 1, null, undefined].map((verified) => ({
        email: "a@b.c",
        email_verified: verified,
      })),
    },
    {
      name: "claims are required",
      authenticator: { claimMappings: sub, claimValidationRules: [{ claim: "hd", requiredValue: "x" }] },
      tokens: ["x", "y", "", 1, null, ["x"], undefined].map((hd) => ({ ...plain, hd })),
    },
    {
      name: "a claim must be empty",
      authenticator: { claimMappings: sub, claimValidationRules: [{ claim: "hd" }] },
      tokens: ["x", "", null, undefined].map((hd) => ({ ...plain, hd })),
    },
    {
      name: "one of several audiences",
      issuer: { audiences: ["b", "polyplane", "a"], audienceMatchPolicy: "MatchAny" },
      authenticator: { claimMappings: sub },
      tokens: ["a", ["x", "b"], ["x", "y"], "x", []].map((aud) => ({ ...plain, aud })),
    },
    {
      name: "groups are elsewhere",
      authenticator: { claimMappings: { ...sub, groups: { claim: "groups", prefix: "g:" } } },
      tokens: [
        { ...plain, _claim_names: { groups: "s" } },
        { ...plain, _claim_names: { groups: "s" }, _claim_sources: {} },
        { ...plain, _claim_names: { groups: "s" }, _claim_sources: { s: {} } },
        { ...plain, _claim_names: { groups: "s" }, _claim_sources: { s: { JWT: "x" } } },
        { ...plain, _claim_names: { other: "s" }, _claim_sources: { s: { endpoint: "https://127.0.0.1:1/" } } },
        { ...plain, _claim_names: { other: "s" } },
        { ...plain, _claim_names: "x" },
        { ...plain, _claim_names: { groups: 1 } },
        { ...plain, _claim_names: { groups: "s" }, _claim_sources: "x" },
        { ...plain, groups: "a", _claim_names: "x" },
        { ...plain, _claim_names: null },
        { ...plain, _claim_names: {} },
        { ...plain, _claim_names: { groups: "" } },
        { ...plain, _claim_names: { groups: null } },
        { ...plain, _claim_names: { groups: "s" }, _claim_sources: { s: 1 } },
        { ...plain, _claim_names: { groups: "s" }, _claim_sources: { s: null } },
        ...["groups", "claims", "nothing", "words", "expired", "later"].map((at) => ({
          ...plain,
          _claim_names: { groups: "s" },
          _claim_sources: { s: { endpoint: `@{issuer}/${at}`, access_token: at === "claims" ? "" : "word" } },
        })),
      ],
    },
    {
      name: "groups that are not mapped are elsewhere",
      authenticator: { claimMappings: sub },
      tokens: [{ ...plain, _claim_names: { groups: "s" } }],
    },
  ]
}

function byExpressions(): IssuerCase[] {
  return [
    ...usernames.map((expression) => ({
      name: `the user is ${expression}`,
      authenticator: {
        claimMappings: { username: { expression } },
        ...(/email\b/.test(expression) && !expression.includes("email_verified")
          ? { claimValidationRules: [{ expression: "claims.?email_verified.orValue(true) == true" }] }
          : {}),
      },
      tokens: [claims],
    })),
    ...lists.map((expression) => ({
      name: `groups are ${expression}`,
      authenticator: { claimMappings: { ...sub, groups: { expression } } },
      tokens: [claims],
    })),
    ...["claims.sub", "claims.age", "''", "claims.missing", "null", "['a']"].map((expression) => ({
      name: `the uid is ${expression}`,
      authenticator: { claimMappings: { ...sub, uid: { expression } } },
      tokens: [claims],
    })),
    ...["claims.sub", "claims.groups", "claims.age", "claims.missing", "''", "null", "[1]"].map((valueExpression) => ({
      name: `extra is ${valueExpression}`,
      authenticator: {
        claimMappings: {
          ...sub,
          extra: [
            { key: "example.com/first", valueExpression: "'one'" },
            { key: "example.com/second", valueExpression },
          ],
        },
      },
      tokens: [{ ...claims, jti: "j" }],
    })),
  ]
}

function byRules(): IssuerCase[] {
  return [
    ...conditions.map((expression) => ({
      name: `claims must satisfy ${expression}`,
      authenticator: {
        claimMappings: sub,
        claimValidationRules: [{ expression: "claims.sub != ''" }, { expression, message: "they do not" }],
      },
      tokens: [claims],
    })),
    {
      name: "claims must satisfy a rule without a message",
      authenticator: {
        claimMappings: sub,
        claimValidationRules: [{ claim: "hd", requiredValue: "x" }, { expression: "claims.sub == 'bob'" }],
        userValidationRules: [{ expression: "user.username == 'bob'" }],
      },
      tokens: [{ ...claims, hd: "x" }, claims],
    },
    ...users.map((expression) => ({
      name: `the user must satisfy ${expression}`,
      authenticator: {
        claimMappings: {
          ...sub,
          groups: { claim: "groups", prefix: "" },
          extra: [{ key: "example.com/one", valueExpression: "'two'" }],
        },
        userValidationRules: [{ expression, message: "it does not" }],
      },
      tokens: [claims, { ...plain, jti: "j" }],
    })),
  ]
}
