// Services: their Endpoints and EndpointSlices.

import type { Scenario } from "../scenario.ts"
import { endpoints, patched, pod, service, slice, subset, withoutSelector } from "./service-steps.ts"
import { container, deployment, labels, quota, rolled, settle, template, workload } from "./steps.ts"

export const serviceScenarios: readonly Scenario[] = [
  {
    name: "service of ready and unready pods",
    nodes: "bound",
    steps: [service(), deployment(), settle, { pods: "ready", count: 2 }, settle],
  },
  { name: "service without pods", steps: [service(), settle] },
  { name: "headless service", nodes: "ready", steps: [service({ clusterIP: "None" }), deployment(), rolled(3)] },
  {
    name: "service that publishes unready pods",
    nodes: "bound",
    steps: [service({ publishNotReadyAddresses: true }), deployment(), settle, { pods: "unready" }, settle],
  },
  {
    name: "service of several ports",
    nodes: "ready",
    steps: [
      service({
        ports: [
          { name: "http", port: 80, targetPort: "web" },
          { name: "udp", port: 53, protocol: "UDP", targetPort: 5353, appProtocol: "example.com/dns" },
          { name: "none", port: 81, targetPort: "nobody" },
        ],
      }),
      pod("a"),
      pod("b", { containers: [{ name: "c", image: "one", ports: [{ name: "web", containerPort: 9000 }] }] }),
      pod("c", { containers: [container("one")] }),
      settle,
    ],
  },
  {
    name: "service without ports of its own",
    nodes: "ready",
    steps: [service({ clusterIP: "None", ports: null }), pod("a"), settle],
  },
  {
    name: "service whose selector changes",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      pod("b", {}, { labels: { app: "other" } }),
      settle,
      patched({ selector: { app: "other" } }),
      settle,
    ],
  },
  {
    name: "service that loses its selector",
    nodes: "ready",
    steps: [service(), pod("a"), settle, patched(withoutSelector), settle],
  },
  {
    name: "service that gets labels and another port",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      patched(
        { ports: [{ name: "https", port: 443, targetPort: 8443 }] },
        { labels: { team: "b", more: "x" }, annotations: { a: "b" } },
      ),
      settle,
    ],
  },
  {
    name: "service deleted",
    nodes: "ready",
    steps: [service(), pod("a"), settle, { delete: ["services", "web"] }, settle],
  },
  {
    name: "service deleted without its slices",
    nodes: "ready",
    steps: [service(), pod("a"), settle, { delete: ["services", "web"], policy: "Orphan" }, settle],
  },
  {
    name: "service of pods that have ended",
    nodes: "bound",
    steps: [
      service(),
      pod("a"),
      pod("b"),
      pod("c"),
      settle,
      { pods: "ready" },
      settle,
      { pods: "succeeded", count: 1 },
      { pods: { exit: 1 }, count: 1 },
      settle,
    ],
  },
  {
    name: "service of pods that do not end",
    nodes: "ready",
    steps: [
      service(),
      pod("a", {}, { finalizers: ["example.com/hold"] }),
      pod("b"),
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "service of pods that are not ready any more",
    nodes: "bound",
    steps: [service(), pod("a"), pod("b"), settle, { pods: "ready" }, settle, { pods: "unready", count: 1 }, settle],
  },
  {
    name: "headless service of pods with names",
    nodes: "ready",
    steps: [
      service({ clusterIP: "None" }),
      pod("a", { hostname: "first", subdomain: "web" }),
      pod("b", { hostname: "second", subdomain: "other" }),
      settle,
    ],
  },
  {
    name: "headless service of a stateful set",
    nodes: "ready",
    steps: [service({ clusterIP: "None" }), workload("StatefulSet", { serviceName: "web", replicas: 2 }), settle],
  },
  {
    name: "service of an external name",
    steps: [service({ type: "ExternalName", externalName: "example.com" }), settle],
  },
  {
    name: "service of an external name with an internal traffic policy",
    steps: [
      service({ type: "ExternalName", externalName: "example.com", internalTrafficPolicy: "Local" }),
      settle,
      patched({ internalTrafficPolicy: "Local" }),
      settle,
    ],
  },
  {
    name: "service that becomes an external name",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      patched({ type: "ExternalName", externalName: "example.com", clusterIP: null, clusterIPs: null }),
      settle,
    ],
  },
  {
    name: "service that prefers what is near",
    nodes: "ready",
    steps: [service({ trafficDistribution: "PreferSameNode" }), deployment(), rolled(3), settle],
  },
  {
    name: "service that has too few endpoints for hints",
    nodes: "ready",
    steps: [
      service(),
      patched({}, { annotations: { "service.kubernetes.io/topology-mode": "Auto" } }),
      deployment({ replicas: 1 }),
      rolled(1),
      settle,
    ],
  },
  {
    name: "service whose slice somebody changes",
    nodes: "ready",
    steps: [service(), pod("a"), settle, slice("by-hand"), settle],
  },
  {
    name: "service whose slice is claimed",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      slice(
        "like-ours",
        {},
        {
          labels: {
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
          },
        },
      ),
      settle,
    ],
  },
  {
    name: "service of many pods",
    nodes: "ready",
    steps: [service(), deployment({ replicas: 20, template: template("one") }), rolled(20), settle],
  },
  {
    name: "service and a pod with a readiness gate",
    nodes: "ready",
    steps: [
      service({ sessionAffinity: "ClientIP" }),
      pod("a", { readinessGates: [{ conditionType: "example.com/gate" }] }),
      settle,
    ],
  },
  {
    name: "service of a pod without a node",
    steps: [service(), pod("a"), settle, { pods: "ready" }, settle],
  },
  {
    name: "service that publishes a pod without a node",
    steps: [service({ publishNotReadyAddresses: true }), pod("a"), settle, { pods: "ready" }, settle],
  },
  {
    name: "service that may have no endpoints",
    steps: [
      quota({ "count/endpoints": "0", "count/endpointslices.discovery.k8s.io": "0" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { "count/endpoints": "0" } } } },
      service(),
      settle,
    ],
  },
  {
    name: "service that is held while its pods change",
    nodes: "ready",
    steps: [
      service(),
      patched({}, { finalizers: ["example.com/hold"] }),
      pod("a"),
      settle,
      { delete: ["services", "web"] },
      settle,
      pod("b"),
      settle,
    ],
  },
  {
    name: "service whose slice is disowned",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      slice(
        "mine",
        {},
        {
          labels: {
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
          },
          ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "web", uid: "UID:services/web" }],
        },
      ),
      settle,
      {
        patch: ["endpointslices", "mine"],
        with: { metadata: { labels: { "endpointslice.kubernetes.io/managed-by": "somebody" } } },
        mayBeRefused: true,
      },
      settle,
    ],
  },
  {
    name: "service finds endpoints of its name",
    nodes: "ready",
    steps: [endpoints([subset("192.0.2.1")], { labels: { a: "b" } }), pod("a"), settle, service(), settle],
  },
  {
    name: "service of ports that pods name differently",
    nodes: "ready",
    steps: [
      service({
        ports: [
          { name: "http", port: 80, targetPort: "web" },
          { name: "dns", port: 53, protocol: "UDP", targetPort: "web" },
          { name: "fixed", port: 81, targetPort: 8081 },
        ],
      }),
      pod("a"),
      pod("b", { containers: [{ name: "c", image: "one", ports: [{ name: "web", containerPort: 9000 }] }] }),
      pod("c", {
        containers: [{ name: "c", image: "one", ports: [{ name: "web", containerPort: 9000, protocol: "UDP" }] }],
      }),
      pod("d", { containers: [{ name: "c", image: "one" }] }),
      pod("e", {
        containers: [
          { name: "c", image: "one", ports: [{ name: "web", containerPort: 9000, protocol: "UDP" }] },
          { name: "d", image: "one", ports: [{ name: "web", containerPort: 8000 }] },
        ],
      }),
      settle,
    ],
  },
]
