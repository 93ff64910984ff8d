// Columns of pods; the status that kubectl shows is computed from the states of the containers. Source:
// k8s.io/kubernetes/pkg/printers/internalversion printPod.

import { isReady } from "../../../apimachinery/core/pod-phase.ts"
import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { ContainerStatus, Pod } from "../../../apimachinery/object.ts"
import type { RowCondition, TableColumn } from "./table-column.ts"
import { ageOf } from "./age.ts"
import { age, name, text, wideText } from "./column.ts"

interface Summary {
  ready: number
  total: number
  reason: string
  restarts: number
  /** Time of the last restart; "" if there was none. */
  restartedAt: string
}

const end = (reason: string, message: string): RowCondition => ({ type: "Completed", status: "True", reason, message })
/** By phase. */
const ends: Readonly<Record<string, RowCondition>> = dictionary({
  Succeeded: end("Succeeded", "The pod has completed successfully."),
  Failed: end("Failed", "The pod failed."),
})

export const podColumns: readonly TableColumn[] = [
  name,
  text<Pod>("Ready", (pod) => {
    const { ready, total } = summarize(pod)
    return `${ready}/${total}`
  }),
  {
    ...text<Pod>("Status", (pod) => summarize(pod).reason),
    condition: (pod) => ends[(pod as Pod).status?.phase ?? ""],
  },
  text<Pod>("Restarts", (pod) => {
    const { restarts, restartedAt } = summarize(pod)
    return restarts !== 0 && restartedAt !== "" ? ageOf(restartedAt, `${restarts} (`, " ago)") : String(restarts)
  }),
  age,
  wideText<Pod>("IP", (pod) => pod.status?.podIPs?.[0]?.ip || "<none>"),
  wideText<Pod>("Node", (pod) => pod.spec?.nodeName || "<none>"),
  wideText<Pod>("Nominated Node", (pod) => pod.status?.nominatedNodeName || "<none>"),
  wideText<Pod>("Readiness Gates", readinessGates),
]

function summarize(pod: Pod): Summary {
  const status = pod.status ?? {}
  const declared = pod.spec?.initContainers ?? []
  const sidecars = new Set(declared.filter(({ restartPolicy }) => restartPolicy === "Always").map((item) => item.name))
  const summary: Summary = {
    ready: 0,
    total: (pod.spec?.containers ?? []).length + sidecars.size,
    reason: status.reason || status.phase || "",
    restarts: 0,
    restartedAt: "",
  }
  const conditions = status.conditions ?? []
  if (conditions.some(({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated")) {
    summary.reason = "SchedulingGated"
  }
  const current = addInits(pod, sidecars, summary)
  const initialized = conditions.find(({ type }) => type === "Initialized")?.status === "True"
  const inits = status.initContainerStatuses ?? []
  if (current < 0) addContainers(pod, inits, sidecars, summary)
  else if (initialized) addContainers(pod, inits.slice(0, current + 1), sidecars, summary)
  if (pod.metadata.deletionTimestamp !== undefined) {
    const ended = status.phase === "Failed" || status.phase === "Succeeded"
    if (status.reason === "NodeLost") summary.reason = "Unknown"
    else if (!ended) summary.reason = "Terminating"
  }
  return summary
}

/** The index of the init container that blocks the others; -1 if there is none. */
function addInits(pod: Pod, sidecars: ReadonlySet<string>, summary: Summary): number {
  const statuses = pod.status?.initContainerStatuses ?? []
  for (const [index, status] of statuses.entries()) {
    countRestarts(status, summary)
    const { terminated, waiting } = status.state ?? {}
    if (terminated?.exitCode === 0) continue
    if (sidecars.has(status.name) && status.started === true) {
      if (status.ready) summary.ready++
      continue
    }
    if (terminated !== undefined) summary.reason = `Init:${endOf(terminated)}`
    else if (waiting?.reason && waiting.reason !== "PodInitializing") summary.reason = `Init:${waiting.reason}`
    else summary.reason = `Init:${index}/${(pod.spec?.initContainers ?? []).length}`
    return index
  }
  return -1
}

/** `begun`: the statuses of the init containers that have been counted; here only sidecars still count. */
function addContainers(
  pod: Pod,
  begun: readonly ContainerStatus[],
  sidecars: ReadonlySet<string>,
  summary: Summary,
): void {
  summary.restarts = 0
  summary.restartedAt = ""
  for (const status of begun) if (sidecars.has(status.name)) countRestarts(status, summary)
  let running = false
  let failure = ""
  for (const status of (pod.status?.containerStatuses ?? []).toReversed()) {
    countRestarts(status, summary)
    const { terminated, waiting } = status.state ?? {}
    if (waiting?.reason) summary.reason = waiting.reason
    else if (terminated !== undefined) {
      summary.reason = endOf(terminated)
      if (terminated.exitCode !== 0) failure = summary.reason
    } else if (status.ready && status.state?.running !== undefined) {
      running = true
      summary.ready++
    }
  }
  if (summary.reason !== "Completed") return
  if (running && isReady(pod)) summary.reason = "Running"
  else if (failure !== "") summary.reason = failure
  else if (running) summary.reason = "NotReady"
}

function endOf({ reason, signal, exitCode }: { reason?: string; signal?: number; exitCode: number }): string {
  if (reason) return reason
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`
}

function countRestarts(status: ContainerStatus, summary: Summary): void {
  summary.restarts += status.restartCount
  const at = status.lastState?.terminated?.finishedAt ?? ""
  if (at !== "" && !(Date.parse(at) <= Date.parse(summary.restartedAt))) summary.restartedAt = at
}

function readinessGates(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return "<none>"
  // Of several conditions of a type, the first counts.
  const statuses = new Map((pod.status?.conditions ?? []).toReversed().map(({ type, status }) => [type, status]))
  const open = gates.filter(({ conditionType }) => statuses.get(conditionType) === "True")
  return `${open.length}/${gates.length}`
}
