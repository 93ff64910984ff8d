// What ResourceQuotas charge and refuse. No controller runs, so the status of every quota is written before anything is created.

import type { Json } from "../../../../apimachinery/object.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"

export function quotaCases(): Scenario[] {
  return [
    { name: "what a quota limits is what its status says", steps: byStatus() },
    { name: "the status of a claim is charged to a quota, but never refused", steps: claimStatus() },
    { name: "what any quota requires of a pod is missed before what another one limits", steps: requirements() },
    { name: "a pod's own resources replace those that a quota requires of its containers", steps: ofPods() },
    { name: "a pod that gets a deadline is charged to quotas of terminating pods", steps: deadline() },
    { name: "quotas do not count events and what is not stored", steps: uncounted() },
    { name: "overhead does not count where nothing is limited", steps: overhead() },
    { name: "services are charged to quotas by their types and ports", steps: services() },
    { name: "devices are charged to quotas by their classes", steps: devices() },
    { name: "devices are charged to quotas by the extended resources of their classes", steps: extendedResources() },
    { name: "what init containers, sidecars and devices ask for is charged to quotas", steps: amounts() },
    { name: "a policy is asked about what is charged to a quota", steps: admitted() },
  ]
}

/**
 * Each is known to be counted, with nothing used. Managers are sorted by time, which has seconds, then by name: names in the order
 * of their writes keep their order if a second begins between them.
 */
function quota(name: string, hard: Readonly<Record<string, string>>, scopes: readonly string[] = []): RequestStep[] {
  const spec = { hard, ...(scopes.length === 0 ? {} : { scopes: [...scopes] }) }
  const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, "0"]))
  const object = { metadata: { name }, spec }
  return [
    post(`${core}/resourcequotas?fieldManager=a`, object),
    put(`${core}/resourcequotas/${name}/status?fieldManager=b`, { ...object, status: { hard, used } }),
  ]
}

const usage = (name: string): RequestStep => get(`${core}/resourcequotas/${name}`)

const pod = (name: string, resources: Json, more: JsonObject = {}): RequestStep =>
  post(
    `${core}/pods`,
    { metadata: { name }, spec: { containers: [{ name: "main", image: "busybox", resources }], ...more } },
    { label: `POST pod ${name}` },
  )

function byStatus(): RequestStep[] {
  const name = "count/configmaps"
  const status = (fields: JsonObject): RequestStep =>
    patch(`${core}/resourcequotas/q/status?fieldManager=b`, mergePatch, { status: fields })
  const map = (given: string, until: Partial<RequestStep> = {}, query = ""): RequestStep =>
    post(`${core}/configmaps${query}`, { metadata: { name: given } }, until)
  return [
    post(`${core}/resourcequotas?fieldManager=a`, { metadata: { name: "q" }, spec: { hard: { [name]: "0" } } }),
    map("first"),
    status({ hard: { [name]: "2", "count/secrets": "0" } }),
    map("second", { untilCode: 403 }, "?dryRun=All"),
    status({ used: { [name]: "1" } }),
    map("second", { untilCode: 201 }),
    map("third"),
    post(`${core}/secrets`, { metadata: { name: "s" } }),
    patch(`${core}/resourcequotas/q?fieldManager=a`, mergePatch, { spec: { hard: { [name]: "9" } } }),
    map("third"),
    usage("q"),
  ]
}

function claimStatus(): RequestStep[] {
  const allocated = (storage: string): RequestStep =>
    patch(`${core}/persistentvolumeclaims/c/status`, mergePatch, { status: { allocatedResources: { storage } } })
  return [
    ...quota("q", { "requests.storage": "2Gi", persistentvolumeclaims: "1" }),
    post(`${core}/persistentvolumeclaims`, {
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    }),
    allocated("2Gi"),
    usage("q"),
    allocated("5Gi"),
    usage("q"),
    allocated("1Gi"),
    usage("q"),
  ]
}

function requirements(): RequestStep[] {
  return [
    ...quota("a", { pods: "0" }),
    ...quota("b", { "requests.cpu": "1", "limits.memory": "1Gi" }),
    ...quota("c", { pods: "0" }),
    pod("without", {}),
    pod("half", { requests: { cpu: "100m" } }),
    usage("b"),
  ]
}

function ofPods(): RequestStep[] {
  return [
    ...quota("q", { "requests.cpu": "1", "limits.memory": "1Gi", pods: "10" }),
    pod("empty", {}, { resources: {} }),
    pod("none-requested", {}, { resources: { requests: {} } }),
    pod("one-of-two", {}, { resources: { requests: { cpu: "100m" } } }),
    pod("other", {}, { resources: { limits: { memory: "10Mi" } } }),
    usage("q"),
  ]
}

function deadline(): RequestStep[] {
  const ends = (name: string): RequestStep =>
    patch(`${core}/pods/${name}`, mergePatch, { spec: { activeDeadlineSeconds: 100 } })
  return [
    ...quota("ends", { pods: "1", "requests.cpu": "1" }, ["Terminating"]),
    ...quota("stays", { pods: "2" }, ["NotTerminating"]),
    pod("a", { requests: { cpu: "100m" } }),
    pod("b", { requests: { cpu: "100m" } }),
    usage("stays"),
    ends("a"),
    usage("ends"),
    ends("b"),
    usage("ends"),
    usage("stays"),
  ]
}

function uncounted(): RequestStep[] {
  return [
    ...quota("q", {
      "count/events": "0",
      "count/events.events.k8s.io": "0",
      "count/bindings": "0",
      "count/localsubjectaccessreviews.authorization.k8s.io": "0",
    }),
    post(`${core}/events`, {
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", name: "p", namespace: "@{ns}" },
      reason: "Test",
    }),
    post("/apis/authorization.k8s.io/v1/namespaces/@{ns}/localsubjectaccessreviews", {
      metadata: { namespace: "@{ns}" },
      spec: { user: "someone", resourceAttributes: { namespace: "@{ns}", verb: "get", resource: "pods" } },
    }),
    post(`${core}/bindings`, { metadata: { name: "absent" }, target: { kind: "Node", name: "n" } }),
    usage("q"),
  ]
}

function overhead(): RequestStep[] {
  const more = { runtimeClassName: "r@{id}" }
  return [
    post("/apis/node.k8s.io/v1/runtimeclasses", {
      metadata: { name: "r@{id}" },
      handler: "h",
      overhead: { podFixed: { cpu: "10m", memory: "1Mi" } },
    }),
    ...quota("q", { "limits.cpu": "1", "limits.memory": "1Gi", "requests.cpu": "1" }),
    pod("zero", { requests: { cpu: "0" }, limits: { cpu: "0", memory: "10Mi" } }, more),
    usage("q"),
  ]
}

function services(): RequestStep[] {
  const ports = [80, 81].map((port) => ({ name: `p${port}`, port }))
  const service = (name: string, spec: JsonObject): RequestStep =>
    post(`${core}/services`, { metadata: { name }, spec: { ports, ...spec } }, { label: `POST service ${name}` })
  const become = (name: string, type: string): RequestStep =>
    patch(`${core}/services/${name}`, mergePatch, { spec: { type } }, { label: `PATCH ${name} to ${type}` })
  return [
    ...quota("q", { services: "3", "services.nodeports": "3", "services.loadbalancers": "1" }),
    service("inside", {}),
    become("inside", "NodePort"),
    service("outside", { type: "NodePort" }),
    service("balanced", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false }),
    become("inside", "LoadBalancer"),
    service("third", {}),
    service("fourth", {}),
    usage("q"),
  ]
}

function devices(): RequestStep[] {
  const claim = (name: string, request: JsonObject): RequestStep =>
    post(
      "/apis/resource.k8s.io/v1/namespaces/@{ns}/resourceclaims",
      { metadata: { name }, spec: { devices: { requests: [{ name: "r", ...request }] } } },
      { label: `POST claim ${name}` },
    )
  const firstAvailable = [
    { name: "a", deviceClassName: "gold", count: 1 },
    { name: "b", deviceClassName: "iron", count: 2 },
  ]
  return [
    ...quota("q", {
      "gold.deviceclass.resource.k8s.io/devices": "3",
      "iron.deviceclass.resource.k8s.io/devices": "40",
      "count/resourceclaims.resource.k8s.io": "4",
    }),
    claim("two", { exactly: { deviceClassName: "gold", count: 2 } }),
    claim("much", { exactly: { deviceClassName: "gold", count: 2 } }),
    claim("all", { exactly: { deviceClassName: "gold", allocationMode: "All" } }),
    claim("all-iron", { exactly: { deviceClassName: "iron", allocationMode: "All" } }),
    claim("either", { firstAvailable }),
    usage("q"),
  ]
}

/** Both servers know the class once a quota limits a claim by it. */
function extendedResources(): RequestStep[] {
  const classes = "/apis/resource.k8s.io/v1/deviceclasses"
  const claims = "/apis/resource.k8s.io/v1/namespaces/@{ns}/resourceclaims"
  const claim = (name: string, count: number, more: JsonObject = {}): RequestStep => {
    const requests = [{ name: "r", exactly: { deviceClassName: "@{id}", count } }]
    return post(
      claims,
      { metadata: { name, ...more }, spec: { devices: { requests } } },
      { label: `POST claim ${name}` },
    )
  }
  const own = { extendedResourceName: "@{id}.example.com/gpu" }
  return [
    post(classes, { metadata: { name: "@{id}" }, spec: own }),
    ...quota("q", {
      "requests.@{id}.example.com/gpu": "3",
      "requests.deviceclass.resource.kubernetes.io/@{id}": "4",
      "requests.deviceclass.resource.kubernetes.io/none": "1",
      "requests.example.com/unknown": "1",
    }),
    claim("two", 2),
    usage("q"),
    claim("three", 3),
    claim("one", 1, { annotations: { "resource.kubernetes.io/extended-resource-claim": "true" } }),
    usage("q"),
    claim("more", 1),
    remove(`${classes}/@{id}`),
  ]
}

function amounts(): RequestStep[] {
  const asks = (cpu: string): JsonObject => ({ requests: { cpu, "ephemeral-storage": "1Gi" } })
  const initContainers = [
    { name: "sidecar", image: "busybox", restartPolicy: "Always", resources: asks("200m") },
    { name: "init", image: "busybox", resources: asks("1") },
  ]
  const special = { "example.com/gpu": "2", "hugepages-2Mi": "4Mi", cpu: "100m" }
  return [
    ...quota("q", {
      "requests.cpu": "1500m",
      "requests.ephemeral-storage": "3Gi",
      "requests.example.com/gpu": "3",
      "requests.hugepages-2Mi": "10Mi",
      "count/pods": "5",
    }),
    pod("staged", asks("100m"), { initContainers }),
    pod("special", { limits: special }),
    pod("special-too", { limits: special }),
    pod("greedy", asks("1")),
    usage("q"),
  ]
}

function admitted(): RequestStep[] {
  const admission = "/apis/admissionregistration.k8s.io/v1"
  const name = "quotas-@{id}"
  const map = (given: string, query = ""): RequestStep =>
    post(`${core}/configmaps${query}`, { metadata: { name: given } })
  const count = "string(object.status.used['count/configmaps'])"
  return [
    ...quota("q", { "count/configmaps": "9" }),
    post(`${admission}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], resources: ["resourcequotas/status"], operations: ["UPDATE"] },
            { apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"], operations: ["CREATE"] },
          ],
        },
        validations: [
          {
            expression: `request.resource.resource != 'secrets' && ${count} != '3'`,
            messageExpression: `request.resource.resource == 'secrets' ? 'a secret' : request.userInfo.username + ' ' + request.name + ' ' + string(request.dryRun) + ' ' + string(has(request.options.fieldManager)) + ' ' + ${count}`,
          },
        ],
      },
    }),
    post(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    }),
    post(`${core}/secrets?dryRun=All`, { metadata: { name: "probe" } }, { untilCode: 422 }),
    map("a"),
    map("b", "?dryRun=All"),
    map("b"),
    map("c", "?dryRun=All"),
    map("c", "?fieldManager=x"),
    usage("q"),
    get(`${core}/configmaps/c`),
    remove(`${admission}/validatingadmissionpolicybindings/${name}`),
    remove(`${admission}/validatingadmissionpolicies/${name}`),
  ]
}
