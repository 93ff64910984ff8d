// Numbers and lists at their limits: amounts of rollouts that are no amounts, priorities of the system, lists that are too long.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

const apps = "/apis/apps/v1/namespaces/@{ns}"
const slices = "/apis/discovery.k8s.io/v1/namespaces/@{ns}/endpointslices"

export function countRuleCases(): Scenario[] {
  return [
    { name: "amounts of a rollout are wrong in two ways", steps: amounts() },
    { name: "a deployment is to be rolled back to a negative revision", steps: rollbacks() },
    { name: "priorities of the system are given to others", steps: priorities() },
    { name: "an endpoint slice has too much of something", steps: longSlices() },
    { name: "a priority level deals hands of many cards", steps: hands() },
  ]
}

const workload = (spec: object, annotations: object = {}): Json => ({
  metadata: { name: "a", annotations: annotations as Json },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "a", image: "b" }] } },
    ...spec,
  },
})

function amounts(): RequestStep[] {
  const texts = ["5x", "5", "0x5", "1e3", "101%", "00%", "99999999999999999999%"]
  return texts.flatMap((text) =>
    [0, 1, "5x", "102%"].flatMap((other) => {
      const rollingUpdate = { maxUnavailable: text, maxSurge: other }
      const swapped = { maxUnavailable: other, maxSurge: text }
      const label = `${text} and ${other}`
      return [rollingUpdate, swapped].flatMap((rolling, index) => [
        post(`${apps}/daemonsets?dryRun=All`, workload({ updateStrategy: { rollingUpdate: rolling } }), {
          label: `POST daemon set, ${label}, ${index}`,
        }),
        post(`${apps}/deployments?dryRun=All`, workload({ strategy: { rollingUpdate: rolling } }), {
          label: `POST deployment, ${label}, ${index}`,
        }),
      ])
    }),
  )
}

function rollbacks(): RequestStep[] {
  return ["-1", "-9223372036854775808", "9223372036854775807"].map((revision) =>
    post(`${apps}/deployments?dryRun=All`, workload({}, { "deprecated.deployment.rollback.to": revision }), {
      label: `POST to ${revision}`,
    }),
  )
}

function priorities(): RequestStep[] {
  const classes: readonly [string, object][] = [
    ["system-node-critical", { value: 5 }],
    ["system-cluster-critical", { value: 5, globalDefault: true }],
    ["system-node-critical", { value: 2_000_001_000, globalDefault: true }],
    ["system-other", { value: 5, preemptionPolicy: "" }],
    ["other", { value: 1_000_000_001, preemptionPolicy: "x" }],
  ]
  return classes.map(([name, priority], index) =>
    post("/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All", { metadata: { name }, ...priority } as Json, {
      label: `POST priority ${index}`,
    }),
  )
}

function longSlices(): RequestStep[] {
  const many = (count: number, item: Json): Json[] => Array.from({ length: count }, () => item)
  const zone = { name: "a" }
  const hinted = (hints: Json): Json => ({ endpoints: [{ addresses: ["10.1.2.3"], hints }] })
  const parts: Readonly<Record<string, Json>> = {
    ports: { ports: many(20_001, { port: 1 }) },
    endpoints: { endpoints: many(1001, { addresses: ["x"] }) },
    zones: hinted({ forZones: many(9, zone), forNodes: [{ name: "A" }] }),
    nodes: hinted({ forZones: [{ name: "/" }], forNodes: many(9, { name: "A" }) }),
    "no protocol": { ports: [{ protocol: "" }] },
  }
  return Object.entries(parts).map(([label, part]) =>
    post(
      `${slices}?dryRun=All`,
      { metadata: { name: "a" }, addressType: "IPv4", endpoints: [], ...(part as object) },
      { label: `POST ${label}` },
    ),
  )
}

function hands(): RequestStep[] {
  const sizes: readonly (readonly [number, number])[] = [
    [8, 64],
    [10, 64],
    [11, 64],
    [2, 10_000_000],
    [3, 10_000_000],
    [60, 60],
    [21, 21],
    [2, 10_000_001],
  ]
  return sizes.map(([handSize, queues]) =>
    post(
      "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations?dryRun=All",
      {
        metadata: { name: "p-@{id}" },
        spec: { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { handSize, queues } } } },
      },
      { label: `POST ${handSize} of ${queues}` },
    ),
  )
}
