// What nodes do while a scenario is played: pods are bound, come up, say how they are, and end.

import { setTimeout as delay } from "node:timers/promises"
import { timestamp, type KubeObject, type Pod } from "../../../apimachinery/object.ts"
import { isConflict, isNotFound } from "../../../apimachinery/status.ts"
import { pods } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { deploymentsFollow } from "./followed.ts"
import type { Family, PodReport, Scenario } from "./scenario.ts"
import type { Side } from "./side.ts"

const pollMs = 200

let address = 0

function newAddresses(families: readonly Family[]): { ip: string }[] {
  address++
  const ofFamily = { IPv4: `10.1.${address >> 8}.${address & 255}`, IPv6: `fd00::${address.toString(16)}` }
  return families.map((family) => ({ ip: ofFamily[family] }))
}

export async function report(client: KubeClient, pod: Pod, what: PodReport): Promise<void> {
  const { namespace, name = "" } = pod.metadata
  const at = timestamp()
  const families = typeof what === "object" && "families" in what ? what.families : undefined
  const isReady = what === "ready" || families !== undefined
  const fault = typeof what === "object" && "exit" in what ? what : undefined
  const phase = what === "succeeded" ? "Succeeded" : fault === undefined ? "Running" : "Failed"
  const condition = fault?.condition
  const conditions = [
    { type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: at },
    ...(condition === undefined ? [] : [{ type: condition, status: "True", lastTransitionTime: at }]),
  ]
  const podIPs = pod.status?.podIPs ?? newAddresses(families ?? ["IPv4"])
  const podIP = podIPs[0]?.ip ?? ""
  const ended = { terminated: { exitCode: fault?.exit ?? 0, finishedAt: at, startedAt: at } }
  const containerStatuses = (pod.spec?.containers ?? []).map((container) => ({
    name: container.name,
    image: container.image,
    imageID: "",
    ready: isReady,
    restartCount: typeof what === "object" && "restarts" in what ? what.restarts : 0,
    state: phase === "Running" ? { running: { startedAt: at } } : ended,
  }))
  const startTime = pod.status?.startTime ?? at
  const status = { phase, startTime, conditions, podIP, podIPs, containerStatuses }
  try {
    await client.patch(pods, namespace, name, { status }, { type: "merge", subresource: "status" })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

export async function playNodes(
  side: Side,
  namespace: string,
  mode: NonNullable<Scenario["nodes"]>,
  signal: AbortSignal,
): Promise<void> {
  const { client } = side
  while (!signal.aborted) {
    const { items } = await client.list<Pod>(pods, { namespace })
    for (const pod of items) await playNode(client, pod)
    // One at a time, so that each is seen by itself: a rollout's steps would depend on who is faster.
    const next = mode === "ready" ? items.find(isStarting) : undefined
    if (next !== undefined) {
      await report(client, next, "ready")
      await side.endpointsFollow(namespace)
      await deploymentsFollow(client, namespace)
    }
    await delay(pollMs)
  }
}

const isStarting = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase === "Pending"

async function playNode(client: KubeClient, pod: Pod): Promise<void> {
  const { namespace, name = "", deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata
  try {
    if (deletionTimestamp !== undefined) {
      if (deletionGracePeriodSeconds !== 0) await client.delete(pods, namespace, name, { gracePeriodSeconds: 0 })
      return
    }
    if ((pod.spec?.nodeName ?? "") === "") await bind(client, namespace, name, wantedNode(pod))
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

export async function bind(
  client: KubeClient,
  namespace: string | undefined,
  name: string,
  node: string,
): Promise<void> {
  const target = { apiVersion: "v1", kind: "Node", name: node }
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { namespace, name }, target }
  await client.create(pods, binding as KubeObject, { subresource: "binding" })
}

/** Daemons name theirs. */
function wantedNode(pod: Pod): string {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.[0]?.values?.[0] ?? "n1"
}
