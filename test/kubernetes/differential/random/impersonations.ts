// Random impersonations by a service account with random rights to be somebody: altogether, or for some verbs.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"

const rbac = "/apis/rbac.authorization.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"
const actor = "system:serviceaccount:@{ns}:actor"
const length = 40

export function randomImpersonationScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [...granted(random), ...Array.from({ length }, () => attempt(random))]
  return { name: `impersonations at random, seed ${seed}`, steps: titled(steps), byChance: true }
}

/** kube-apiserver decides by what it has seen of roles and bindings so far, of which the last are asked for. */
function granted(random: Random): RequestStep[] {
  const marker = (resource: string): JsonObject => ({ apiGroups: [""], resources: [resource], verbs: ["get"] })
  const subjects = [{ kind: "ServiceAccount", name: "actor", namespace: "@{ns}" }]
  const bound = (path: string, kind: string, name: string, rules: Json): RequestStep[] => [
    post(`${path}/${kind.toLowerCase()}s`, { metadata: { name }, rules }),
    post(`${path}/${kind.toLowerCase()}bindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
      subjects,
    }),
  ]
  const seen = (resource: string): RequestStep =>
    post(
      "/apis/authorization.k8s.io/v1/subjectaccessreviews",
      { spec: { user: actor, resourceAttributes: { namespace: "@{ns}", verb: "get", resource } } },
      { untilText: '"allowed":true' },
    )
  return [
    post(`${core}/serviceaccounts`, { metadata: { name: "actor" } }),
    ...bound(rbac, "ClusterRole", "i@{id}", [...rules(random, true), marker("bindings")]),
    ...bound(`${rbac}/namespaces/@{ns}`, "Role", "i", [...rules(random, false), marker("podtemplates")]),
    post(`${core}/serviceaccounts/actor/token`, { spec: {} }, { save: "token" }),
    seen("bindings"),
    seen("podtemplates"),
  ]
}

const modes = ["user-info", "user-info", "serviceaccount", "arbitrary-node", "associated-node"]
const kinds = [
  "users",
  "groups",
  "serviceaccounts",
  "uids",
  "userextras/*",
  "userextras/scopes",
  "userextras",
  "nodes",
  "*",
]
const named = ["bob", "g", "u", "n1", "system:node:n1", "default", "x", "*"]

/** Mostly what one mode needs. */
function rules(random: Random, inCluster: boolean): JsonObject[] {
  const mode = pick(random, modes)
  const some = <T>(values: readonly T[]): T[] => values.filter(() => chance(random, 0.7))
  const names = (): JsonObject =>
    chance(random, 0.3) ? { resourceNames: Array.from({ length: 2 }, () => pick(random, named)) } : {}
  const may = (verbs: Json, resources: Json, apiGroups: Json): JsonObject => ({
    verbs,
    resources,
    apiGroups,
    ...names(),
  })
  const found = [
    may(["impersonate"], some(kinds.slice(0, 3)), [""]),
    may(["impersonate"], some(kinds.slice(3)), ["authentication.k8s.io"]),
    may([`impersonate:${mode}`], some(kinds), ["authentication.k8s.io"]),
    may(
      some(["create", "get", "list", "*"]).map((verb) => `impersonate-on:${mode}:${verb}`),
      some(["selfsubjectreviews", "configmaps", "selfsubjectaccessreviews", "*"]),
      ["", "authentication.k8s.io", "authorization.k8s.io"],
    ),
    may([pick(random, ["*", "get", `impersonate:${pick(random, modes)}`])], [pick(random, kinds)], ["*"]),
    may(["get", "list"], ["configmaps"], [""]),
  ].filter(({ verbs, resources }) => chance(random, 0.6) && [verbs, resources].every((list) => (list as []).length > 0))
  if (!inCluster || chance(random, 0.7)) return found
  return [...found, { verbs: [`impersonate-on:${mode}:get`, "get"], nonResourceURLs: ["/healthz", "/a/*"] }]
}

const users = [
  ..."bob bob bob x system:node:n1 system:node:n1 system:node: system:node:N_1 system:anonymous system:admin".split(
    " ",
  ),
  "system:serviceaccount:@{ns}:default",
  "system:serviceaccount:@{ns}:default",
  "system:serviceaccount:default:default",
  "system:serviceaccount:x",
  "system:serviceaccount::x",
  "",
  actor,
]
const groups =
  "g g system:masters system:nodes system:authenticated system:unauthenticated system:serviceaccounts *".split(" ")
const extras = "scopes scopes a.b%2fc Acme a%zz example.com%2fX authentication.kubernetes.io%2fnode-name %20".split(" ")

function attempt(random: Random): RequestStep {
  const headers: Record<string, string> = { authorization: "Bearer @{token.status.token}" }
  if (chance(random, 0.95)) headers["impersonate-user"] = pick(random, users)
  if (chance(random, 0.3)) headers["impersonate-group"] = pick(random, groups)
  if (chance(random, 0.2)) headers["impersonate-uid"] = pick(random, ["u", "u", "x", ""])
  if (chance(random, 0.2)) headers[`impersonate-extra-${pick(random, extras)}`] = pick(random, ["x", "default", "a, b"])
  if (chance(random, 0.05)) headers["impersonate-bogus"] = "x"
  const path = pick(random, ["/healthz", "/a/b", `${core}/configmaps`, `${core}/configmaps/x`, core])
  const access = { resourceAttributes: { namespace: "@{ns}", verb: "list", resource: "configmaps" } }
  return pick(random, [
    () => post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { headers }),
    () => post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { headers }),
    () => post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: access }, { headers }),
    () => get(path, { headers }),
  ])()
}
