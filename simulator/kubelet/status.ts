// Converts a sandbox's state to the pod status that a kubelet would report. Pure except for the given clock. Source: the phase
// and condition rules of k8s.io/kubernetes/pkg/kubelet.

import { createHash } from "node:crypto"
import { isFinished } from "../../apimachinery/core/pod-phase.ts"
import { timestamp, type Container, type ContainerStatus, type Pod, type PodStatus } from "../../apimachinery/object.ts"
import type { SimulatedContainer } from "../container/container.ts"
import type { PodContainer } from "./pod-container.ts"
import type { PodSandbox } from "./pod-sandbox.ts"
import { terminationMessage } from "./termination-message.ts"

type Condition = NonNullable<PodStatus["conditions"]>[number]

export function podStatus(sandbox: PodSandbox, hostIP: string, now: number): PodStatus {
  const pod = sandbox.pod
  const init = [...sandbox.initContainers.values()]
  const main = [...sandbox.containers.values()]
  const ephemeral = [...sandbox.ephemeralContainers.values()]
  const phase = phaseOf(pod, sandbox, main)
  const containers = init.length + main.length + ephemeral.length
  const statusOf = (one: PodContainer, isInit: boolean) => containerStatus(one, isInit, containers)
  return {
    ...pod.status,
    phase,
    ...(phase === "Failed" ? sandbox.failure : {}),
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    conditions: conditions(pod, sandbox, phase, main, now),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP: sandbox.podIP,
    podIPs: [{ ip: sandbox.podIP }],
    startTime: pod.status?.startTime ?? timestamp(new Date(sandbox.startedAt)),
    ...(init.length === 0 ? {} : { initContainerStatuses: init.map((one) => statusOf(one, true)) }),
    containerStatuses: main.map((one) => statusOf(one, false)),
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral.map((one) => statusOf(one, true)) }),
  }
}

const isFinal = (phase: string): boolean => isFinished({ status: { phase } })

/** All containers that decide about the end of the pod have ended; sidecars may still run. */
export function isOver(sandbox: PodSandbox): boolean {
  return isFinal(phaseByContainers(sandbox, [...sandbox.containers.values()]))
}

function phaseOf(pod: Pod, sandbox: PodSandbox, main: readonly PodContainer[]): string {
  const said = pod.status?.phase
  if (said !== undefined && isFinal(said)) return said // regardless of who set it
  const phase = phaseByContainers(sandbox, main)
  // A final phase promises that nothing runs: until the sidecars have ended, the phase stays as it was.
  return isFinal(phase) && sandbox.running ? (said ?? "Pending") : phase
}

function phaseByContainers(sandbox: PodSandbox, main: readonly PodContainer[]): string {
  if (sandbox.failure !== undefined && !sandbox.running) return "Failed"
  // A pod that was stopped for good has a final phase, regardless of its restart policy.
  if (sandbox.ended && !sandbox.running) {
    return main.every(({ current }) => current?.exit?.code === 0) ? "Succeeded" : "Failed"
  }
  if (!sandbox.initialized) {
    const failed = [...sandbox.initContainers.values()].some(
      (one) => !one.isSidecar && (one.current?.exit?.code ?? 0) !== 0 && !one.isRestarted,
    )
    return failed ? "Failed" : "Pending"
  }
  if (main.some((one) => one.current === undefined || (one.isStarting && one.previous === undefined))) return "Pending"
  const codes = main.map(({ current }) => current?.exit?.code)
  if (codes.some((code) => code === undefined) || main.some(({ isRestarted }) => isRestarted)) return "Running"
  return codes.every((code) => code === 0) ? "Succeeded" : "Failed"
}

type State = Omit<Condition, "type">

function conditions(
  pod: Pod,
  sandbox: PodSandbox,
  phase: string,
  main: readonly PodContainer[],
  now: number,
): Condition[] {
  const over = phase === "Succeeded" ? "PodCompleted" : phase === "Failed" ? "PodFailed" : undefined
  const containers = containersReady(main, over)
  const own: Condition[] = [
    { type: "PodReadyToStartContainers", status: over === undefined ? "True" : "False" },
    { type: "Initialized", ...initialized(sandbox, phase) },
    { type: "Ready", ...(containers.status === "True" ? gatesOpen(pod) : containers) },
    { type: "ContainersReady", ...containers },
    { type: "PodScheduled", status: "True" },
  ]
  const names = new Set(own.map(({ type }) => type))
  const foreign = (pod.status?.conditions ?? []).filter(({ type }) => !names.has(type))
  return [...own.map((condition) => stamped(condition, pod, now)), ...foreign]
}

/** `over`: the reason if the pod has ended. */
function containersReady(main: readonly PodContainer[], over: string | undefined): State {
  const unready = main.filter(({ ready }) => !ready).map(({ spec }) => spec.name)
  if (over !== undefined) return { status: "False", reason: over }
  if (unready.length === 0) return { status: "True" }
  const message = `containers with unready status: [${unready.join(" ")}]`
  return { status: "False", reason: "ContainersNotReady", message }
}

function gatesOpen({ spec, status }: Pod): State {
  const gates = (spec?.readinessGates ?? []).map(({ conditionType }) => conditionType)
  const closed = gates.filter((gate) => status?.conditions?.find(({ type }) => type === gate)?.status !== "True")
  if (closed.length === 0) return { status: "True" }
  const messages = closed.map((gate) => `corresponding condition of pod readiness gate "${gate}" does not exist.`)
  return { status: "False", reason: "ReadinessGatesNotReady", message: messages.join(", ") }
}

function initialized({ initialized: isDone, initContainers }: PodSandbox, phase: string): State {
  if (isDone) return { status: "True", ...(phase === "Succeeded" ? { reason: "PodCompleted" } : {}) }
  const incomplete = [...initContainers.values()]
    .filter(({ isInitialized: isDone }) => !isDone)
    .map(({ spec }) => spec.name)
  const message = `containers with incomplete status: [${incomplete.join(" ")}]`
  return { status: "False", reason: "ContainersNotInitialized", message }
}

/** Keeps lastTransitionTime while the status is unchanged. */
function stamped(condition: Condition, pod: Pod, now: number): Condition {
  const before = pod.status?.conditions?.find(({ type }) => type === condition.type)
  const lastTransitionTime =
    before?.status === condition.status && before.lastTransitionTime
      ? before.lastTransitionTime
      : timestamp(new Date(now))
  const observed = pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }
  // Null as from the API server, so that the report equals the stored condition.
  return { ...condition, lastProbeTime: null, lastTransitionTime, ...observed } as unknown as Condition
}

function containerStatus(one: PodContainer, isInit: boolean, containers: number): ContainerStatus {
  const { current, previous, spec } = one
  const image = spec.image ?? ""
  const terminated = (run: SimulatedContainer, exit: { code: number; at: number }) => ({
    terminated: terminatedState(run, exit, terminationMessage(run, exit.code, spec, containers)),
  })
  const state: ContainerStatus["state"] =
    one.waiting !== undefined
      ? { waiting: one.waiting }
      : current === undefined
        ? { waiting: { reason: "ContainerCreating" } }
        : current.exit === undefined
          ? { running: { startedAt: timestamp(new Date(current.startedAt)) } }
          : terminated(current, current.exit)
  const last = one.waiting !== undefined && current?.exit !== undefined ? current : previous
  const done = current?.exit?.code === 0
  return {
    name: spec.name,
    state,
    lastState: last?.exit === undefined ? {} : terminated(last, last.exit),
    ready: isInit && !one.isSidecar ? done : one.ready,
    restartCount: one.restarts,
    image,
    imageID: current === undefined ? "" : imageID(image),
    ...(current === undefined ? {} : { containerID: current.id, ...granted(spec) }),
    started: current !== undefined && current.exit === undefined && one.started,
  }
}

/** Formatted like an image reference with a digest. Nothing is pulled: the digest is that of the name. */
function imageID(image: string): string {
  const repository = /^([^@]+?)(:[^/:@]+)?(@.*)?$/.exec(image)?.[1] ?? image
  return `${repository}@sha256:${createHash("sha256").update(image).digest("hex")}`
}

/** The resources that the container was given: always those that it requests. */
function granted({ resources, volumeMounts }: Container): Partial<ContainerStatus> {
  return {
    ...(resources === undefined || Object.keys(resources).length === 0 ? {} : { resources: withoutClaims(resources) }),
    ...(resources?.requests === undefined ? {} : { allocatedResources: resources.requests }),
    ...(volumeMounts === undefined
      ? {}
      : {
          volumeMounts: volumeMounts.map(({ name, mountPath, readOnly }) =>
            readOnly === true ? { name, mountPath, readOnly, recursiveReadOnly: "Disabled" } : { name, mountPath },
          ),
        }),
  }
}

function withoutClaims({ limits, requests }: NonNullable<Container["resources"]>) {
  return { ...(limits === undefined ? {} : { limits }), ...(requests === undefined ? {} : { requests }) }
}

function terminatedState(container: SimulatedContainer, exit: { code: number; at: number }, message?: string) {
  return {
    exitCode: exit.code,
    reason: exit.code === 0 ? "Completed" : "Error",
    ...(message === undefined ? {} : { message }),
    startedAt: timestamp(new Date(container.startedAt)),
    finishedAt: timestamp(new Date(exit.at)),
    containerID: container.id,
  }
}
