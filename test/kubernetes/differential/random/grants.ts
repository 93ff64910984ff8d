// Random grants: roles, aggregated ones among them, and bindings that a user with random rights would write. What the user may grant, escalate
// and bind is decided by roles that do not change meanwhile, since upstream sees changes of roles a moment later.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  type User,
} from "../scenario.ts"
import { titled } from "./titled.ts"

const apiGroup = "rbac.authorization.k8s.io"
const apiVersion = `${apiGroup}/v1`
const rbac = `/apis/${apiVersion}`
const inNamespace = `${rbac}/namespaces/@{ns}`
const user: User = { name: "u@{id}", groups: ["g@{id}"] }
const length = 40

export function randomGrantScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [...given(random), ...Array.from({ length }, () => pick(random, choices)(random))]
  return { name: `grants at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

/** The last ones show that those before are known to the server. */
function given(random: Random): RequestStep[] {
  const writes = { apiGroups: [apiGroup], resources: ["*"], verbs: ["get", "create", "update", "patch", "delete"] }
  const marker = [{ nonResourceURLs: ["/marker"], verbs: ["get"] }]
  const mine = { kind: "User", apiGroup, name: user.name }
  const bind = (path: string, kind: string, name: string): RequestStep =>
    post(path, { metadata: { name }, roleRef: { apiGroup, kind, name }, subjects: [mine] })
  const aggregated = { clusterRoleSelectors: [{ matchLabels: { of: "@{id}" } }] }
  return [
    post(`${inNamespace}/roles`, { metadata: { name: "a" }, rules: rules(random, false) }),
    post(`${inNamespace}/rolebindings`, {
      metadata: { name: "a" },
      roleRef: { apiGroup, kind: "Role", name: "a" },
      subjects: [],
    }),
    post(`${rbac}/clusterroles`, { metadata: { name: "c@{id}" }, rules: rules(random, true) }),
    post(`${rbac}/clusterroles`, {
      metadata: { name: "d@{id}" },
      rules: rules(random, true),
      aggregationRule: aggregated,
    }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: "c@{id}" },
      roleRef: { apiGroup, kind: "ClusterRole", name: "c@{id}" },
      subjects: [],
    }),
    post(`${inNamespace}/roles`, { metadata: { name: "own" }, rules: [...rules(random, false), ...special(random)] }),
    bind(`${inNamespace}/rolebindings`, "Role", "own"),
    post(`${rbac}/clusterroles`, {
      metadata: { name: "own@{id}" },
      rules: [...rules(random, true), ...special(random), writes, ...(chance(random, 0.15) ? [everything] : [])],
    }),
    bind(`${rbac}/clusterrolebindings`, "ClusterRole", "own@{id}"),
    post(`${rbac}/clusterroles`, { metadata: { name: "z@{id}" }, rules: marker }),
    bind(`${rbac}/clusterrolebindings`, "ClusterRole", "z@{id}"),
    post(
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      { spec: { nonResourceAttributes: { verb: "get", path: "/marker" } } },
      { as: user, untilText: '"allowed":true' },
    ),
  ]
}

const everything: JsonObject = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] }

/** To grant more than one's own. */
function special(random: Random): JsonObject[] {
  const names = ["a", "c@{id}", "d@{id}", "new@{id}", "absent"]
  return Array.from({ length: random(3) }, () => ({
    apiGroups: [pick(random, [apiGroup, apiGroup, "*", ""])],
    resources: [pick(random, ["roles", "clusterroles", "*", "roles/status"])],
    verbs: [pick(random, ["escalate", "bind", "bind", "*"])],
    ...(chance(random, 0.5) ? { resourceNames: [pick(random, names), pick(random, names)] } : {}),
  }))
}

const groups = ["", "", "apps", "*"]
const resources = ["pods", "pods", "configmaps", "*", "pods/log", "pods/*", "*/status", "deployments"]
const verbs = ["get", "get", "list", "watch", "*", "update"]
const names = ["a", "b", "*", ""]
const urls = ["/healthz", "/healthz/*", "/a/*", "/a/b"]

function some(random: Random, from: readonly string[]): string[] {
  return Array.from({ length: 1 + random(2) }, () => pick(random, from))
}

function rules(random: Random, inCluster: boolean): JsonObject[] {
  return Array.from({ length: 1 + random(3) }, () => {
    if (chance(random, inCluster ? 0.25 : 0.02))
      return { nonResourceURLs: some(random, urls), verbs: some(random, verbs) }
    return {
      apiGroups: some(random, groups),
      resources: some(random, resources),
      verbs: some(random, verbs),
      ...(chance(random, 0.3) ? { resourceNames: some(random, names) } : {}),
    }
  })
}

const choices: readonly ((random: Random) => RequestStep)[] = [
  creates,
  creates,
  changes,
  changes,
  changes,
  binds,
  binds,
  rebinds,
  rebinds,
  (random) => remove(`${inNamespace}/${pick(random, ["roles", "rolebindings"])}/a?dryRun=All`, undefined, { as: user }),
]

const selectors: readonly Json[] = [
  { clusterRoleSelectors: [{ matchLabels: { of: "@{id}" } }] },
  { clusterRoleSelectors: [{ matchLabels: { other: "x" } }] },
  { clusterRoleSelectors: [] },
  {},
  { clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "Bogus" }] }] },
  null,
]

function creates(random: Random): RequestStep {
  const inCluster = chance(random, 0.6)
  const path = inCluster ? `${rbac}/clusterroles` : `${inNamespace}/roles`
  const body = {
    apiVersion,
    kind: inCluster ? "ClusterRole" : "Role",
    metadata: { name: "new@{id}", labels: { of: "@{id}" } },
    rules: chance(random, 0.9) ? rules(random, inCluster) : null,
    ...(chance(random, inCluster ? 0.3 : 0.02) ? { aggregationRule: pick(random, selectors) } : {}),
  }
  return pick(random, [
    () => post(`${path}?dryRun=All`, body, { as: user }),
    () => put(`${path}/new@{id}?dryRun=All`, body, { as: user }),
    () => patch(`${path}/new@{id}?dryRun=All&fieldManager=m`, applyPatch, body, { as: user }),
  ])()
}

function changes(random: Random): RequestStep {
  const name = pick(random, ["a", "c@{id}", "d@{id}", "d@{id}"])
  const inCluster = name !== "a"
  const path = `${inCluster ? `${rbac}/clusterroles` : `${inNamespace}/roles`}/${name}?dryRun=All`
  const change: JsonObject = {
    ...(chance(random, 0.6) ? { rules: rules(random, inCluster) } : {}),
    ...(chance(random, inCluster ? 0.3 : 0) ? { aggregationRule: pick(random, selectors) } : {}),
    ...(chance(random, 0.4) ? { metadata: { labels: { x: "y" } } } : {}),
  }
  if (chance(random, 0.6)) return patch(path, mergePatch, change, { as: user })
  const body = { ...change, metadata: { name } }
  if (chance(random, 0.6)) return put(path, body, { as: user })
  const kind = inCluster ? "ClusterRole" : "Role"
  return patch(`${path}&fieldManager=m&force=true`, applyPatch, { apiVersion, kind, ...body }, { as: user })
}

const subjects: readonly Json[] = [
  [],
  null,
  [{ kind: "User", apiGroup, name: "x" }],
  [{ kind: "User", name: "x" }],
  [{ kind: "ServiceAccount", name: "default" }],
  [{ kind: "ServiceAccount", name: "default", namespace: "@{ns}" }],
  [{ kind: "Group", apiGroup: "", name: "system:masters" }],
  [{ kind: "Bogus", name: "x" }],
]

function roleRef(random: Random): Json {
  const kind = pick(random, ["Role", "ClusterRole", "ClusterRole", "ClusterRole", "Bogus"])
  const name =
    kind === "Role" ? pick(random, ["a", "own", "absent"]) : pick(random, ["c@{id}", "d@{id}", "z@{id}", "absent"])
  return { apiGroup: pick(random, [apiGroup, apiGroup, apiGroup, apiGroup, "", "rbac"]), kind, name }
}

function binds(random: Random): RequestStep {
  const inCluster = chance(random, 0.5)
  const path = inCluster ? `${rbac}/clusterrolebindings` : `${inNamespace}/rolebindings`
  const kind = inCluster ? "ClusterRoleBinding" : "RoleBinding"
  const body = {
    apiVersion,
    kind,
    metadata: { name: "new@{id}" },
    roleRef: roleRef(random),
    subjects: pick(random, subjects),
  }
  return pick(random, [
    () => post(`${path}?dryRun=All`, body, { as: user }),
    () => put(`${path}/new@{id}?dryRun=All`, body, { as: user }),
    () => patch(`${path}/new@{id}?dryRun=All&fieldManager=m`, applyPatch, body, { as: user }),
  ])()
}

function rebinds(random: Random): RequestStep {
  const inCluster = chance(random, 0.5)
  const name = inCluster ? "c@{id}" : "a"
  const path = `${inCluster ? `${rbac}/clusterrolebindings` : `${inNamespace}/rolebindings`}/${name}?dryRun=All`
  const own = { apiGroup, kind: inCluster ? "ClusterRole" : "Role", name }
  const change: JsonObject = {
    ...(chance(random, 0.7) ? { subjects: pick(random, subjects) } : {}),
    ...(chance(random, 0.3) ? { roleRef: roleRef(random) } : {}),
    ...(chance(random, 0.3) ? { metadata: { labels: { x: "y" } } } : {}),
  }
  if (chance(random, 0.6)) return patch(path, mergePatch, change, { as: user })
  return put(path, { roleRef: own, ...change, metadata: { name } }, { as: user })
}
