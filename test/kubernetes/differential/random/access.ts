// Random roles, bound to a user, a group and a service account: what reviews and requests say they may do, and what they may grant.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, type RequestStep, type Scenario, type User } from "../scenario.ts"
import { titled } from "./titled.ts"

const apiGroup = "rbac.authorization.k8s.io"
const rbac = `/apis/${apiGroup}/v1`
const inNamespace = `${rbac}/namespaces/@{ns}`
const reviews = "/apis/authorization.k8s.io/v1"
const length = 40

const account: User = {
  name: "system:serviceaccount:@{ns}:default",
  groups: ["system:serviceaccounts", "system:serviceaccounts:@{ns}"],
}
const users: readonly User[] = [{ name: "u@{id}", groups: ["g@{id}"] }, { name: "other", groups: ["g@{id}"] }, account]
const [user = account] = users

export function randomAccessScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [...given(random), ...Array.from({ length }, () => pick(random, choices)(random))]
  return { name: `access at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

/** Roles with their bindings; the last ones show that those before are known to the server. */
function given(random: Random): RequestStep[] {
  const managing = [
    {
      apiGroups: [apiGroup],
      resources: ["*"],
      verbs: chance(random, 0.1) ? ["*"] : ["get", "create", "update", "patch"],
    },
  ]
  const marker: Json[] = [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["marker"], verbs: ["get"] }]
  const clusterMarker: Json[] = [{ nonResourceURLs: ["/marker"], verbs: ["get"] }]
  const subject = { kind: "User", apiGroup, name: user.name }
  return [
    ...["a", "b"].flatMap((name) => role("roles", name, rules(random, false), subjects(random))),
    ...["c", "d"].flatMap((name) => role("clusterroles", `${name}@{id}`, rules(random, true), subjects(random))),
    ...role("clusterroles", "e@{id}", rules(random, true), subjects(random), true),
    ...role("roles", "manager", managing, [subject]),
    ...(chance(random, 0.5) ? role("clusterroles", "manager@{id}", managing, [subject]) : []),
    ...role("roles", "z", marker, [subject]),
    ...role("clusterroles", "z@{id}", clusterMarker, [subject]),
    allowed({ resourceAttributes: { namespace: "@{ns}", verb: "get", resource: "configmaps", name: "marker" } }),
    allowed({ nonResourceAttributes: { path: "/marker", verb: "get" } }),
  ]
}

function allowed(attributes: JsonObject): RequestStep {
  return post(`${reviews}/selfsubjectaccessreviews`, { spec: attributes }, { as: user, untilText: '"allowed":true' })
}

/** `inside`: a cluster role that is bound in the namespace. */
function role(
  resource: "roles" | "clusterroles",
  name: string,
  given: Json,
  subjects: Json,
  inside = false,
): RequestStep[] {
  const isLocal = resource === "roles"
  const bindings = isLocal || inside ? `${inNamespace}/rolebindings` : `${rbac}/clusterrolebindings`
  return [
    post(`${isLocal ? inNamespace : rbac}/${resource}`, { metadata: { name }, rules: given }),
    post(bindings, {
      metadata: { name },
      roleRef: { apiGroup, kind: isLocal ? "Role" : "ClusterRole", name },
      subjects,
    }),
  ]
}

function subjects(random: Random): Json {
  return [
    { kind: "User", apiGroup, name: "u@{id}" },
    { kind: "Group", apiGroup, name: "g@{id}" },
    { kind: "ServiceAccount", namespace: "@{ns}", name: "default" },
    { kind: "Group", apiGroup, name: "system:serviceaccounts:@{ns}" },
  ].filter(() => chance(random, 0.4))
}

const groups = ["", "", "apps", "*", "example.com", "batch"]
const resources = [
  "pods",
  "configmaps",
  "secrets",
  "*",
  "pods/log",
  "pods/*",
  "*/status",
  "*/*",
  "deployments",
  "deployments/scale",
  "/log",
  "*/",
  "pods/",
]
const verbs = ["get", "list", "watch", "create", "update", "delete", "deletecollection", "*", "bogus", "GET"]
const names = ["a", "b", "marker", "*", "", "a/b"]
const urls = ["/healthz", "/healthz/*", "/a/*", "/a*", "*", "/*", "/", "/a/*/b", "/a/**", "a", "", "/A"]

function some(random: Random, from: readonly string[], least = 1): string[] {
  return Array.from({ length: least + random(3) }, () => pick(random, from))
}

function rules(random: Random, inCluster: boolean, most = 3): JsonObject[] {
  return Array.from({ length: 1 + random(most) }, () => {
    if (inCluster && chance(random, 0.3)) return { nonResourceURLs: some(random, urls), verbs: some(random, verbs) }
    return {
      apiGroups: some(random, groups),
      resources: some(random, resources),
      verbs: some(random, verbs),
      ...(chance(random, 0.4) ? { resourceNames: some(random, names, 0) } : {}),
    }
  })
}

function attributes(random: Random): JsonObject {
  const maybe = (name: string, values: readonly Json[], probability: number): JsonObject =>
    chance(random, probability) ? { [name]: pick(random, values) } : {}
  if (chance(random, 0.25)) {
    const path = pick(random, ["/healthz", "/healthz/a", "/a/b", "/ab", "/a", "/a/", "/", "", "*", "/a/x/b", "/A", "a"])
    return { nonResourceAttributes: { path, ...maybe("verb", verbs, 0.95) } }
  }
  const [resource, subresource] = pick(random, resources).split("/")
  return {
    resourceAttributes: {
      ...maybe("namespace", ["@{ns}", "@{ns}", "@{ns}", "default", "*"], 0.8),
      ...maybe("verb", verbs, 0.97),
      ...maybe("group", groups, 0.8),
      ...maybe("version", ["v1", "*", "bogus"], 0.2),
      resource: resource ?? "",
      ...(subresource === undefined ? {} : { subresource }),
      ...maybe("name", names, 0.5),
      ...maybe(
        "fieldSelector",
        [
          { rawSelector: "a=b" },
          { requirements: [{ key: "a", operator: "In", values: ["b"] }] },
          {},
          { rawSelector: "a", requirements: [] },
          { requirements: [{ key: "", operator: "Bogus" }] },
        ],
        0.1,
      ),
      ...maybe(
        "labelSelector",
        [
          { rawSelector: "a=b" },
          { rawSelector: "(" },
          { requirements: [{ key: "a", operator: "Exists", values: ["b"] }] },
          {},
        ],
        0.1,
      ),
    },
  }
}

const choices: readonly ((random: Random) => RequestStep)[] = [
  self,
  self,
  other,
  (random) =>
    post(
      `${reviews}/selfsubjectrulesreviews`,
      { spec: { namespace: pick(random, ["@{ns}", "@{ns}", "default"]) } },
      { as: pick(random, users) },
    ),
  grants,
  grants,
  binds,
  requests,
  requests,
]

function self(random: Random): RequestStep {
  return post(`${reviews}/selfsubjectaccessreviews`, { spec: attributes(random) }, { as: pick(random, users) })
}

function other(random: Random): RequestStep {
  const { name, groups: known = [] } = pick(random, users)
  const spec = {
    ...attributes(random),
    ...(chance(random, 0.9) ? { user: chance(random, 0.8) ? name : "*" } : {}),
    ...(chance(random, 0.7)
      ? { groups: chance(random, 0.8) ? [...known] : ["*", "system:masters"].slice(0, 1 + random(2)) }
      : {}),
    ...(chance(random, 0.1) ? { extra: { "example.com/a": ["b"] }, uid: "u" } : {}),
  }
  if (chance(random, 0.3)) return post(`${reviews}/namespaces/@{ns}/localsubjectaccessreviews`, { spec })
  return post(`${reviews}/subjectaccessreviews`, { spec })
}

/** What the user may grant, and what is said of the rest. */
function grants(random: Random): RequestStep {
  const inCluster = chance(random, 0.5)
  const path = inCluster ? `${rbac}/clusterroles` : `${inNamespace}/roles`
  const given = rules(random, inCluster, 2)
  const name = inCluster ? "c@{id}" : "a"
  if (chance(random, 0.3)) return patch(`${path}/${name}?dryRun=All`, mergePatch, { rules: given }, { as: user })
  return post(`${path}?dryRun=All`, { metadata: { name: "new@{id}" }, rules: given }, { as: user })
}

function binds(random: Random): RequestStep {
  const inCluster = chance(random, 0.4)
  const isRole = !inCluster && chance(random, 0.5)
  const name = isRole ? pick(random, ["a", "b", "absent"]) : pick(random, ["c@{id}", "d@{id}", "e@{id}", "absent"])
  const roleRef = { apiGroup, kind: isRole ? "Role" : "ClusterRole", name }
  const path = inCluster ? `${rbac}/clusterrolebindings` : `${inNamespace}/rolebindings`
  return post(`${path}?dryRun=All`, { metadata: { name: "new@{id}" }, roleRef, subjects: [] }, { as: user })
}

function requests(random: Random): RequestStep {
  const as = pick(random, users)
  const path = pick(random, [
    "/api/v1/namespaces/@{ns}/configmaps",
    "/api/v1/namespaces/@{ns}/configmaps/a",
    "/api/v1/namespaces/@{ns}/configmaps/marker",
    "/api/v1/namespaces/@{ns}/configmaps?fieldSelector=metadata.name%3Da",
    "/api/v1/namespaces/@{ns}/pods/a/log",
    "/api/v1/namespaces/@{ns}/pods/a/status",
    "/apis/apps/v1/namespaces/@{ns}/deployments/a/scale",
    "/apis/apps/v1/deployments?limit=1&fieldSelector=metadata.name%3Dabsent",
    "/api/v1/namespaces/@{ns}",
    "/healthz/ping",
    "/a/b",
    "/apis/example.com/v1/namespaces/@{ns}/pods/a",
  ])
  if (chance(random, 0.7) || path.includes("?")) return get(path, { as })
  return post(`${path}?dryRun=All`, { metadata: { name: "x" } }, { as })
}
