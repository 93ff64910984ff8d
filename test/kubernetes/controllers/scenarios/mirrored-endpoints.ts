// Endpoints written by hand: their EndpointSlices.

import type { Scenario } from "../scenario.ts"
import { endpoints, patched, pod, service, subset, withoutSelector } from "./service-steps.ts"
import { labels, settle } from "./steps.ts"

const many = (count: number): object => ({
  addresses: Array.from({ length: count }, (_, index) => ({ ip: `198.18.${index >> 8}.${index & 255}` })),
  ports: [{ name: "a", port: 1 }],
})

export const mirroringScenarios: readonly Scenario[] = [
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
  {
    name: "endpoints by hand with addresses in other spellings",
    steps: [
      service(withoutSelector),
      endpoints([{ addresses: [{ ip: "2001:DB8::A" }, { ip: "2001:db8:0:0::1" }], ports: [{ port: 1 }] }]),
      settle,
    ],
  },
  {
    name: "endpoints by hand are changed",
    steps: [
      service(withoutSelector),
      endpoints([subset("192.0.2.1")]),
      settle,
      {
        patch: ["endpoints", "web"],
        with: {
          metadata: { labels: { a: "b" }, annotations: { c: "d" } },
          subsets: [
            subset("192.0.2.2"),
            subset("192.0.2.3", {
              ports: [
                { name: "http", port: 1 },
                { name: "udp", port: 2, protocol: "UDP" },
              ],
            }),
          ],
        },
      },
      settle,
    ],
  },
  {
    name: "endpoints by hand are deleted",
    steps: [
      service(withoutSelector),
      endpoints([subset("192.0.2.1")]),
      settle,
      { delete: ["endpoints", "web"] },
      settle,
    ],
  },
  {
    name: "endpoints by hand without a service",
    steps: [endpoints([subset("192.0.2.1")]), settle],
  },
  {
    name: "endpoints by hand that are not to be mirrored",
    steps: [
      service(withoutSelector),
      endpoints([subset("192.0.2.1")], { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } }),
      settle,
    ],
  },
  {
    name: "endpoints by hand are not to be mirrored any more",
    steps: [
      service(withoutSelector),
      endpoints([subset("192.0.2.1")]),
      settle,
      {
        patch: ["endpoints", "web"],
        with: { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } },
      },
      settle,
    ],
  },
  {
    name: "endpoints by hand of a service that gets a selector",
    steps: [service(withoutSelector), endpoints([subset("192.0.2.1")]), settle, patched({ selector: labels }), settle],
  },
  {
    name: "endpoints by hand with more than addresses",
    steps: [
      service(withoutSelector),
      endpoints(
        [
          {
            addresses: [
              {
                ip: "192.0.2.1",
                hostname: "one",
                nodeName: "n1",
                targetRef: { kind: "Pod", name: "p", namespace: "NAMESPACE", uid: "u" },
              },
              { ip: "192.0.2.2" },
            ],
            notReadyAddresses: [{ ip: "192.0.2.3", nodeName: "n2" }],
            ports: [{ port: 1 }],
          },
          { addresses: [{ ip: "192.0.2.9" }] },
        ],
        { annotations: { note: "x", "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" } },
      ),
      settle,
    ],
  },
  {
    name: "endpoints by hand whose service comes and goes",
    steps: [
      endpoints([subset("192.0.2.1")]),
      settle,
      service(withoutSelector),
      settle,
      { delete: ["services", "web"] },
      settle,
    ],
  },
  {
    name: "endpoints by hand with ports and addresses in several subsets",
    steps: [
      service(withoutSelector),
      endpoints([
        {
          addresses: [{ ip: "192.0.2.1" }],
          ports: [
            { name: "a", port: 1 },
            { name: "b", port: 2 },
          ],
        },
        { addresses: [{ ip: "192.0.2.2" }], ports: [{ name: "a", port: 1 }] },
        { notReadyAddresses: [{ ip: "192.0.2.1" }], ports: [{ name: "c", port: 3 }] },
      ]),
      settle,
    ],
  },
  {
    name: "endpoints of a service that lost its selector are changed",
    nodes: "ready",
    steps: [
      service(),
      pod("a"),
      settle,
      patched(withoutSelector),
      settle,
      { patch: ["endpoints", "web"], with: { subsets: [subset("192.0.2.2")] } },
      settle,
    ],
  },
  {
    name: "endpoints by hand with ports that share addresses",
    steps: [
      service(withoutSelector),
      endpoints([
        {
          addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }],
          notReadyAddresses: [{ ip: "192.0.2.3" }],
          ports: [
            { name: "a", port: 1 },
            { name: "b", port: 2 },
          ],
        },
        { addresses: [{ ip: "192.0.2.3" }], ports: [{ name: "b", port: 2 }] },
        { addresses: [{ ip: "192.0.2.4" }] },
        { notReadyAddresses: [{ ip: "192.0.2.1" }], ports: [{ name: "c", port: 3 }] },
        {
          addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }],
          notReadyAddresses: [{ ip: "192.0.2.3" }],
          ports: [{ name: "d", port: 4 }],
        },
      ]),
      settle,
    ],
  },
  {
    name: "endpoints by hand of both families get other ports",
    steps: [
      service(withoutSelector),
      endpoints([
        { addresses: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }], ports: [{ name: "a", port: 1 }] },
        { addresses: [{ ip: "2001:db8::2" }], ports: [{ name: "b", port: 2 }] },
      ]),
      settle,
      {
        patch: ["endpoints", "web"],
        with: { subsets: [{ addresses: [{ ip: "2001:db8::1" }], ports: [{ name: "c", port: 1 }] }] },
      },
      settle,
    ],
  },
  {
    name: "endpoints by hand of more addresses than are mirrored",
    steps: [
      service(withoutSelector),
      endpoints([many(1001), subset("192.0.2.1", { ports: [{ name: "b", port: 2 }] })]),
      settle,
      { patch: ["endpoints", "web"], with: { subsets: [many(1000)] } },
      settle,
    ],
  },
]
