// The kinds that several clients write (writers.ts): parts of an object, and of its subresources.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import type { RequestStep } from "../scenario.ts"

export interface Written {
  apiVersion: string
  kind: string
  path: string
  /** What every writer sends. */
  base: JsonObject
  /** Parts that writers add, or leave out. */
  parts: readonly ((random: Random) => JsonObject)[]
  /** Parts of other subresources. */
  subresources: Readonly<Record<string, readonly ((random: Random) => JsonObject)[]>>
  /** The same objects in other versions. */
  others?: readonly Written[]
  /** Come first. */
  given?: readonly RequestStep[]
}

const some = <T>(random: Random, items: readonly T[], least = 0): T[] => {
  const chosen = items.filter(() => chance(random, 0.45))
  return chosen.length < least ? items.slice(0, least) : chance(random, 0.2) ? chosen.toReversed() : chosen
}
const env = (random: Random): Json =>
  some(random, ["A", "B", "C"]).map((name) => ({
    name,
    ...(chance(random, 0.8) ? { value: pick(random, ["1", "2"]) } : {}),
  }))
const ports = (random: Random): Json =>
  some(random, [
    { containerPort: 80 },
    { containerPort: 80, protocol: "UDP" },
    { containerPort: 443, name: "https", protocol: "TCP" },
  ] as Json[])
const amounts = (random: Random): Json => ({
  requests: { cpu: pick(random, ["1", "500m", "0.5"]) },
  ...(chance(random, 0.4) ? { limits: { cpu: "2", memory: "1Gi" } } : {}),
})
const metadata = (random: Random): JsonObject => ({
  metadata: {
    ...(chance(random, 0.6)
      ? { labels: Object.fromEntries(some(random, ["l", "m", "n"]).map((key) => [key, pick(random, ["1", "2"])])) }
      : {}),
    ...(chance(random, 0.4)
      ? { annotations: { [pick(random, ["a", "example.com/b"])]: pick(random, ["1", "2", ""]) } }
      : {}),
    ...(chance(random, 0.25) ? { finalizers: some(random, ["example.com/a", "example.com/b"]) } : {}),
    ...(chance(random, 0.2)
      ? {
          ownerReferences: some(random, ["x", "y"]).map((uid) => ({
            apiVersion: "v1",
            kind: "ConfigMap",
            name: "o",
            uid,
          })),
        }
      : {}),
  },
})
const conditions = (random: Random): JsonObject => ({
  status: {
    conditions: some(random, ["Ready", "Available", "example.com/c"]).map((type) => ({
      type,
      status: pick(random, ["True", "False"]),
      lastTransitionTime: "2024-01-02T03:04:05Z",
      ...(chance(random, 0.5) ? { reason: "Because", message: pick(random, ["", "m"]) } : {}),
    })),
  },
})
const container = (random: Random, name: string): JsonObject => ({
  name,
  image: pick(random, ["i", "j"]),
  ...(chance(random, 0.4) ? { env: env(random) } : {}),
  ...(chance(random, 0.3) ? { ports: ports(random) } : {}),
  ...(chance(random, 0.2) ? { command: some(random, ["a", "b", "a"]) } : {}),
  ...(chance(random, 0.3) ? { resources: amounts(random) } : {}),
  ...(chance(random, 0.2)
    ? { volumeMounts: some(random, ["/a", "/b"]).map((mountPath) => ({ name: "v", mountPath })) }
    : {}),
})
const volumes = (random: Random): Json =>
  some(random, ["v", "w"], 1).map((name) => ({
    name,
    ...pick<JsonObject>(random, [
      { emptyDir: {} },
      { configMap: { name: "c" } },
      { emptyDir: { medium: "Memory" } },
      {},
    ]),
  }))
const template = (random: Random): JsonObject => ({
  metadata: { labels: { app: "a", ...(chance(random, 0.3) ? { v: pick(random, ["1", "2"]) } : {}) } },
  spec: {
    containers: some(random, ["main", "side", "more"], 1).map((name) => container(random, name)),
    volumes: volumes(random),
    ...(chance(random, 0.3)
      ? {
          tolerations: some(random, [
            { key: "a", operator: "Exists" },
            { key: "b", value: "x" },
          ] as Json[]),
        }
      : {}),
    ...(chance(random, 0.3) ? { imagePullSecrets: some(random, [{ name: "a" }, { name: "b" }]) } : {}),
    ...(chance(random, 0.3) ? { nodeSelector: { [pick(random, ["a", "b"])]: "x" } } : {}),
    ...(chance(random, 0.3)
      ? { hostAliases: some(random, [{ ip: "10.0.0.1", hostnames: ["a"] }, { ip: "10.0.0.2" }]) }
      : {}),
    ...(chance(random, 0.2)
      ? {
          topologySpreadConstraints: some(random, ["a", "b"]).map((topologyKey) => ({
            topologyKey,
            maxSkew: 1,
            whenUnsatisfiable: "DoNotSchedule",
          })),
        }
      : {}),
  },
})
const replicas = (random: Random): JsonObject => ({ spec: { replicas: random(4) } })

export const kinds: readonly Written[] = [
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    path: "/apis/apps/v1/namespaces/@{ns}/deployments",
    base: {
      spec: {
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "i" }] } },
      },
    },
    parts: [
      metadata,
      replicas,
      (random) => ({ spec: { template: template(random) } }),
      (random) => ({ spec: { template: template(random) } }),
      (random) => ({
        spec: {
          strategy: pick<Json>(random, [
            { type: "Recreate" },
            { type: "RollingUpdate" },
            { rollingUpdate: { maxSurge: 2 } },
            {},
          ]),
        },
      }),
      (random) => ({ spec: { paused: random(2) === 1, minReadySeconds: random(3) } }),
    ],
    subresources: {
      status: [conditions, metadata, (random) => ({ status: { replicas: random(3), readyReplicas: random(3) } })],
      scale: [replicas],
    },
  },
  {
    apiVersion: "v1",
    kind: "Pod",
    path: "/api/v1/namespaces/@{ns}/pods",
    base: {
      spec: {
        containers: [
          { name: "main", image: "i", resources: { requests: { cpu: "1" }, limits: { cpu: "2", memory: "1Gi" } } },
        ],
      },
    },
    parts: [
      metadata,
      metadata,
      (random) => ({ spec: { containers: [{ name: "main", image: pick(random, ["i", "j"]) }] } }),
      (random) => ({
        spec: {
          tolerations: some(random, [
            { key: "a", operator: "Exists" },
            { key: "b", value: "x" },
          ] as Json[]),
        },
      }),
      (random) => ({ spec: { activeDeadlineSeconds: 10 - random(3) } }),
      (random) => ({ spec: { schedulingGates: some(random, [{ name: "example.com/a" }, { name: "example.com/b" }]) } }),
    ],
    subresources: {
      status: [
        conditions,
        (random) => ({
          status: {
            podIPs: some(random, [{ ip: "10.0.0.1" }, { ip: "fd00::1" }]),
            phase: pick(random, ["Running", "Pending"]),
          },
        }),
        (random) => ({
          status: {
            containerStatuses: [
              { name: "main", image: "i", imageID: "x", ready: random(2) === 1, restartCount: random(3) },
            ],
          },
        }),
      ],
      resize: [(random) => ({ spec: { containers: [{ name: "main", resources: amounts(random) }] } })],
      ephemeralcontainers: [
        (random) => ({ spec: { ephemeralContainers: some(random, ["d", "e"]).map((name) => ({ name, image: "i" })) } }),
      ],
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    path: "/api/v1/namespaces/@{ns}/services",
    base: { spec: { clusterIP: "None" } },
    parts: [
      metadata,
      (random) => ({ spec: { selector: { [pick(random, ["a", "b"])]: pick(random, ["1", "2"]) } } }),
      (random) => ({
        spec: {
          ports: some(random, [
            { name: "a", port: 80 },
            { name: "b", port: 80, protocol: "UDP" },
            { name: "c", port: 443, targetPort: "x" },
          ] as Json[]),
        },
      }),
      (random) => ({
        spec: { externalIPs: some(random, ["192.0.2.1", "192.0.2.2"]), publishNotReadyAddresses: random(2) === 1 },
      }),
      (random) => ({ spec: pick<Json>(random, [{ sessionAffinity: "ClientIP" }, { sessionAffinity: "None" }]) }),
    ],
    subresources: { status: [conditions, metadata] },
  },
  {
    apiVersion: "v1",
    kind: "ResourceQuota",
    path: "/api/v1/namespaces/@{ns}/resourcequotas",
    base: {},
    parts: [
      metadata,
      (random) => ({
        spec: {
          hard: Object.fromEntries(
            some(random, ["pods", "cpu", "secrets"]).map((name) => [name, pick(random, ["1", "2", "1000m", 2])]),
          ),
        },
      }),
    ],
    subresources: {
      status: [(random) => ({ status: { hard: { pods: pick(random, ["1", "2"]) }, used: { pods: "0" } } })],
    },
  },
  {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    path: "/apis/autoscaling/v2/namespaces/@{ns}/horizontalpodautoscalers",
    base: { spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "a", apiVersion: "apps/v1" } } },
    parts: [
      metadata,
      (random) => ({ spec: { minReplicas: 1 + random(2), maxReplicas: 3 + random(2) } }),
      (random) => ({
        spec: {
          metrics: some(random, ["cpu", "memory"]).map((name) => ({
            type: "Resource",
            resource: { name, target: { type: "Utilization", averageUtilization: 50 + random(3) } },
          })),
        },
      }),
      (random) => ({ spec: { behavior: { scaleDown: { stabilizationWindowSeconds: random(3) } } } }),
    ],
    subresources: {
      status: [conditions, (random) => ({ status: { desiredReplicas: random(3), currentReplicas: 1 } })],
    },
  },
]
