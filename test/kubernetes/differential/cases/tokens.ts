// Tokens of service accounts: TokenReviews of invalid and expired ones.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const reviews = "/apis/authentication.k8s.io/v1/tokenreviews"
const fast = { gracePeriodSeconds: 0 }

export function tokenCases(): Scenario[] {
  return [
    { name: "reviews of who one is are answered", steps: whoOneIs() },
    {
      name: "tokens are reviewed for audiences",
      steps: [
        post(`${core}/serviceaccounts/default/token`, { spec: {} }, { save: "own" }),
        post(`${core}/serviceaccounts/default/token`, { spec: { audiences: ["a", 'b"c'] } }, { save: "other" }),
        review("own"),
        review("own", ["x", "y"]),
        review("other"),
        review("other", ["x", "a"]),
        review("other", ["x"]),
        post(reviews, { spec: { token: "@{own.status.token}x" } }, { label: "review of a forged token" }),
        post(reviews, { spec: { token: "a.b.c" } }),
        get(`${core}/configmaps`, { headers: { authorization: "Bearer @{other.status.token}" } }),
      ],
    },
    {
      name: "tokens are requested for an account",
      steps: [
        ...account("a"),
        requested("a", { metadata: { name: "a", namespace: "@{ns}" }, spec: {} }),
        requested("a", { metadata: { name: "b" }, spec: { expirationSeconds: 1 } }),
        requested("a", { metadata: { namespace: "other" }, spec: {} }),
        requested("a", { metadata: { name: "a" }, spec: { expirationSeconds: 1 } }),
        requested("a", { metadata: { uid: "other" }, spec: { expirationSeconds: 1 } }),
        requested("absent", { metadata: { uid: "other" }, spec: { expirationSeconds: 1 } }),
        requested("a", { metadata: { labels: { a: "b" } }, spec: {}, status: { token: "x" } }),
        post(`${core}/pods`, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } }),
        requested("a", { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p", uid: "other" } } }),
        requested("default", { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p", uid: "other" } } }),
        requested("default", {
          spec: { expirationSeconds: 3607, boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } },
        }),
        requested("default", { spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1/x/y", name: "p" } } }),
        requested("default", { spec: { boundObjectRef: {} } }),
      ],
    },
    {
      name: "tokens are reviewed as headers are read",
      steps: [
        post(`${core}/serviceaccounts/default/token`, { spec: {} }, { save: "own" }),
        ...["@{own.status.token}\n", " @{own.status.token}", "@{own.status.token} x", " ", "x y", "\n"].map(
          (token, at) => post(reviews, { spec: { token } }, { label: `review ${at}` }),
        ),
        ...["Bearer @{own.status.token} x", "bearer\t@{own.status.token}", "Bearer  @{own.status.token}", "Bearer"].map(
          (authorization, at) => post(whoAmI, {}, { headers: { authorization }, label: `who am I with header ${at}` }),
        ),
        ...["v4, @{own.status.token}", "v4"].map((protocols, at) =>
          get(`${core}/configmaps`, {
            headers: { authorization: "Basic x", "sec-websocket-protocol": protocols },
            label: `LIST with protocols ${at}`,
          }),
        ),
      ],
    },
    {
      name: "tokens are none that are not well formed",
      steps: [
        post(`${core}/serviceaccounts/default/token`, { spec: {} }, { save: "own" }),
        ...[
          { alg: "none" },
          { alg: "HS256" },
          { alg: "ES256", kid: "other" },
          { alg: "ES256", crit: ["b64"], b64: false },
          {},
          "x",
        ].flatMap((header) =>
          [{ iss: "x" }, {}, "x"].map((claims) =>
            post(
              reviews,
              { spec: { token: `${encoded(header)}.${encoded(claims)}.AAAA` } },
              { label: `review of ${JSON.stringify(header)} ${JSON.stringify(claims)}` },
            ),
          ),
        ),
      ],
    },
    {
      name: "tokens end with their account",
      steps: [
        ...account("a"),
        bound("a", undefined),
        remove(`${core}/serviceaccounts/a`),
        ...seen(),
        review("token"),
        ...account("a"),
        ...seen(),
        review("token"),
      ],
    },
    ends("a Secret", { kind: "Secret", apiVersion: "v1", name: "b" }, `${core}/secrets`, {}),
    ends("a pod", { kind: "Pod", apiVersion: "v1", name: "b" }, `${core}/pods`, {
      spec: { serviceAccountName: "a", containers: [{ name: "c", image: "i" }] },
    }),
    ends("a node", { kind: "Node", apiVersion: "v1", name: "b@{id}" }, "/api/v1/nodes", {}),
  ]
}

const whoAmI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
const encoded = (part: Json): string => Buffer.from(JSON.stringify(part)).toString("base64url")
const requested = (name: string, body: Json): RequestStep =>
  post(`${core}/serviceaccounts/${name}/token`, body, { label: `TokenRequest of ${name} with ${JSON.stringify(body)}` })

const account = (name: string): RequestStep[] => [post(`${core}/serviceaccounts`, { metadata: { name } })]

type Bound = { kind: string; apiVersion: string; name: string }

function ends(what: string, to: Bound, path: string, object: { [field: string]: Json }): Scenario {
  const { name } = to
  const made = post(path, { metadata: { name }, ...object })
  return {
    name: `tokens end with ${what} they are bound to`,
    steps: [
      ...account("a"),
      made,
      bound("a", to),
      remove(`${path}/${name}`, fast),
      ...seen(),
      review("token"),
      made,
      ...seen(),
      review("token"),
      get(`${core}/configmaps`, { headers: { authorization: "Bearer @{token.status.token}" } }),
      post(whoAmI, {}, { headers: { authorization: "Bearer @{token.status.token}" }, label: "who am I" }),
    ],
  }
}

/**
 * kube-apiserver reads what tokens depend on from its informers, and it remembers for some seconds that a token was valid: until they have
 * seen the change, the token may not be reviewed.
 */
const seen = (): RequestStep[] =>
  Array.from({ length: 8 }, (_, at) =>
    post(`${core}/configmaps`, { metadata: { generateName: "gen-" } }, { label: `ConfigMap ${at}` }),
  )

const bound = (name: string, boundObjectRef: Json | undefined): RequestStep =>
  post(
    `${core}/serviceaccounts/${name}/token`,
    { spec: boundObjectRef === undefined ? {} : { boundObjectRef } },
    { save: "token" },
  )

function review(token: string, audiences?: string[]): RequestStep {
  const spec = { token: `@{${token}.status.token}`, ...(audiences === undefined ? {} : { audiences }) }
  return post(reviews, { spec }, { label: `review of ${token} for ${JSON.stringify(audiences)}` })
}

function whoOneIs(): RequestStep[] {
  const accounts = `${core}/serviceaccounts`
  const request = (spec: Json, label: string): RequestStep =>
    post(`${accounts}/default/token`, { spec }, { label: `TokenRequest ${label}` })
  return [
    post(whoAmI, {}, { as: { name: "limited", groups: ["system:authenticated"] } }),
    post(whoAmI, { kind: "Bogus" }),
    post(reviews, { spec: { token: "bogus" } }),
    post(reviews, { spec: {} }),
    post(reviews, {}),
    post(`${accounts}/default/token`, { spec: {} }, { save: "token", label: "TokenRequest" }),
    post(reviews, { spec: { token: "@{token.status.token}" } }, { label: "TokenReview of it" }),
    request({ audiences: ["a", "b"], expirationSeconds: 600 }, "with audiences"),
    request({ expirationSeconds: 1 }, "too short"),
    request({ expirationSeconds: 5_000_000_000 }, "too long"),
    request({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "absent" } }, "bound to an absent pod"),
    request({ boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "x" } }, "bound to a ConfigMap"),
    post(`${accounts}/absent/token`, { spec: {} }),
    post(`${accounts}/default/token?dryRun=All`, { spec: {} }),
    get(`${accounts}/default/token`),
  ]
}
