// Roles and bindings by users who may not grant what they say, and that are invalid, outdated or misplaced besides: which is answered.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  type User,
} from "../scenario.ts"

const apiGroup = "rbac.authorization.k8s.io"
const rbac = `/apis/${apiGroup}/v1`
const inNamespace = `${rbac}/namespaces/@{ns}`
const all = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] }
const invalid = { apiGroups: ["*"], resources: ["*"], verbs: [] }

const as: User = { name: "g@{id}", groups: ["system:authenticated"] }
const subject = { kind: "User", apiGroup, name: "g@{id}" }
const admin = { apiGroup, kind: "ClusterRole", name: "cluster-admin" }

export function grantCases(): Scenario[] {
  return [
    { name: "roles that are escalating and wrong", steps: [...mayWrite(), ...roles()] },
    { name: "bindings that are escalating and wrong", steps: [...mayWrite(), ...bindings()] },
    { name: "updates of roles that only the garbage collector makes", steps: [...mayWrite(), ...ownerUpdates()] },
  ]
}

function mayWrite(): RequestStep[] {
  const resources = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"]
  const roleRef = { apiGroup, kind: "ClusterRole", name: "g@{id}" }
  return [
    post(`${rbac}/clusterroles`, {
      metadata: { name: "g@{id}" },
      rules: [{ apiGroups: [apiGroup], resources, verbs: ["create", "get", "update", "patch"] }],
    }),
    post(`${rbac}/clusterrolebindings`, { metadata: { name: "g@{id}" }, roleRef, subjects: [subject] }),
    get(`${rbac}/clusterroles/g@{id}`, { as, untilCode: 200, label: "GET when allowed" }),
  ]
}

const wrongMetadata: readonly Json[] = [
  {},
  { name: "" },
  { generateName: "x-" },
  { name: "a/b" },
  { name: "a", labels: { "-": "b" } },
  { name: "a", namespace: "other" },
  { name: "a", resourceVersion: "1" },
  { name: "a", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "u" }, { uid: "u" }] },
]

function roles(): RequestStep[] {
  const of = (path: string, name: string): RequestStep[] => [
    ...[[all], [invalid], [all, invalid], [{}], [{ nonResourceURLs: ["/x"], verbs: ["get"] }]].flatMap((rules) => {
      const label = `${path} ${JSON.stringify(rules)}`
      return [
        post(path, { metadata: { name: "a@{id}" }, rules }, { as, label: `POST ${label}` }),
        put(`${path}/${name}`, { metadata: { name }, rules }, { as, label: `PUT ${label}` }),
        put(`${path}/${name}`, { metadata: { name, resourceVersion: "1" }, rules }, { as, label: `PUT old ${label}` }),
        put(`${path}/new`, { metadata: { name: "new" }, rules }, { as, label: `PUT new ${label}` }),
        patch(`${path}/${name}`, mergePatch, { rules }, { as, label: `PATCH ${label}` }),
        patch(
          `${path}/new`,
          applyPatch,
          { apiVersion: `${apiGroup}/v1`, kind: path.endsWith("clusterroles") ? "ClusterRole" : "Role", rules },
          { as, label: `APPLY ${label}` },
        ),
      ]
    }),
    ...wrongMetadata.map((metadata) =>
      post(path, { metadata, rules: [all] }, { as, label: `POST ${path} with ${JSON.stringify(metadata)}` }),
    ),
  ]
  return [
    post(`${inNamespace}/roles`, { metadata: { name: "r" } }),
    post(`${rbac}/clusterroles`, { metadata: { name: "r@{id}" } }),
    ...of(`${inNamespace}/roles`, "r"),
    ...of(`${rbac}/clusterroles`, "r@{id}"),
    ...[{}, { clusterRoleSelectors: [{ matchLabels: { "-": "x" } }] }].map((aggregationRule) =>
      post(
        `${rbac}/clusterroles`,
        { metadata: { name: "c@{id}" }, aggregationRule, rules: [invalid] },
        { as, label: `POST aggregating ${JSON.stringify(aggregationRule)}` },
      ),
    ),
    post(
      "/apis/rbac.authorization.k8s.io/v1/namespaces/missing/roles",
      { metadata: { name: "x" }, rules: [all] },
      { as },
    ),
  ]
}

function bindings(): RequestStep[] {
  const references: readonly Json[] = [
    admin,
    { ...admin, apiGroup: "other" },
    { ...admin, kind: "Role" },
    { ...admin, kind: "Group" },
    { ...admin, kind: "" },
    { ...admin, name: "" },
    { ...admin, name: "a/b" },
    {},
  ]
  const of = (path: string, name: string): RequestStep[] =>
    references.flatMap((roleRef) => {
      const label = `${path} ${JSON.stringify(roleRef)}`
      const subjects = [{ kind: "Bogus", name: "" }]
      return [
        post(path, { metadata: { name: "a@{id}" }, roleRef, subjects }, { as, label: `POST ${label}` }),
        put(`${path}/${name}`, { metadata: { name }, roleRef }, { as, label: `PUT ${label}` }),
        put(`${path}/new`, { metadata: { name: "new" }, roleRef }, { as, label: `PUT new ${label}` }),
      ]
    })
  const made = (name: string): Json => ({ metadata: { name }, roleRef: { ...admin, name: "g@{id}" } })
  return [
    post(`${inNamespace}/rolebindings`, made("b")),
    post(`${rbac}/clusterrolebindings`, made("b@{id}")),
    ...of(`${inNamespace}/rolebindings`, "b"),
    ...of(`${rbac}/clusterrolebindings`, "b@{id}"),
  ]
}

function ownerUpdates(): RequestStep[] {
  const one = `${inNamespace}/roles/r`
  const finalizers = ["example.com/a"]
  const rules = [all]
  return [
    post(`${inNamespace}/roles`, { metadata: { name: "r", finalizers }, rules }, { save: "r" }),
    patch(one, mergePatch, { metadata: { finalizers: ["example.com/b"] } }, { as, label: "PATCH finalizers" }),
    patch(one, jsonPatch, [{ op: "replace", path: "/metadata/resourceVersion", value: "1" }], {
      as,
      label: "PATCH to an old version",
    }),
    put(one, { metadata: { name: "r" }, rules }, { as, label: "PUT without system fields" }),
    get(one, { save: "s" }),
    put(
      one,
      {
        metadata: {
          name: "r",
          namespace: "@{ns}",
          uid: "@{s.metadata.uid}",
          creationTimestamp: "@{s.metadata.creationTimestamp}",
          resourceVersion: "@{s.metadata.resourceVersion}",
        },
        rules,
      },
      { as, label: "PUT whole" },
    ),
    put(
      one,
      {
        metadata: {
          name: "r",
          namespace: "@{ns}",
          uid: "@{s.metadata.uid}",
          creationTimestamp: "@{s.metadata.creationTimestamp}",
          finalizers,
        },
        rules,
      },
      { as, label: "PUT whole but the version" },
    ),
    patch(one, mergePatch, { metadata: { labels: { "-": "" } } }, { as, label: "PATCH wrong labels" }),
  ]
}
