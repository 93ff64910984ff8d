// Classes that objects get by default, and signers that may be used.

import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario, type User } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const scheduling = "/apis/scheduling.k8s.io/v1/priorityclasses"

export function defaultClassCases(): Scenario[] {
  return [
    { name: "pods have the priority of their class", steps: priorities() },
    { name: "requests for certificates are approved and signed by those who may", steps: signers() },
    { name: "nothing is created in a namespace that ends", steps: ending() },
  ]
}

const pod = (name: string, spec: JsonObject = {}): RequestStep =>
  post(
    `${core}/pods`,
    { metadata: { name }, spec: { containers: [{ name: "main", image: "busybox" }], ...spec } },
    { label: `POST ${name}` },
  )

function priorities(): RequestStep[] {
  const make = (name: string, more: JsonObject): RequestStep =>
    post(scheduling, { metadata: { name: `${name}-@{id}` }, value: 10, ...more }, { label: `POST class ${name}` })
  const own = (name: string, more: JsonObject = {}): RequestStep =>
    pod(name, { priorityClassName: `plain-@{id}`, ...more })
  return [
    make("plain", {}),
    make("never", { preemptionPolicy: "Never", value: -5 }),
    make("odd", { preemptionPolicy: "Sometimes" }),
    make("system-x", {}),
    make("high", { value: 1_000_000_001 }),
    own("a"),
    own("b", { priority: 11 }),
    own("c", { priority: 10, preemptionPolicy: "Never" }),
    own("d", { priority: 10, preemptionPolicy: "PreemptLowerPriority" }),
    pod("e", { priorityClassName: "never-@{id}", preemptionPolicy: "PreemptLowerPriority" }),
    pod("f", { priorityClassName: "never-@{id}" }),
    pod("g", { priority: 0 }),
    pod("h", { priority: 1 }),
    pod("i", { preemptionPolicy: "Never" }),
    pod("j", { priorityClassName: "system-cluster-critical" }),
    pod("k", { priorityClassName: "A/b" }),
    put(`${core}/pods/f`, {
      metadata: { name: "f" },
      spec: { containers: [{ name: "main", image: "other" }], priorityClassName: "never-@{id}" },
    }),
    patch(`${core}/pods/a`, mergePatch, { spec: { priority: null } }),
    patch(`${core}/pods/a`, mergePatch, { spec: { priority: 12 } }),
    patch(`${scheduling}/plain-@{id}`, mergePatch, { value: 11 }),
    patch(`${scheduling}/plain-@{id}`, mergePatch, { preemptionPolicy: "Never" }),
    patch(`${scheduling}/system-node-critical?dryRun=All`, mergePatch, { globalDefault: true }),
    remove(`${scheduling}/system-node-critical?dryRun=All`),
    remove(`${scheduling}/system-node-critical`, { preconditions: { uid: "x" } }),
    remove(`${scheduling}/system-node-critical`, { kind: "Other" }),
    remove(`${scheduling}?dryRun=All&fieldSelector=metadata.name=system-node-critical`),
    ...["plain", "never"].map((name) => remove(`${scheduling}/${name}-@{id}`)),
  ]
}

/** P-256, CN=jane, O=team. */
const request =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWU1JR0FBZ0VBTUI0eERUQUxCZ05WQkFNTUJHcGhibVV4RFRBTEJnTlZCQW" +
  "9NQkhSbFlXMHdXVEFUQmdjcQpoa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVNxNVY5UWtPZHE0Z3I5S1VFYUk3Sm9pTmhrVjl1QkFDN0l3UDB3" +
  "ClpiVE5OK0RKK20wV2hxMGZHeTNzVkc0VUFtVzRlM0dsRExORFNmRUZFNi9pdjhkaG9BQXdDZ1lJS29aSXpqMEUKQXdJRFJ3QXdSQUlnZFg5cX" +
  "dwNXBNd2NMa3JFQUdVK1hqZDhJM0FHYytxNm1NMGRuekg1SzhOUUNJQWJvcVNsYwpXM3FtbGpDUnJiL09mNmxnOUlXY2ZNKzZ1bitseFYyczEz" +
  "bnAKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="

function signers(): RequestStep[] {
  const csrs = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
  const rbac = "/apis/rbac.authorization.k8s.io/v1"
  const jane: User = { name: "jane-@{id}", groups: ["system:authenticated"] }
  const names = ["example.com/one", "example.com/two", "other.com/one"]
  const may = (index: number, signer: string, verb: string): RequestStep[] => [
    post(`${rbac}/clusterroles`, {
      metadata: { name: `r${index}-@{id}` },
      rules: [{ apiGroups: ["certificates.k8s.io"], resources: ["signers"], resourceNames: [signer], verbs: [verb] }],
    }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: `r${index}-@{id}` },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "jane-@{id}" }],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `r${index}-@{id}` },
    }),
  ]
  const condition = (type: string): JsonObject => ({ type, status: "True", reason: "r", message: "m" })
  return [
    post(`${rbac}/clusterroles`, {
      metadata: { name: "all-@{id}" },
      rules: [
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["certificatesigningrequests", "certificatesigningrequests/*"],
          verbs: ["*"],
        },
      ],
    }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: "all-@{id}" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "jane-@{id}" }],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "all-@{id}" },
    }),
    ...may(1, "example.com/*", "approve"),
    ...may(2, "example.com/two", "sign"),
    ...may(3, "other.com/one", "sign"),
    get(csrs, { as: jane, untilCode: 200 }),
    ...names.flatMap((signerName, index) => {
      const name = `c${index}-@{id}`
      const status = (conditions: JsonObject[], more: JsonObject = {}): JsonObject => ({
        status: { conditions, ...more },
      })
      return [
        post(csrs, { metadata: { name }, spec: { request, signerName, usages: ["client auth"] } }, { as: jane }),
        patch(`${csrs}/${name}/approval`, mergePatch, status([condition("Approved")]), { as: jane }),
        patch(`${csrs}/${name}/status`, mergePatch, { status: { certificate: "LS0t" } }, { as: jane }),
        patch(`${csrs}/${name}/status`, mergePatch, { metadata: { labels: { a: "b" } } }, { as: jane }),
        patch(`${csrs}/${name}/status`, mergePatch, status([condition("Failed")]), { as: jane }),
        patch(`${csrs}/${name}/approval`, mergePatch, status([condition("Denied")]), { as: jane }),
        remove(`${csrs}/${name}`),
      ]
    }),
  ]
}

function ending(): RequestStep[] {
  const namespace = "/api/v1/namespaces/e-@{id}"
  const inside = (path: string): string => path.replace("NS", "e-@{id}")
  const body = { metadata: { name: "b" } }
  return [
    post("/api/v1/namespaces", { metadata: { name: "e-@{id}", finalizers: ["example.com/hold"] } }),
    post(`${namespace}/configmaps`, { metadata: { name: "a" } }),
    post(`${namespace}/serviceaccounts`, { metadata: { name: "a" } }),
    remove(namespace),
    // Upstream may notice it a moment later.
    post(`${namespace}/configmaps?dryRun=All`, body, { untilCode: 403 }),
    post(`${namespace}/configmaps`, { metadata: { generateName: "g-" } }),
    put(`${namespace}/configmaps/b`, body),
    put(`${namespace}/configmaps/a`, { metadata: { name: "a" }, data: { a: "b" } }),
    patch(`${namespace}/configmaps/b?fieldManager=m`, "application/apply-patch+yaml", {
      apiVersion: "v1",
      kind: "ConfigMap",
      ...body,
    }),
    post(`${namespace}/events`, { ...body, involvedObject: { namespace: "e-@{id}" } }),
    post(`${namespace}/serviceaccounts/a/token`, { spec: {} }),
    post(`${namespace}/pods`, { metadata: { name: "p" }, spec: {} }),
    post(inside("/apis/authorization.k8s.io/v1/namespaces/NS/localsubjectaccessreviews"), {
      metadata: { namespace: "e-@{id}" },
      spec: { user: "a", resourceAttributes: { namespace: "e-@{id}", verb: "get", resource: "pods" } },
    }),
    put(inside("/apis/coordination.k8s.io/v1/namespaces/NS/leases/b"), body),
    remove(`${namespace}/configmaps/a`),
    post("/api/v1/namespaces/none-@{id}/configmaps", body),
    put("/api/v1/namespaces/none-@{id}/configmaps/b", body),
    post("/api/v1/namespaces/none-@{id}/pods/b/eviction", body),
    patch("/api/v1/namespaces/none-@{id}/configmaps/b", mergePatch, body),
    remove("/api/v1/namespaces/none-@{id}/configmaps/b"),
    patch(namespace, mergePatch, { metadata: { finalizers: null } }),
  ]
}
