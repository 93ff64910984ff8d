// Who may act as whom: the right to be somebody altogether, and the rights to be somebody for some verbs alone. Callers are service
// accounts with tokens of their own.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, type RequestStep, type Scenario } from "../scenario.ts"

const rbac = "/apis/rbac.authorization.k8s.io/v1"
const maps = "/api/v1/namespaces/@{ns}/configmaps"
const account = "system:serviceaccount:@{ns}:default"

export function impersonationCases(): Scenario[] {
  return [
    { name: "users are impersonated by those who may", steps: impersonatedByAdministrator() },
    impersonates("nobody", []),
    impersonates("anybody", [
      ...may("impersonate", ["users", "groups", "serviceaccounts"], ""),
      ...may("impersonate", ["uids", "userextras/*"]),
    ]),
    impersonates("users for some verbs", [
      ...may("impersonate:user-info", ["users", "groups"]),
      ...on("user-info"),
      ...may("impersonate-on:user-info:list", ["configmaps"], ""),
    ]),
    impersonates("users, but for no verb", may("impersonate:user-info", ["users", "groups"])),
    impersonates("nobody for some verbs", on("user-info")),
    impersonates("service accounts for some verbs", [
      ...may("impersonate:serviceaccount", ["serviceaccounts"]),
      ...on("serviceaccount"),
    ]),
    impersonates("nodes for some verbs", [...may("impersonate:arbitrary-node", ["nodes"]), ...on("arbitrary-node")]),
    impersonates("users with everything about them", [
      ...may("impersonate:user-info", ["users", "groups", "uids", "userextras/*"]),
      ...on("user-info"),
    ]),
  ]
}

const may = (verb: string, resources: Json, group = "authentication.k8s.io"): Json[] => [
  { apiGroups: [group], resources, verbs: [verb] },
]
const on = (mode: string): Json[] => may(`impersonate-on:${mode}:create`, ["selfsubjectreviews"])

function impersonates(whom: string, rules: Json[]): Scenario {
  const subjects = [{ kind: "ServiceAccount", name: "actor", namespace: "@{ns}" }]
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "i@{id}" }
  // kube-apiserver decides by what it has seen of roles and bindings so far.
  const seen = { user: "system:serviceaccount:@{ns}:actor", resourceAttributes: { verb: "get", resource: "bindings" } }
  return {
    name: `an account impersonates ${whom}`,
    steps: [
      post("/api/v1/namespaces/@{ns}/serviceaccounts", { metadata: { name: "actor" } }),
      post(`${rbac}/clusterroles`, {
        metadata: { name: "i@{id}" },
        rules: [...rules, ...may("get", ["bindings"], "")],
      }),
      post(`${rbac}/clusterrolebindings`, { metadata: { name: "i@{id}" }, roleRef, subjects }),
      post("/api/v1/namespaces/@{ns}/serviceaccounts/actor/token", { spec: {} }, { save: "token" }),
      post("/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec: seen }, { untilText: '"allowed":true' }),
      ...attempts(),
    ],
  }
}

function attempts(): RequestStep[] {
  return [
    ...[{ user: "bob" }, { user: "system:node:n1" }, { user: account }].flatMap((of) => [whoAmI(of), as(of, maps)]),
    whoAmI({ user: "system:node:N_1" }),
    whoAmI({ user: "system:node:n1", group: "g" }),
    whoAmI({ user: account, group: "g" }),
    whoAmI({ user: `${account}:x` }),
    whoAmI({ user: "system:anonymous" }),
    whoAmI({ user: "bob", group: "g" }),
    whoAmI({ user: "bob", group: "system:masters" }),
    whoAmI({ user: "bob", group: "system:unauthenticated" }),
    whoAmI({ user: "bob", uid: "u" }),
    whoAmI({ user: "bob", uid: "u", group: "g" }),
    whoAmI({ user: "bob", "extra-a": "x" }),
    whoAmI({ user: "bob", "extra-a.b%2fc": "x" }),
    whoAmI({ user: "bob", "extra-a.b%2f%41": "x" }),
    whoAmI({ user: "bob", "extra-a%zz": "x" }),
    whoAmI({ group: "g" }),
    whoAmI({ "extra-b": "x", "extra-a": "y", uid: "u" }),
    as({ user: "bob" }, "/healthz"),
    as({ user: "bob" }, "/apis/x.example.com/v1/namespaces/@{ns}/things/a/status"),
    whoAmI({ user: "system:node:n1" }, "once more"),
  ]
}

type Who = Readonly<Record<string, string>>

function whoAmI(who: Who, more = ""): RequestStep {
  const label = `who am I as ${JSON.stringify(who)} ${more}`
  return post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { headers: headersOf(who), label })
}

const as = (who: Who, path: string): RequestStep =>
  get(path, { headers: headersOf(who), label: `GET ${path} as ${JSON.stringify(who)}` })

function headersOf(who: Who): Record<string, string> {
  const entries = Object.entries(who).map(([name, value]) => [`impersonate-${name}`, value] as const)
  return { authorization: "Bearer @{token.status.token}", ...Object.fromEntries(entries) }
}

/** By an administrator. */
function impersonatedByAdministrator(): RequestStep[] {
  const review = { method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", body: {} }
  return [
    post(`${rbac}/namespaces/@{ns}/roles`, { metadata: { name: "limited" }, rules: may("get", ["configmaps"], "") }),
    { ...review, headers: { "impersonate-user": "x", "impersonate-group": "g" }, label: "who am I, with a group" },
    { ...review, headers: { "impersonate-user": "x", "impersonate-uid": "u" }, label: "who am I, with a uid" },
    {
      ...review,
      headers: { "impersonate-user": "x", "impersonate-extra-scopes": "a", "impersonate-extra-Acme%2fKey": "b" },
      label: "who am I, with extra",
    },
    { ...review, headers: { "impersonate-user": "system:anonymous" }, label: "who am I, anonymous" },
    {
      ...review,
      headers: { "impersonate-user": "system:serviceaccount:@{ns}:default" },
      label: "who am I, a service account",
    },
  ]
}
