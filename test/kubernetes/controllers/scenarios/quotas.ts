// What quotas count.

import type { Scenario, Step } from "../scenario.ts"
import { config, counts, pod, scoped } from "./deletion-steps.ts"
import { deployment, job, quota, rolled, scale, settle } from "./steps.ts"
import { claim } from "./volume-steps.ts"

const reported = (status: object): Step => ({
  patch: ["resourcequotas", "limit"],
  with: { status },
  subresource: "status",
})
const secret: Step = { create: { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }, mayBeRefused: true }

export const quotaScenarios: readonly Scenario[] = [
  {
    name: "quota counts",
    nodes: "ready",
    steps: [
      quota({ pods: "10", configmaps: "10", "count/deployments.apps": "5" }),
      settle,
      deployment(),
      rolled(3),
      config("a"),
      settle,
    ],
  },
  {
    name: "quota gets the same amount in another text",
    steps: [
      quota({ "limits.memory": "1Gi", configmaps: "10" }),
      settle,
      { patch: ["resourcequotas", "limit"], with: { spec: { hard: { "limits.memory": "1073741824" } } } },
      settle,
    ],
  },
  {
    name: "quota of uncounted resources",
    steps: [
      quota({
        pods: "10",
        "count/widgets.example.com": "5",
        "example.com/widgets": "3",
        "count/events": "7",
        "services.example.com/a": "1",
        "gold.storageclass.storage.k8s.io/a": "1",
      }),
      settle,
      {
        patch: ["resourcequotas", "limit"],
        with: { status: { used: { "count/widgets.example.com": "2", "count/others": "1" } } },
        subresource: "status",
      },
      { patch: ["resourcequotas", "limit"], with: { spec: { hard: { pods: "9" } } } },
      settle,
    ],
  },
  {
    name: "quota of requested resources",
    nodes: "bound",
    steps: [
      quota({ "requests.cpu": "2", "limits.memory": "1Gi", "requests.storage": "5Gi", pods: "5" }),
      counts("limit", { pods: "5" }),
      pod("a", {}, { requests: { cpu: "100m" }, limits: { memory: "100Mi" } }),
      pod(
        "b",
        {
          initContainers: [
            { name: "i", image: "one", resources: { requests: { cpu: "1" }, limits: { memory: "1Mi" } } },
          ],
        },
        { requests: { cpu: "200m" }, limits: { memory: "10Mi" } },
      ),
      settle,
      { pods: "succeeded", count: 1 },
      settle,
    ],
  },
  {
    name: "quotas with scopes",
    nodes: "bound",
    steps: [
      scoped("best", { hard: { pods: "3" }, scopes: ["BestEffort"] }),
      scoped("rest", { hard: { pods: "3" }, scopes: ["NotBestEffort"] }),
      scoped("ends", { hard: { pods: "3" }, scopes: ["Terminating"] }),
      scoped("stays", { hard: { pods: "3" }, scopes: ["NotTerminating"] }),
      scoped("spread", { hard: { pods: "3" }, scopes: ["CrossNamespacePodAffinity"] }),
      scoped("important", {
        hard: { pods: "3" },
        scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists" }] },
      }),
      counts("important", { pods: "3" }),
      counts("spread", { pods: "3" }),
      pod("a"),
      pod("b", { activeDeadlineSeconds: 100 }, { requests: { cpu: "100m" } }),
      settle,
    ],
  },
  {
    name: "pod gets a deadline under quotas with scopes",
    nodes: "bound",
    steps: [
      scoped("ends", { hard: { pods: "3" }, scopes: ["Terminating"] }),
      scoped("stays", { hard: { pods: "3" }, scopes: ["NotTerminating"] }),
      counts("ends", { pods: "3" }),
      counts("stays", { pods: "3" }),
      pod("a"),
      pod("b"),
      settle,
      { patch: ["pods", "a"], with: { spec: { activeDeadlineSeconds: 1000 } } },
      settle,
    ],
  },
  {
    name: "quota that is met by a change",
    nodes: "ready",
    steps: [
      quota({ pods: "2" }),
      counts("limit", { pods: "2" }),
      deployment({ replicas: 3 }),
      settle,
      { patch: ["resourcequotas", "limit"], with: { spec: { hard: { pods: "5" } } } },
      counts("limit", { pods: "5" }),
      scale(4),
      settle,
    ],
  },
  {
    name: "quota of services and claims",
    steps: [
      quota({
        services: "5",
        "services.nodeports": "5",
        "services.loadbalancers": "5",
        persistentvolumeclaims: "5",
        "gold.storageclass.storage.k8s.io/requests.storage": "10Gi",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "3",
        "count/secrets": "5",
        "count/jobs.batch": "3",
      }),
      counts("limit", { services: "5" }),
      {
        create: {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "web" },
          spec: {
            type: "LoadBalancer",
            ports: [
              { name: "a", port: 1 },
              { name: "b", port: 2 },
            ],
          },
        },
      },
      {
        create: {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: "data" },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: "gold",
            resources: { requests: { storage: "2Gi" } },
          },
        },
      },
      job({ suspend: true }),
      settle,
      { patch: ["services", "web"], with: { spec: { type: "NodePort" } } },
      settle,
      { delete: ["services", "web"] },
      { delete: ["jobs", "work"] },
      settle,
    ],
  },
  {
    name: "quota that comes late",
    nodes: "ready",
    steps: [deployment(), rolled(3), quota({ pods: "2", "count/replicasets.apps": "1" }), settle],
  },
  {
    name: "quotas of claims with attributes",
    steps: [
      scoped("gold", {
        hard: { persistentvolumeclaims: "3", "requests.storage": "10Gi" },
        scopeSelector: {
          matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "In", values: ["gold"] }],
        },
      }),
      scoped("none", {
        hard: { persistentvolumeclaims: "3" },
        scopeSelector: { matchExpressions: [{ scopeName: "VolumeAttributesClass", operator: "DoesNotExist" }] },
      }),
      counts("gold", { persistentvolumeclaims: "3" }),
      counts("none", { persistentvolumeclaims: "3" }),
      claim("a", "1Gi", { volumeAttributesClassName: "gold" }),
      claim("b", "1Gi", { volumeAttributesClassName: "silver" }),
      claim("c", "1Gi"),
      settle,
      { delete: ["persistentvolumeclaims", "a"] },
      settle,
    ],
  },
  {
    name: "quota of pods with resources of their own",
    nodes: "bound",
    steps: [
      quota({ "requests.cpu": "8", "limits.cpu": "8", "requests.memory": "8Gi", "count/pods": "9" }),
      counts("limit", { "count/pods": "9" }),
      pod(
        "a",
        { resources: { requests: { cpu: "2", memory: "1Gi" }, limits: { cpu: "3", memory: "2Gi" } } },
        { requests: { cpu: "1", memory: "1Mi" }, limits: { cpu: "1", memory: "1Gi" } },
      ),
      settle,
      { pods: { exit: 1 } },
      settle,
    ],
  },
  {
    name: "quota whose status a user writes",
    steps: [
      quota({ configmaps: "10", secrets: "10" }),
      settle,
      reported({ hard: { configmaps: "1" }, used: { secrets: null } }),
      settle,
      { ...config("a"), mayBeRefused: true },
      secret,
      settle,
      { patch: ["resourcequotas", "limit"], with: { spec: { hard: { configmaps: "3" } } } },
      settle,
      ...["a", "b", "c"].map((name): Step => ({ ...config(name), mayBeRefused: true })),
      secret,
      settle,
    ],
  },
]
