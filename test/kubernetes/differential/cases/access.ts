// Who may do what: RBAC decided by real requests of limited users, by reviews, and by what may not be granted.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario, type User } from "../scenario.ts"

const rbac = "/apis/rbac.authorization.k8s.io/v1"
const inNamespace = `${rbac}/namespaces/@{ns}`
const maps = "/api/v1/namespaces/@{ns}/configmaps"
const reviews = "/apis/authorization.k8s.io/v1"

const user: User = { name: "limited", groups: ["system:authenticated"] }
const nobody: User = { name: "nobody" }
const account: User = {
  name: "system:serviceaccount:@{ns}:default",
  groups: ["system:serviceaccounts", "system:serviceaccounts:@{ns}", "system:authenticated"],
}

const role = (rules: Json, name = "limited"): RequestStep => post(`${inNamespace}/roles`, { metadata: { name }, rules })
const binding = (subject: Json, kind = "Role", name = "limited"): RequestStep =>
  post(`${inNamespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
    subjects: [subject],
  })
const toUser = { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "limited" }

const rules = [
  { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "create"] },
  { apiGroups: [""], resources: ["secrets"], resourceNames: ["one"], verbs: ["get", "list", "update"] },
  { apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["*"] },
  { apiGroups: [""], resources: ["pods/*"], verbs: ["get"] },
]

export function accessCases(): Scenario[] {
  return [
    {
      name: "a user with a role",
      steps: [role(rules), binding(toUser), allowed(user), ...requests(user)],
    },
    { name: "a user without roles", steps: requests(nobody) },
    {
      name: "a service account with a role",
      steps: [
        role(rules),
        binding({ kind: "ServiceAccount", name: "default", namespace: "@{ns}" }),
        allowed(account),
        ...requests(account),
      ],
    },
    {
      name: "a cluster role is bound in one namespace only",
      steps: [
        // "view" is filled in by a controller.
        post(`${rbac}/clusterroles`, { metadata: { name: "c@{id}" }, rules }),
        binding(toUser, "ClusterRole", "c@{id}"),
        allowed(user),
        ...requests(user),
        get("/api/v1/configmaps", { as: user }),
        get("/api/v1/namespaces/default/configmaps", { as: user }),
      ],
    },
    {
      name: "access reviews answer for oneself and for others",
      steps: [role(rules), binding(toUser), allowed(user), ...accessReviews()],
    },
    {
      name: "rules reviews list what one may do",
      steps: [
        role(rules),
        binding(toUser),
        allowed(user),
        post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: "@{ns}" } }, { as: user }),
        post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: "@{ns}" } }, { as: nobody }),
        post(`${reviews}/selfsubjectrulesreviews`, { spec: { namespace: "" } }, { as: user }),
        post(`${reviews}/selfsubjectrulesreviews`, { spec: {} }, { as: user }),
        post(`${reviews}/selfsubjectrulesreviews`, {}),
      ],
    },
    { name: "escalation by roles", steps: escalation() },
    { name: "escalation by aggregated roles", steps: aggregation() },
    { name: "roles and bindings are validated", steps: validation() },
  ]
}

/** kube-apiserver decides by what it has seen of roles and bindings so far. */
function allowed(as: User): RequestStep {
  return get(maps, { as, untilCode: 200, label: "LIST when allowed" })
}

function requests(as: User): RequestStep[] {
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  return [
    post(maps, { metadata: { name: "a" } }, { as }),
    get(`${maps}/a`, { as }),
    get(maps, { as }),
    get(`${maps}?watch=true&timeoutSeconds=1`, { as }),
    put(`${maps}/a`, { metadata: { name: "a" } }, { as }),
    patch(`${maps}/a`, mergePatch, {}, { as }),
    remove(`${maps}/a`, undefined, { as }),
    remove(maps, undefined, { as }),
    get("/api/v1/namespaces/@{ns}/secrets/one", { as }),
    get("/api/v1/namespaces/@{ns}/secrets/two", { as }),
    get("/api/v1/namespaces/@{ns}/secrets", { as }),
    get("/api/v1/namespaces/@{ns}/secrets?fieldSelector=metadata.name%3Done", { as }),
    get("/api/v1/namespaces/@{ns}/secrets?fieldSelector=metadata.name%3Done&limit=x", { as }),
    get("/api/v1/namespaces/@{ns}/secrets?fieldSelector=type!%3Da%5C,metadata.name%3Done", { as }),
    get("/api/v1/namespaces/@{ns}/secrets?fieldSelector=metadata.name%3Done,metadata.name%3Dtwo", { as }),
    get(`${deployments}/a/scale`, { as }),
    get(`${deployments}/a`, { as }),
    get("/api/v1/namespaces/@{ns}/pods/a/log", { as }),
    post("/api/v1/namespaces/@{ns}/pods/a/exec?command=ls", "", { as }),
    get("/api/v1/nodes", { as }),
    get("/api/v1/nodes/a", { as }),
    get("/api/v1/namespaces", { as }),
    get("/api/v1/namespaces/@{ns}", { as }),
    get("/apis/bogus.example.com/v1/namespaces/@{ns}/things", { as }),
    get("/healthz", { as }),
    get("/metrics", { as }),
    get("/api", { as }),
    get("/bogus", { as }),
  ]
}

function accessReviews(): RequestStep[] {
  const attributes: Json[] = [
    { namespace: "@{ns}", verb: "get", resource: "configmaps" },
    { namespace: "@{ns}", verb: "delete", resource: "configmaps" },
    { namespace: "default", verb: "get", resource: "configmaps" },
    { verb: "get", resource: "configmaps" },
    { namespace: "@{ns}", verb: "get", resource: "secrets", name: "one" },
    { namespace: "@{ns}", verb: "get", resource: "secrets", name: "two" },
    { namespace: "@{ns}", verb: "get", resource: "pods", subresource: "log" },
    { namespace: "@{ns}", verb: "update", group: "apps", resource: "deployments", subresource: "scale" },
    { namespace: "@{ns}", verb: "*", resource: "*" },
    { namespace: "@{ns}", verb: "get", resource: "configmaps", fieldSelector: { rawSelector: "metadata.name=a" } },
  ]
  return [
    ...attributes.flatMap((resourceAttributes) => [
      post(`${reviews}/selfsubjectaccessreviews`, { spec: { resourceAttributes } }, { as: user }),
      post(`${reviews}/subjectaccessreviews`, { spec: { user: "limited", resourceAttributes } }),
      post(`${reviews}/namespaces/@{ns}/localsubjectaccessreviews`, { spec: { user: "limited", resourceAttributes } }),
    ]),
    post(`${reviews}/selfsubjectaccessreviews`, { spec: { nonResourceAttributes: { path: "/healthz", verb: "get" } } }),
    post(
      `${reviews}/selfsubjectaccessreviews`,
      { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } },
      { as: user },
    ),
    post(`${reviews}/selfsubjectaccessreviews`, { spec: {} }),
    post(`${reviews}/selfsubjectaccessreviews`, {}),
    post(`${reviews}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes: { verb: "get" }, nonResourceAttributes: { path: "/" } },
    }),
    post(`${reviews}/subjectaccessreviews`, { spec: { resourceAttributes: { verb: "get", resource: "pods" } } }),
    post(`${reviews}/subjectaccessreviews`, {
      spec: { groups: ["system:masters"], resourceAttributes: { verb: "get", resource: "pods" } },
    }),
    post(`${reviews}/selfsubjectaccessreviews?dryRun=All`, {
      spec: { nonResourceAttributes: { path: "/", verb: "get" } },
    }),
    get(`${reviews}/selfsubjectaccessreviews`),
  ]
}

function escalation(): RequestStep[] {
  const as = user
  const manage = [
    { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"], verbs: ["*"] },
    { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
  ]
  const grant = (name: string, more: Json): RequestStep =>
    post(`${inNamespace}/roles`, { metadata: { name }, rules: [more] }, { as })
  return [
    role(manage),
    binding(toUser),
    get(`${inNamespace}/roles`, { as, untilCode: 200, label: "LIST roles when allowed" }),
    grant("less", { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }),
    grant("more", { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }),
    grant("other", { apiGroups: ["", "apps"], resources: ["pods", "secrets"], verbs: ["*"], resourceNames: ["x"] }),
    patch(`${inNamespace}/roles/less`, mergePatch, { rules: manage }, { as }),
    patch(
      `${inNamespace}/roles/less`,
      mergePatch,
      { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] },
      { as },
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: "b" }, roleRef: { kind: "ClusterRole", name: "cluster-admin" }, subjects: [toUser] },
      { as },
    ),
    post(
      `${inNamespace}/rolebindings`,
      { metadata: { name: "c" }, roleRef: { kind: "Role", name: "less" }, subjects: [toUser] },
      { as },
    ),
    post(`${inNamespace}/rolebindings`, { metadata: { name: "d" }, roleRef: { kind: "Role", name: "absent" } }, { as }),
    post(`${rbac}/clusterroles`, { metadata: { name: "x@{id}" }, rules: [] }, { as }),
  ]
}

function aggregation(): RequestStep[] {
  const as: User = { name: "a@{id}", groups: ["system:authenticated"] }
  const apiGroup = "rbac.authorization.k8s.io"
  const all = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] }
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "@{id}" } }] }
  const roleRef = { apiGroup, kind: "ClusterRole", name: "m@{id}" }
  const one = `${rbac}/clusterroles/b@{id}`
  return [
    post(`${rbac}/clusterroles`, {
      metadata: { name: "m@{id}" },
      rules: [
        { apiGroups: [apiGroup], resources: ["clusterroles", "roles"], verbs: ["*"] },
        { ...all, verbs: ["get"] },
      ],
    }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: "m@{id}" },
      roleRef,
      subjects: [{ kind: "User", apiGroup, name: as.name }],
    }),
    get(`${rbac}/clusterroles/m@{id}`, { as, untilCode: 200, label: "GET when allowed" }),
    post(`${rbac}/clusterroles`, { metadata: { name: "a@{id}" }, aggregationRule }, { as, label: "POST aggregating" }),
    post(`${rbac}/clusterroles`, { metadata: { name: "b@{id}" }, aggregationRule: {} }, { as, label: "POST not so" }),
    patch(one, mergePatch, { aggregationRule }, { as, label: "PATCH to aggregating" }),
    patch(one, mergePatch, { aggregationRule }),
    patch(one, mergePatch, { aggregationRule: null }, { as, label: "PATCH from aggregating" }),
    patch(one, mergePatch, { metadata: { labels: { a: "b" } } }, { as, label: "PATCH labels of aggregating" }),
    patch(one, mergePatch, { metadata: { finalizers: ["example.com/a"] } }, { as, label: "PATCH finalizers" }),
    patch(one, mergePatch, { metadata: { finalizers: null } }),
    post(`${rbac}/namespaces/@{ns}/roles`, { metadata: { name: "c" }, rules: [all] }),
    patch(
      `${rbac}/namespaces/@{ns}/roles/c`,
      mergePatch,
      { metadata: { labels: { a: "b" } } },
      { as, label: "PATCH labels" },
    ),
  ]
}

function validation(): RequestStep[] {
  const roleRefs: Json[] = [
    { kind: "Role", name: "x" },
    { kind: "Bogus", name: "x" },
    { kind: "ClusterRole", name: "" },
    { apiGroup: "bogus", kind: "Role", name: "x" },
    {},
  ]
  const subjects: Json[] = [
    { kind: "User", name: "a" },
    { kind: "User", name: "" },
    { kind: "Group", name: "g", apiGroup: "bogus" },
    { kind: "ServiceAccount", name: "Bad_Name" },
    { kind: "ServiceAccount", name: "a" },
    { kind: "Bogus", name: "a" },
    {},
  ]
  const bound = (path: string, roleRef: Json, subject: Json): RequestStep =>
    post(
      `${path}?dryRun=All`,
      { metadata: { name: "b@{id}" }, roleRef, subjects: [subject] },
      {
        label: `POST ${path.split("/").at(-1) ?? ""} ${JSON.stringify(roleRef)} ${JSON.stringify(subject)}`,
      },
    )
  return ["rolebindings", "clusterrolebindings"].flatMap((resource) => {
    const path = resource === "rolebindings" ? `${inNamespace}/${resource}` : `${rbac}/${resource}`
    return [
      ...roleRefs.map((roleRef) => bound(path, roleRef, { kind: "User", name: "a" })),
      ...subjects.map((subject) => bound(path, { kind: "ClusterRole", name: "view" }, subject)),
    ]
  })
}
