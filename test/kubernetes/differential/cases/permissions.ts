// Permissions beyond a request's own: to sign and to approve certificates, and what is said of bindings without a role.

import type { Json } from "../../../../apimachinery/object.ts"
import { kindNamed } from "../generate/objects.ts"
import { get, mergePatch, patch, post, put, type RequestStep, type Scenario, type User } from "../scenario.ts"

const apiGroup = "rbac.authorization.k8s.io"
const rbac = `/apis/${apiGroup}/v1`
const inNamespace = `${rbac}/namespaces/@{ns}`
const maps = "/api/v1/namespaces/@{ns}/configmaps"
const reviews = "/apis/authorization.k8s.io/v1"

export function permissionCases(): Scenario[] {
  return [
    { name: "bindings of missing roles are told", steps: missingRoles() },
    { name: "certificates are signed and approved by those who may", steps: certificates() },
  ]
}

const bind = (subject: Json, kind: string, name: string): RequestStep =>
  post(`${inNamespace}/rolebindings`, { metadata: { name }, roleRef: { apiGroup, kind, name }, subjects: [subject] })

function missingRoles(): RequestStep[] {
  const as: User = { name: 'odd "name" \\x', groups: ["system:authenticated", "g\\1"] }
  const subject = { kind: "User", apiGroup, name: as.name }
  const check = (more: Json): RequestStep[] => [
    get(maps, { as, label: `LIST ${JSON.stringify(more)}` }),
    post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: "@{ns}" } }, { as }),
    post(
      `${inNamespace}/roles`,
      { metadata: { name: "x" }, rules: [{ apiGroups: ["", "apps"], resources: ["pods"], verbs: ["get"] }] },
      { as },
    ),
    post(
      `${reviews}/selfsubjectaccessreviews`,
      { spec: { resourceAttributes: { namespace: "@{ns}", ...(more as object) } } },
      { as },
    ),
    get('/bogus"%01', { as }),
    post(`${inNamespace}/rolebindings`, { metadata: { name: "d" }, roleRef: { kind: "Role", name: "absent" } }, { as }),
  ]
  return [
    bind(subject, "Role", "one"),
    get(maps, { as, untilText: "not found", label: "LIST when bound" }),
    ...check({ verb: "get", resource: "configmaps" }),
    bind(subject, "ClusterRole", "two"),
    get(maps, { as, untilText: "clusterrole", label: "LIST when bound twice" }),
    ...check({ verb: "get", resource: "secrets" }),
    post(`${inNamespace}/roles`, {
      metadata: { name: "three" },
      rules: [{ apiGroups: [apiGroup], resources: ["roles", "rolebindings"], verbs: ["create"] }],
    }),
    bind(subject, "Role", "three"),
    post(`${inNamespace}/roles?dryRun=All`, { metadata: { name: "y" }, rules: [] }, { as, untilCode: 201 }),
    ...check({ verb: "create", group: apiGroup, resource: "roles" }),
  ]
}

function certificates(): RequestStep[] {
  const as: User = { name: "c@{id}", groups: ["system:authenticated"] }
  const resource = "certificatesigningrequests"
  const all = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
  const one = `${all}/@{id}`
  const condition = (type: string): Json => ({ status: { conditions: [{ type, status: "True", reason: "r" }] } })
  const allow = (rules: Json): RequestStep =>
    put(`${rbac}/clusterroles/c@{id}`, { metadata: { name: "c@{id}" }, rules })
  const write = {
    apiGroups: ["certificates.k8s.io"],
    resources: [`${resource}/status`, `${resource}/approval`],
    verbs: ["update", "patch", "get"],
  }
  const may = (verb: string, signer: string): Json => ({
    apiGroups: ["certificates.k8s.io"],
    resources: ["signers"],
    resourceNames: [signer],
    verbs: [verb],
  })
  const attempts = (what: string): RequestStep[] => [
    patch(`${one}/status`, mergePatch, condition("Other"), { as, label: `PATCH status ${what}` }),
    patch(`${one}/status`, mergePatch, condition("Failed"), { as, label: `PATCH failed ${what}` }),
    patch(`${one}/status`, mergePatch, condition("Approved"), { as, label: `PATCH status approved ${what}` }),
    patch(`${one}/status`, mergePatch, { status: { certificate: "AAAA" } }, { as, label: `PATCH signed ${what}` }),
    patch(`${one}/status`, mergePatch, { metadata: { labels: { a: what } } }, { as, label: `PATCH labels ${what}` }),
    patch(`${one}/approval`, mergePatch, condition("Other"), { as, label: `PATCH approval ${what}` }),
    patch(`${one}/approval`, mergePatch, {}, { as, label: `PATCH nothing ${what}` }),
  ]
  const { spec } = kindNamed("certificates.k8s.io/v1/certificatesigningrequests").object() as {
    spec: { request: string }
  }
  return [
    post(all, {
      metadata: { name: "@{id}" },
      spec: { request: spec.request, signerName: "example.com/a", usages: ["client auth"] },
    }),
    allow([write]),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: "c@{id}" },
      roleRef: { apiGroup, kind: "ClusterRole", name: "c@{id}" },
      subjects: [{ kind: "User", apiGroup, name: as.name }],
    }),
    get(`${one}/status`, { as, untilCode: 200 }),
    ...attempts("without"),
    allow([write, may("sign", "example.com/*")]),
    patch(`${one}/status?dryRun=All`, mergePatch, condition("Failed"), { as, untilCode: 200 }),
    ...attempts("as signer"),
    allow([write, may("approve", "example.com/a")]),
    patch(`${one}/approval?dryRun=All`, mergePatch, {}, { as, untilCode: 200 }),
    // Without the condition that is there already: it differs in its time, or not, if it is sent again within a second.
    ...attempts("as approver").filter(({ label = "" }) => !label.startsWith("PATCH failed")),
  ]
}
