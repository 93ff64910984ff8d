// What a random world contains (random-world.ts).

import {
  claimedAfterAnnotation,
  clusterAnnotation,
  controlledLabel,
  copiedKeysAnnotation,
  namespaceAnnotation,
  publicLabel,
  tokenPodUIDAnnotation,
  uidAnnotation,
  virtualClusterNameKey,
} from "../../apimachinery/tenancy.ts"
import { pick, type Random } from "../../apimachinery/testing/random.ts"
import {
  configMaps,
  endpointSlices,
  namespaces,
  networkPolicies,
  persistentVolumeClaims,
  pods,
  runtimeClasses,
  secrets,
  serviceAccounts,
  services,
} from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"

/** Of a value from 0 to 8. */
export const contents: readonly [resource: Resource, kind: string, fill: (value: number) => object][] = [
  [configMaps, "ConfigMap", (value) => ({ data: { value: `v${value}` } })],
  [secrets, "Secret", (value) => ({ data: { value: `v${value}` } })],
  [services, "Service", (value) => ({ spec: { selector: { app: `v${value}` }, ports: [{ port: 80 }] } })],
  [serviceAccounts, "ServiceAccount", (value) => ({ imagePullSecrets: [{ name: `v${value}` }] })],
  [
    endpointSlices,
    "EndpointSlice",
    (value) => ({ addressType: "IPv4", endpoints: [{ addresses: [`192.0.2.${value}`] }] }),
  ],
  [
    persistentVolumeClaims,
    "PersistentVolumeClaim",
    (value) => ({ spec: { resources: { requests: { storage: `${1 + value}Gi` } } } }),
  ],
  [
    networkPolicies,
    "NetworkPolicy",
    (value) => ({
      spec: { podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { app: `v${value}` } } }] }] },
    }),
  ],
]
export const inNamespaces: readonly Resource[] = [pods, ...contents.map(([resource]) => resource)]
export const copied = [namespaces, runtimeClasses, ...inNamespaces]

/** What pods refer to may be missing. */
export const volumesOfPods = [
  [],
  [{ name: "v", configMap: { name: "o0" } }],
  [{ name: "v", secret: { secretName: "o1", optional: true } }],
  [{ name: "v", persistentVolumeClaim: { claimName: "o2" } }],
  [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "token" } }, { configMap: { name: "o3" } }] } }],
]

/** Marks as the syncer's own, which a tenant writes on its objects: of itself, or of another tenant. */
export function forged(random: Random, tenants: readonly Tenant[]): Record<string, unknown> {
  const { clusterKey } = pick(random, tenants)
  const keys: Record<string, string | null> = {
    [clusterAnnotation]: clusterKey,
    [uidAnnotation]: "forged",
    [namespaceAnnotation]: pick(random, ["default", "apps", "kube-system"]),
    [controlledLabel]: pick(random, ["true", "false"]),
    [tokenPodUIDAnnotation]: "forged",
    [copiedKeysAnnotation]: "a,b;c",
    [claimedAfterAnnotation]: "1 2099-01-01T00:00:00Z",
    [publicLabel]: "true",
  }
  const chosen = Object.fromEntries(Object.entries(keys).filter(() => random(2) === 0))
  return { metadata: { [pick(random, ["labels", "annotations"])]: chosen } }
}

/** Of copies, by somebody in super. Who owns them is not among that: they are nobody's then. */
export const handEdits: readonly Record<string, unknown>[] = [
  { metadata: { labels: { meddled: "yes" } }, data: { value: "x" } },
  { metadata: { labels: { app: null } }, data: null },
  { metadata: { annotations: { [copiedKeysAnnotation]: null, [virtualClusterNameKey]: "x" } } },
  { immutable: true, data: { value: "x" } },
]

/** By somebody in super, after which it is nobody's copy any more. */
export const disowning: readonly Record<string, unknown>[] = [
  { metadata: { annotations: null } },
  { metadata: { annotations: null, labels: null } },
  { metadata: { annotations: { [uidAnnotation]: null } } },
  { metadata: { annotations: { [clusterAnnotation]: null } } },
]

/** As an administrator's of nodes. */
export const nodeEdits: readonly Record<string, unknown>[] = [
  { spec: { unschedulable: true } },
  { spec: { unschedulable: null } },
  { spec: { taints: [{ key: "a", value: "b", effect: "NoSchedule" }] } },
  { spec: { taints: null } },
  { metadata: { labels: { zone: "a" }, annotations: { note: "a" } } },
  { metadata: { labels: null } },
  { status: { conditions: [{ type: "Ready", status: "False", reason: "Down" }], capacity: { cpu: "4" } } },
  { status: { conditions: [{ type: "Ready", status: "True", reason: "Up" }], capacity: { cpu: "8" } } },
]

/** Holds what is deleted in super, until somebody there lets it go. */
export const held = { metadata: { finalizers: ["example.com/hold"] } }
