// Random tokens of service accounts: what may be requested, what reviews and requests make of them, and what they are bound to.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"

const core = "/api/v1/namespaces/@{ns}"
const authentication = "/apis/authentication.k8s.io/v1"
const length = 40
const accounts = ["default", "a", "a", "b"]
const saved = ["first", "second", "third"]

export function randomTokenScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...["a", "b"].map((name) => post(`${core}/serviceaccounts`, account(random, name))),
    ...given(random),
    ...saved.map((save) => requests(random, save)),
    ...Array.from({ length }, () => pick(random, choices)(random)),
  ]
  return { name: `tokens at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

const choices: readonly ((random: Random) => RequestStep)[] = [
  (random) => requests(random, chance(random, 0.4) ? pick(random, saved) : undefined),
  (random) => requests(random, undefined),
  reviews,
  reviews,
  uses,
]

function account(random: Random, name: string): JsonObject {
  return {
    metadata: {
      name,
      ...(chance(random, 0.3)
        ? { annotations: { "kubernetes.io/enforce-mountable-secrets": pick(random, ["true", "false", "x"]) } }
        : {}),
    },
    ...(chance(random, 0.5) ? { secrets: [{ name: "s" }] } : {}),
  }
}

/** What tokens are bound to, each saved by its name. Pods are of an account, and may be on a node. */
function given(random: Random): RequestStep[] {
  const pod = (name: string, spec: JsonObject): RequestStep => ({
    ...post(`${core}/pods`, { metadata: { name }, spec: { containers: [{ name: "c", image: "i" }], ...spec } }),
    save: name,
  })
  return [
    { ...post("/api/v1/nodes", { metadata: { name: "n@{id}" } }), save: "node" },
    { ...post(`${core}/secrets`, { metadata: { name: "s" } }), save: "secret" },
    pod("p", { serviceAccountName: pick(random, accounts) }),
    pod("q", {
      serviceAccountName: "a",
      ...(chance(random, 0.6) ? { nodeName: pick(random, ["n@{id}", "none"]) } : {}),
    }),
  ]
}

function requests(random: Random, save: string | undefined): RequestStep {
  const name = pick(random, accounts)
  const spec: JsonObject = {
    ...(chance(random, 0.6) ? { audiences: audiences(random) } : {}),
    ...(chance(random, 0.6) ? { expirationSeconds: expiration(random) } : {}),
    ...(chance(random, 0.6) ? { boundObjectRef: reference(random) } : {}),
  }
  const metadata = pick<JsonObject>(random, [
    {},
    {},
    {},
    {},
    { metadata: { name } },
    { metadata: { name: "other", namespace: pick(random, ["@{ns}", "other"]) } },
    { metadata: { generateName: "x-", labels: { a: "b" }, annotations: { c: "d" } } },
  ])
  const typed = pick<JsonObject>(random, [
    {},
    {},
    {},
    { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" },
    { apiVersion: "authentication.k8s.io/v1beta1", kind: "TokenRequest" },
    { apiVersion: "v1", kind: "ServiceAccount" },
  ])
  const status = chance(random, 0.05) ? { status: { token: "x", expirationTimestamp: null } } : {}
  const query = pick(random, ["", "", "", "", "?dryRun=All", "?fieldValidation=Strict", "?fieldManager=m", "?pretty=1"])
  const body = { ...typed, ...metadata, ...(chance(random, 0.95) ? { spec } : {}), ...status }
  const step = post(`${core}/serviceaccounts/${chance(random, 0.95) ? name : "none"}/token${query}`, body)
  return save === undefined ? step : { ...step, save }
}

/** Not those of the servers, which are named otherwise. */
function audiences(random: Random): Json {
  return pick<Json>(random, [
    [],
    null,
    [""],
    ["a"],
    ["a", "b"],
    ["a", "a"],
    ["api", "https://other.example"],
    ["ä", "x y"],
    "a",
  ])
}

function expiration(random: Random): Json {
  const numbers = [0, 1, -1, 599, 600, 601, 3606, 3607, 3608, 86400, 2 ** 32, 2 ** 32 + 1, 2 ** 53, null]
  return pick<Json>(random, [...numbers, ...numbers, "600", 600.5, {}])
}

function reference(random: Random): Json {
  const [kind, apiVersion, name, of] = pick(random, [
    ["Pod", "v1", "p", "p"],
    ["Pod", "v1", "q", "q"],
    ["Pod", "v1", "q", "q"],
    ["Secret", "v1", "s", "secret"],
    ["Node", "v1", "n@{id}", "node"],
    ["ConfigMap", "v1", "s", "secret"],
    ["Pod", "v1", "none", "p"],
    ["Secret", "v1", "none", "secret"],
    ["Node", "v1", "none", "node"],
    ["Pod", "", "p", "p"],
    ["Pod", "core/v1", "p", "p"],
    ["Pod", "v2", "p", "p"],
    ["pod", "v1", "p", "p"],
  ] as const)
  const uid = pick<JsonObject>(random, [{}, {}, { uid: `@{${of}.metadata.uid}` }, { uid: "other" }, { uid: "" }])
  return pick<Json>(random, [
    { kind, apiVersion, name, ...uid },
    { kind, apiVersion, name, ...uid },
    { kind, apiVersion, name, ...uid },
    { kind, apiVersion, name, ...uid },
    { kind, apiVersion, ...uid },
    { kind, name, ...uid },
    { name, ...uid },
    null,
    {},
  ])
}

function reviews(random: Random): RequestStep {
  const token = `@{${pick(random, saved)}.status.token}`
  const spec = {
    token: pick(random, [token, token, token, `${token}x`, ""]),
    ...(chance(random, 0.6) ? { audiences: audiences(random) } : {}),
  }
  const query = pick(random, ["", "", "", "?dryRun=All", "?fieldValidation=Strict"])
  return post(`${authentication}/tokenreviews${query}`, {
    ...(chance(random, 0.1) ? { metadata: { name: "a", labels: { a: "b" } } } : {}),
    spec,
    ...(chance(random, 0.1) ? { status: { authenticated: true } } : {}),
  })
}

function uses(random: Random): RequestStep {
  const headers = { authorization: `Bearer @{${pick(random, saved)}.status.token}` }
  return chance(random, 0.6)
    ? post(`${authentication}/selfsubjectreviews`, {}, { headers })
    : get(`${core}/configmaps`, { headers })
}
