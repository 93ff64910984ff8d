// What a random world contains (random-world.ts).

import {
  configMaps,
  endpointSlices,
  namespaces,
  persistentVolumeClaims,
  pods,
  runtimeClasses,
  secrets,
  serviceAccounts,
  services,
} from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"

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

/** Holds what is deleted in super, until somebody there lets it go. */
export const held = { metadata: { finalizers: ["example.com/hold"] } }
