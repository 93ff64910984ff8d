// Services: their Endpoints and EndpointSlices.

import type { Scenario, Step } from "../scenario.ts"
import { labels, deployment, rolled, settle } from "./steps.ts"

const service = (spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", labels: { team: "a" } },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
  },
})

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
    name: "endpoints written by hand are mirrored",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "db" },
          spec: { ports: [{ name: "sql", port: 1 }] },
        },
      },
      {
        create: {
          apiVersion: "v1",
          kind: "Endpoints",
          metadata: { name: "db", labels: { team: "a" } },
          subsets: [
            {
              addresses: [{ ip: "192.0.2.1" }],
              notReadyAddresses: [{ ip: "2001:db8::1" }],
              ports: [{ name: "sql", port: 5432 }],
            },
          ],
        },
      },
      settle,
    ],
  },
]
