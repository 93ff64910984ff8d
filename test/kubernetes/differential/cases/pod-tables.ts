// Cells of pods that few pods have: repeated conditions, and statuses of containers that are none or not of the spec.

import type { Json } from "../../../../apimachinery/object.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { get, post, put, type Scenario, type Step, watch } from "../scenario.ts"

const path = "/api/v1/namespaces/@{ns}/pods"

export function podTableCases(): Scenario[] {
  return [{ name: "a table of pods with odd statuses", steps: pods() }]
}

function pods(): Step[] {
  const container = (name: string): Json => ({ name, image: "i" })
  const spec = {
    containers: [container("a"), container("b")],
    initContainers: [
      container("i"),
      { name: "s", image: "i", restartPolicy: "Always" },
      { name: "t", image: "i", restartPolicy: "Never" },
    ],
    readinessGates: [{ conditionType: "a.b/c" }, { conditionType: "a.b/c" }],
  }
  const state = (name: string, more: { [key: string]: Json }): { [key: string]: Json } => ({
    name,
    image: "i",
    imageID: "",
    ready: false,
    restartCount: 0,
    ...more,
  })
  const ended = (more: { [key: string]: Json }): Json => ({ terminated: { exitCode: 0, ...more } })
  const yes = (type: string): Json => ({ type, status: "True" })
  const no = (type: string): Json => ({ type, status: "False" })
  const ancient = { terminated: { exitCode: 1, finishedAt: "1600-01-01T00:00:00Z" } }
  const statuses: { [key: string]: Json }[] = [
    { initContainerStatuses: [state("i", { restartCount: -2 })] },
    { containerStatuses: [state("a", { restartCount: -2, lastState: ancient })] },
    { containerStatuses: [state("a", { restartCount: 2, lastState: ancient })] },
    {
      conditions: [no("Initialized"), yes("Initialized")],
      initContainerStatuses: [state("i", { restartCount: 3, state: ended({ exitCode: 2 }) })],
      containerStatuses: [state("a", { restartCount: 1, state: { waiting: { reason: "Odd" } } })],
    },
    {
      conditions: [yes("Initialized"), no("Initialized")],
      initContainerStatuses: [state("i", { restartCount: 3, state: ended({ exitCode: 2 }) })],
      containerStatuses: [state("a", { restartCount: 1, state: { waiting: { reason: "Odd" } } })],
    },
    {
      conditions: [no("Ready"), yes("Ready")],
      containerStatuses: [state("a", { ready: true, state: { running: {} } })],
    },
    { conditions: [no("a.b/c"), yes("a.b/c")] },
    { conditions: [{ type: "PodScheduled", status: "True", reason: "SchedulingGated" }], phase: "Running" },
    {
      initContainerStatuses: [
        state("i", { state: ended({}) }),
        state("s", { started: true, ready: true, restartCount: 4, state: ended({ exitCode: 3 }) }),
        state("t", { state: ended({ exitCode: 3, signal: 9 }) }),
      ],
    },
    { initContainerStatuses: [state("i", { state: ended({ signal: 9 }) }), state("s", { started: false })] },
    { initContainerStatuses: [state("i", { state: { waiting: { reason: "PodInitializing" } } })] },
    { initContainerStatuses: [state("unknown", { started: true, ready: true, state: { running: {} } })] },
    {
      containerStatuses: [
        state("a", { state: ended({ reason: "Completed" }) }),
        state("b", { state: ended({ exitCode: 1, signal: 2 }) }),
      ],
    },
    {
      containerStatuses: [
        state("a", { state: ended({ reason: "Completed" }) }),
        state("b", { ready: true, state: { running: {} } }),
      ],
    },
    { containerStatuses: [state("a", { state: { waiting: {} } }), state("b", { ready: true })] },
    { podIP: "10.0.0.1" },
    { podIPs: [{ ip: "10.0.0.2" }, { ip: "fd00::1" }] },
    { reason: "NodeLost", phase: "Unknown" },
    { phase: "Succeeded" },
    { reason: "Evicted", phase: "Failed" },
  ]
  const pod = { metadata: { name: "p" }, spec } as Json
  return [
    post(path, pod, { save: "pod" }),
    ...statuses.map((status) =>
      put(
        `${path}/p/status`,
        { ...(pod as { [key: string]: Json }), apiVersion: "v1", kind: "Pod", status },
        { headers: asTable, label: `STATUS ${JSON.stringify(status)}` },
      ),
    ),
    get(`${path}?includeObject=None`, { headers: asTable }),
    watch(path, { headers: asTable }),
  ]
}
