// What is accepted, and warned of.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"
import { kindNamed } from "../generate/objects.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const oldLabels = [
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "beta.kubernetes.io/instance-type",
  "app.kubernetes.io/created-by",
  "scheduler.alpha.kubernetes.io/preferAvoidPods",
  "node-role.kubernetes.io/master",
]
const containers = [{ name: "main", image: "busybox" }]

export function warningCases(): Scenario[] {
  return [
    { name: "old labels of nodes are warned of", steps: oldLabels.flatMap(ofLabel) },
    { name: "a quota that grants more than may be used is warned of", anyOrder: true, steps: ofQuotas() },
    { name: "accounts and ingresses of old are warned of", steps: ofAnnotations() },
    { name: "jobs of many indexes are warned of", steps: ofJobs() },
    { name: "names that are reserved are warned of", steps: ofReserved() },
    { name: "overhead in fractions of bytes is warned of", steps: ofOverhead() },
    { name: "a service that is refused addresses is not warned of", steps: ofServices() },
  ]
}

function ofLabel(label: string): RequestStep[] {
  const expressions = [{ key: label, operator: "In", values: ["a", "b c"] }]
  const required = { nodeSelectorTerms: [{ matchExpressions: expressions }] }
  const pod = (spec: Body): Body => ({ metadata: { name: "a" }, spec: { containers, ...spec } })
  const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } }
  return [
    post(`${core}/pods?dryRun=All`, pod({ nodeSelector: { [label]: "a" } })),
    post(
      `${core}/pods?dryRun=All`,
      pod({
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: expressions } },
            ],
          },
        },
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: label, whenUnsatisfiable: "DoNotSchedule" }],
      }),
    ),
    post("/api/v1/persistentvolumes?dryRun=All", {
      metadata: { name: "w@{id}" },
      spec: {
        ...volume,
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: label, operator: "Exists" }] }] } },
      },
    }),
    post("/apis/storage.k8s.io/v1/storageclasses?dryRun=All", {
      metadata: { name: "w@{id}" },
      provisioner: "example.com/a",
      allowedTopologies: [{ matchLabelExpressions: [{ key: label, values: ["a"] }] }],
    }),
    post("/apis/storage.k8s.io/v1/namespaces/@{ns}/csistoragecapacities?dryRun=All", {
      metadata: { name: "a" },
      storageClassName: "a",
      nodeTopology: { matchLabels: { [label]: "a" }, matchExpressions: [{ key: label, operator: "Exists" }] },
    }),
    post("/apis/node.k8s.io/v1/runtimeclasses?dryRun=All", {
      metadata: { name: "w@{id}" },
      handler: "a",
      scheduling: { nodeSelector: { [label]: "a" } },
    }),
    post(
      `${core}/pods?dryRun=All`,
      pod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }),
    ),
  ]
}

function ofQuotas(): RequestStep[] {
  const lists: Body[] = [
    { "requests.cpu": "2", "limits.cpu": "1" },
    { cpu: "2", "limits.cpu": "1" },
    { cpu: "3", "requests.cpu": "1", "limits.cpu": "2" },
    { memory: "2Gi", "limits.memory": "1G" },
    { "requests.storage": "2Gi", "limits.storage": "1Gi" },
    { storage: "2Gi", "limits.storage": "1Gi" },
    { "requests.ephemeral-storage": "2000m", "limits.ephemeral-storage": "1" },
    { "requests.cpu": "1000m", "limits.cpu": "1" },
    { "requests.cpu": "2", "limits.cpu": "1", "requests.memory": "2", "limits.memory": "1" },
  ]
  const path = `${core}/resourcequotas`
  return [
    ...lists.map((hard) => post(`${path}?dryRun=All`, { metadata: { name: "a" }, spec: { hard } })),
    post(path, { metadata: { name: "w" }, spec: { hard: { "requests.cpu": "2", "limits.cpu": "1" } } }),
    patch(`${path}/w`, strategicPatch, { spec: { hard: { "limits.cpu": "500m" } } }),
  ]
}

function ofAnnotations(): RequestStep[] {
  const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" }
  const ingress = "/apis/networking.k8s.io/v1/namespaces/@{ns}/ingresses"
  const spec = { defaultBackend: { service: { name: "a", port: { number: 80 } } } }
  const byAnnotation = { "kubernetes.io/ingress.class": "nginx" }
  const points = (ip: string): Body => ({ status: { loadBalancer: { ingress: [{ ip }] } } })
  return [
    post(`${core}/serviceaccounts`, { metadata: { name: "w", annotations } }),
    patch(`${core}/serviceaccounts/w`, strategicPatch, { metadata: { labels: { a: "b" } } }),
    patch(`${core}/serviceaccounts/w`, strategicPatch, { metadata: { annotations: null } }),
    patch(`${core}/serviceaccounts/w`, strategicPatch, { metadata: { annotations } }),
    post(ingress, { metadata: { name: "w", annotations: byAnnotation }, spec }),
    patch(`${ingress}/w`, strategicPatch, { metadata: { labels: { a: "b" } } }),
    post(`${ingress}?dryRun=All`, {
      metadata: { name: "b", annotations: byAnnotation },
      spec: { ...spec, ingressClassName: "nginx" },
    }),
    patch(`${ingress}/w/status`, strategicPatch, points("2001:DB8::1")),
    patch(`${ingress}/w/status`, strategicPatch, points("10.1.1.01")),
    post(`${ingress}?dryRun=All`, { metadata: { name: "b" }, spec: { rules: [{ host: "010.1.1.1" }], ...spec } }),
  ]
}

function ofJobs(): RequestStep[] {
  const spec = (parallelism: number, completions: number): Body => ({
    completionMode: "Indexed",
    parallelism,
    completions,
    backoffLimitPerIndex: 1,
    maxFailedIndexes: 10,
    template: { spec: { restartPolicy: "Never", containers } },
  })
  const sizes: readonly (readonly [number, number])[] = [
    [10_000, 100_001],
    [10_001, 100_000],
    [10_001, 100_001],
  ]
  return sizes.flatMap(([parallelism, completions]) => [
    post("/apis/batch/v1/namespaces/@{ns}/jobs?dryRun=All", {
      metadata: { name: "a" },
      spec: { ...spec(parallelism, completions), maxFailedIndexes: null, backoffLimitPerIndex: null, suspend: true },
    }),
    post("/apis/batch/v1/namespaces/@{ns}/cronjobs?dryRun=All", {
      metadata: { name: "a" },
      spec: {
        schedule: "@daily",
        jobTemplate: {
          spec: { ...spec(parallelism, completions), maxFailedIndexes: null, backoffLimitPerIndex: null },
        },
      },
    }),
  ])
}

function ofReserved(): RequestStep[] {
  return [
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
  ].map((kind) => {
    const named = kindNamed(`admissionregistration.k8s.io/v1/${kind}`)
    return post(
      `${named.path}?dryRun=All`,
      { ...named.object(), metadata: { name: "a.static.k8s.io" } },
      { label: kind },
    )
  })
}

function ofOverhead(): RequestStep[] {
  return ["memory", "ephemeral-storage", "cpu"].map((resource) =>
    post("/apis/apps/v1/namespaces/@{ns}/deployments?dryRun=All", {
      metadata: { name: "a" },
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: {
          metadata: { labels: { a: "b" } },
          spec: { containers, runtimeClassName: "a", overhead: { [resource]: "100m" } },
        },
      },
    }),
  )
}

function ofServices(): RequestStep[] {
  const path = `${core}/services`
  const ports = [{ port: 80, nodePort: 30_900 }]
  const ignored = { clusterIP: "None", sessionAffinity: "ClientIP" }
  const balanced = { type: "LoadBalancer", loadBalancerIP: "010.0.0.1" }
  const specs: Body[] = [
    { ...ignored, ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv6"] },
    { ...balanced, clusterIP: null, ports },
    { ...ignored, type: "ClusterIP" },
    { ...balanced, clusterIP: null },
  ]
  const headless = { clusterIP: "None", selector: { a: "b" }, ports: [{ port: 80 }] }
  return [
    post(path, { metadata: { name: "taken" }, spec: { type: "NodePort", ports } }),
    post(path, { metadata: { name: "headless" }, spec: headless }),
    post(path, { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } }),
    ...["", "?dryRun=All"].flatMap((query) =>
      specs.flatMap((spec, index) => [
        post(`${path}${query}`, { metadata: { name: "new" }, spec }, { label: `POST${query} ${index}` }),
        ...["headless", "a"]
          .filter((name) => name === "a" || spec["clusterIP"] === "None")
          .map((name) =>
            patch(`${path}/${name}${query}`, mergePatch, { spec }, { label: `PATCH ${name}${query} ${index}` }),
          ),
      ]),
    ),
  ]
}
