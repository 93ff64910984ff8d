// Endpoints and EndpointSlices to which others have added something.

import type { Scenario, Step } from "../scenario.ts"
import { endpoints, patched, pod, service, slice, subset, withoutSelector } from "./service-steps.ts"
import { owner, settle } from "./steps.ts"

const slicesGet = (contents: object): Step => ({ patchAll: "endpointslices", with: contents })
const otherPort = patched({ ports: [{ name: "http", port: 80, targetPort: 9090 }] })
const mirrored: readonly Step[] = [service(withoutSelector), endpoints([subset("192.0.2.1")]), settle]

const deletedAlone: Step = { delete: ["services", "web"], policy: "Orphan" }
const managed = {
  "kubernetes.io/service-name": "web",
  "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
}

const others = (labels: object): Step => slicesGet({ metadata: { labels } })
const managedBy = "endpointslice.kubernetes.io/managed-by"
const otherSubsets: Step = { patch: ["endpoints", "web"], with: { subsets: [subset("192.0.2.2")] } }

export const touchedSliceScenarios: readonly Scenario[] = [
  {
    name: "service created again beside its empty slice",
    steps: [service(), settle, deletedAlone, settle, service(), settle],
  },
  {
    name: "service created again beside its slice",
    nodes: "ready",
    steps: [service(), pod("a"), settle, deletedAlone, settle, service(), settle],
  },
  {
    name: "service created again beside its empty slice, with other labels",
    steps: [service(), settle, deletedAlone, settle, service(), patched({}, { labels: { team: "b" } }), settle],
  },
  {
    name: "service without pods whose slice gets a note and another label",
    steps: [
      service(),
      settle,
      slicesGet({ metadata: { annotations: { note: "x" }, labels: { team: "b" }, finalizers: ["example.com/hold"] } }),
      settle,
    ],
  },
  {
    name: "service without pods gets another empty slice",
    steps: [service(), settle, slice("mine", { endpoints: [] }, { labels: { ...managed, team: "a" } }), settle],
  },
  {
    name: "service whose slice has a note and gets another port",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      slicesGet({ metadata: { annotations: { note: "x" }, labels: { more: "y" } } }),
      settle,
      otherPort,
      settle,
    ],
  },
  {
    name: "service whose slice is held and gets another port",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      slicesGet({ metadata: { finalizers: ["example.com/hold"] } }),
      settle,
      otherPort,
      settle,
    ],
  },
  {
    name: "service whose slice has a note and gets another pod",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      slicesGet({ metadata: { annotations: { note: "x" } } }),
      settle,
      pod("b"),
      settle,
    ],
  },
  {
    name: "service whose endpoints are said to be too many",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      {
        patch: ["endpoints", "web"],
        with: { metadata: { annotations: { "endpoints.kubernetes.io/over-capacity": "warning" } } },
      },
      settle,
      patched({}, { annotations: { touched: "yes" } }),
      settle,
    ],
  },
  {
    name: "endpoints by hand whose slice gets another owner",
    steps: [
      ...mirrored,
      slicesGet({
        metadata: {
          ownerReferences: [
            {
              apiVersion: "v1",
              kind: "Endpoints",
              name: "web",
              uid: "UID:endpoints/web",
              controller: true,
              blockOwnerDeletion: true,
            },
            owner,
          ],
        },
      }),
      settle,
    ],
  },
  {
    name: "endpoints by hand whose slice is given to another controller",
    steps: [...mirrored, others({ [managedBy]: "other.example.com" }), settle, otherSubsets, settle],
  },
  {
    name: "endpoints by hand whose slice was another controller's for a while",
    steps: [
      ...mirrored,
      others({ [managedBy]: "other.example.com" }),
      settle,
      otherSubsets,
      settle,
      others({ [managedBy]: "endpointslicemirroring-controller.k8s.io" }),
      settle,
    ],
  },
  {
    name: "endpoints by hand whose slice is given to another service",
    steps: [...mirrored, others({ "kubernetes.io/service-name": "another" }), settle, otherSubsets, settle],
  },
  {
    name: "endpoints by hand whose slice, given to another controller, is deleted",
    steps: [
      ...mirrored,
      others({ [managedBy]: "other.example.com" }),
      settle,
      { deleteAll: "endpointslices" },
      otherSubsets,
      settle,
    ],
  },
  {
    name: "service whose slice is given to another controller",
    nodes: "ready",
    steps: [service(), pod("a"), settle, others({ [managedBy]: "other.example.com" }), settle, otherPort, settle],
  },
  {
    name: "service whose slice is held and deleted",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      slicesGet({ metadata: { finalizers: ["example.com/hold"] } }),
      { deleteAll: "endpointslices" },
      settle,
      otherPort,
      settle,
      slicesGet({ metadata: { finalizers: null } }),
      settle,
    ],
  },
  {
    name: "endpoints by hand whose slice gets hints",
    steps: [
      ...mirrored,
      slicesGet({
        endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: true }, hints: { forZones: [{ name: "x" }] } }],
      }),
      settle,
    ],
  },
  {
    name: "service whose endpoints somebody calls headless",
    nodes: "bound",
    steps: [
      service(),
      pod("one"),
      { pods: "ready" },
      settle,
      { patch: ["endpoints", "web"], with: { metadata: { labels: { "service.kubernetes.io/headless": "" } } } },
      settle,
      // It is looked at again.
      patched({}, { annotations: { note: "x" } }),
      settle,
    ],
  },
  {
    name: "service whose endpoints somebody called headless",
    nodes: "bound",
    steps: [
      service(),
      settle,
      pod("one"),
      // It has a node.
      settle,
      { pods: "ready" },
      settle,
      { patch: ["endpoints", "web"], with: { metadata: { labels: { "service.kubernetes.io/headless": "" } } } },
      settle,
      { pods: "unready" },
      settle,
    ],
  },
]
