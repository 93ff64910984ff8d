// The classes, accounts and bounds by which built-in plugins change and refuse objects.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { mergePatch, patch, post, put, remove, type RequestStep } from "../scenario.ts"
import { space } from "./scenario.ts"

const clusterObjects = {
  priorityclasses: "/apis/scheduling.k8s.io/v1/priorityclasses",
  runtimeclasses: "/apis/node.k8s.io/v1/runtimeclasses",
  storageclasses: "/apis/storage.k8s.io/v1/storageclasses",
  ingressclasses: "/apis/networking.k8s.io/v1/ingressclasses",
  nodes: "/api/v1/nodes",
}

/** Others would take the classes for theirs. */
export const removed: readonly RequestStep[] = [
  remove(`${clusterObjects.priorityclasses}/high-@{id}`),
  remove(`${clusterObjects.priorityclasses}/low-@{id}`),
  remove(`${clusterObjects.runtimeclasses}/rc-@{id}`),
  remove(`${clusterObjects.storageclasses}/sc-@{id}`),
  remove(`${clusterObjects.ingressclasses}/ic-@{id}`),
  remove(`${clusterObjects.nodes}/n-@{id}`),
]

/** What built-in plugins find by name, or for whatever has none; and bounds. */
export function fixtures(random: Random): RequestStep[] {
  const isDefault = chance(random, 0.4)
  const some = (probability: number, ...steps: RequestStep[]): RequestStep[] =>
    chance(random, probability) ? steps : []
  return [
    post(clusterObjects.priorityclasses, {
      metadata: { name: "high-@{id}" },
      value: 1000,
      ...(chance(random, 0.5) ? { preemptionPolicy: "Never" } : {}),
    }),
    post(clusterObjects.priorityclasses, { metadata: { name: "low-@{id}" }, value: -5, globalDefault: isDefault }),
    post(clusterObjects.runtimeclasses, {
      metadata: { name: "rc-@{id}" },
      handler: "h",
      ...(chance(random, 0.6) ? { overhead: { podFixed: { cpu: "100m" } } } : {}),
      ...(chance(random, 0.6)
        ? {
            scheduling: {
              nodeSelector: { runtime: "rc" },
              tolerations: [{ key: "runtime", operator: "Exists" }],
            },
          }
        : {}),
    }),
    post(clusterObjects.storageclasses, {
      metadata: {
        name: "sc-@{id}",
        annotations: { "storageclass.kubernetes.io/is-default-class": String(isDefault) },
      },
      provisioner: "p",
      allowVolumeExpansion: chance(random, 0.5),
    }),
    post(clusterObjects.ingressclasses, {
      metadata: {
        name: "ic-@{id}",
        annotations: { "ingressclass.kubernetes.io/is-default-class": String(isDefault) },
      },
      spec: { controller: "example.com/c" },
    }),
    post(clusterObjects.nodes, {
      metadata: {
        name: "n-@{id}",
        labels: { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r" },
      },
    }),
    post(`${space}/serviceaccounts`, { metadata: { name: "quiet" }, automountServiceAccountToken: false }),
    post(`${space}/serviceaccounts`, {
      metadata: { name: "strict", annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } },
      secrets: [{ name: "s" }],
      imagePullSecrets: [{ name: "pull" }],
    }),
    ...some(
      0.6,
      post(`${space}/limitranges`, {
        metadata: { name: "a" },
        spec: {
          limits: [
            {
              type: "Container",
              default: { cpu: "500m", memory: "64Mi" },
              defaultRequest: { cpu: "100m" },
              ...(chance(random, 0.5) ? { max: { cpu: "2" } } : {}),
            },
            ...(chance(random, 0.5) ? [{ type: "Pod", max: { cpu: "3" } }] : []),
            ...(chance(random, 0.5)
              ? [{ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "5Gi" } }]
              : []),
          ],
        },
      } as Json),
    ),
    ...some(
      0.4,
      post(`${space}/resourcequotas`, {
        metadata: { name: "q" },
        spec: { hard: { pods: "4", "limits.cpu": "4", "requests.storage": "8Gi" } },
      }),
      put(`${space}/resourcequotas/q/status`, {
        metadata: { name: "q" },
        status: { hard: { pods: "4", "limits.cpu": "4", "requests.storage": "8Gi" }, used: {} },
      }),
    ),
    ...some(
      0.4,
      patch(space, mergePatch, {
        metadata: {
          labels: {
            "pod-security.kubernetes.io/enforce": pick(random, ["baseline", "restricted", "privileged"]),
            "pod-security.kubernetes.io/warn": pick(random, ["baseline", "restricted"]),
          },
        },
      }),
    ),
  ]
}
