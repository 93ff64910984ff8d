// One sync of a DaemonSet: creates missing pods, deletes pods that do not belong on their node, and replaces old ones.
// Source: k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go.

import type { Node, Pod } from "../../apimachinery/object.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import { revisionHashLabel } from "../history/revisions.ts"
import type { Expectations } from "../pods/expectations.ts"
import { createPod, deletePod } from "../pods/pod-control.ts"
import { isAvailable, isFinished, isReady, isTerminating } from "../pods/pod-state.ts"
import { slowStart } from "../pods/slow-start.ts"
import { settleAll } from "../settle-all.ts"
import type { DaemonSet, DaemonSetStatus } from "./types.ts"
import type { FailedBackoff } from "./failed-backoff.ts"
import { daemonPod, generationLabel, generationOf, nodeOf, placementOf, type Place } from "./placement.ts"
import { planUpdate, surges, type Plan } from "./rolling-update.ts"

/** Maximum number of pods created, and of pods deleted, in one sync. */
const burst = 250

interface RoundOptions {
  actor: Actor
  expectations: Expectations
  failedBackoff: FailedBackoff
  set: DaemonSet
  pods: readonly Pod[]
  nodes: readonly Node[]
  /** Hash of the current template. */
  hash: string
  now: number
}

export class Round {
  readonly #options: RoundOptions
  readonly #places: Place[]
  /** Number of nodes that need a daemon pod. */
  readonly #wanted: number
  /** Number of templates that the set has had. */
  readonly #generation: string | undefined
  /** Time until a failed pod may be deleted. */
  #waitMs: number | undefined

  constructor(options: RoundOptions) {
    this.#options = options
    this.#generation = generationOf(options.set)
    // Finished pods that are being deleted are left to the garbage collector and do not block new ones.
    const pods = options.pods.filter((pod) => !(isFinished(pod) && isTerminating(pod)))
    const byNode = Map.groupBy(pods.sort(byPlaceAndAge), nodeOf)
    const nodes = new Set(options.nodes.map(({ metadata }) => metadata.name ?? ""))
    const placed = placementOf(options.set)
    this.#places = options.nodes.map((node) => {
      const { name = "" } = node.metadata
      return { node: name, isThere: true, ...placed(node), pods: byNode.get(name) ?? [] }
    })
    for (const [node, orphans] of byNode) {
      if (node === undefined || nodes.has(node)) continue
      this.#places.push({ node, isThere: false, run: false, stay: true, pods: orphans })
    }
    this.#wanted = this.#places.filter(({ run }) => run).length
  }

  get waitMs(): number | undefined {
    return this.#waitMs
  }

  async run(): Promise<void> {
    const plan: Plan = { create: [], remove: [] }
    for (const place of this.#places) this.#plan(place, plan)
    const isUpdating = this.#options.set.spec?.updateStrategy?.type !== "OnDelete"
    // The update assumes one pod on each node. The changes made for that enqueue the set again.
    if (isUpdating && plan.create.length + plan.remove.length === 0) this.#planUpdate(plan)
    await this.#carryOut(plan.create.slice(0, burst), plan.remove.slice(0, burst))
  }

  /** The status without observedGeneration and collisionCount. */
  status(): DaemonSetStatus {
    const { set } = this.#options
    const places = this.#places.filter(({ isThere }) => isThere)
    // One of several pods counts, even if it is terminating.
    const counted = places.filter(({ run }) => run).flatMap(({ pods: [first] }) => first ?? [])
    const available = counted.filter((pod) => this.#isAvailable(pod)).length
    const updated = counted.filter((pod) => this.#isUpdated(pod)).length
    const unavailable = this.#wanted - available
    const conditions = set.status?.conditions
    return {
      currentNumberScheduled: counted.length,
      numberMisscheduled: places.filter(({ run, pods }) => !run && pods.length > 0).length,
      desiredNumberScheduled: this.#wanted,
      numberReady: counted.filter(isReady).length,
      ...(updated === 0 ? {} : { updatedNumberScheduled: updated }),
      ...(available === 0 ? {} : { numberAvailable: available }),
      ...(unavailable === 0 ? {} : { numberUnavailable: unavailable }),
      ...(conditions === undefined ? {} : { conditions }),
    }
  }

  /** Plans one pod where one is needed, and none where none may run. */
  #plan({ node, isThere, run, stay, pods }: Place, { create, remove }: Plan): void {
    const living = pods.filter((pod) => !isTerminating(pod))
    const isDouble = surges(this.#options.set, 1)
    if (!isThere) {
      // Pods that were never bound, which no other component deletes.
      remove.push(...living.filter(({ spec }) => (spec?.nodeName ?? "") === ""))
      return
    }
    if (!stay) {
      remove.push(...living)
      return
    }
    // A finished pod is replaced after its deletion.
    remove.push(...living.filter((pod) => isFinished(pod) && this.#mayDelete(pod, node)))
    const running = living.filter((pod) => !isFinished(pod))
    if (run && (pods.length === 0 || (isDouble && running.length === 0))) create.push(node)
    if (!isDouble) remove.push(...running.slice(1))
    else if (running.length > 1) remove.push(...this.#surplus(running))
  }

  /** During a surge update, the new pod runs beside the old one until it can replace it. */
  #surplus(running: readonly Pod[]): Pod[] {
    const isCurrent = (pod: Pod): boolean => pod.metadata.labels?.[revisionHashLabel] === this.#options.hash
    const [fresh, ...others] = running.filter(isCurrent)
    const [old, ...older] = running.filter((pod) => !isCurrent(pod))
    const isReplaced = fresh !== undefined && old !== undefined && (!isReady(old) || this.#isAvailable(fresh))
    return [...others, ...older, ...(isReplaced ? [old] : [])]
  }

  #planUpdate(plan: Plan): void {
    const isUpdated = (pod: Pod): boolean => this.#isUpdated(pod)
    const isAvailable = (pod: Pod): boolean => this.#isAvailable(pod)
    planUpdate({ set: this.#options.set, places: this.#places, wanted: this.#wanted, isUpdated, isAvailable }, plan)
  }

  #mayDelete(pod: Pod, node: string): boolean {
    const { actor, set, failedBackoff } = this.#options
    const { namespace = "", name = "" } = pod.metadata
    const where = `daemon pod ${namespace}/${name} on node ${node}`
    if (pod.status?.phase === "Succeeded") {
      actor.event(set, "Normal", "SucceededDaemonPod", `Found succeeded ${where}, will try to delete it`)
      return true
    }
    const place = { set: set.metadata.uid ?? "", generation: set.status?.observedGeneration ?? 0, node }
    const wait = failedBackoff.remainingMs(place)
    if (wait > 0) {
      this.#waitMs = Math.min(this.#waitMs ?? wait, wait)
      return false
    }
    failedBackoff.failed(place)
    actor.event(set, "Warning", "FailedDaemonPod", `Found failed ${where}, will try to kill it`)
    return true
  }

  async #carryOut(create: readonly string[], remove: readonly Pod[]): Promise<void> {
    const { actor, expectations, set, hash } = this.#options
    const { uid = "" } = set.metadata
    if (create.length + remove.length === 0) return
    expectations.expect(actor.tenant, uid, create.length, remove)
    using pace = actor.pace(create.length + remove.length)
    const { succeeded, error } = await slowStart(pace, create.length, async (at) => {
      try {
        await createPod(actor, set, daemonPod(set, set.spec?.template, create[at] ?? "", hash))
      } catch (failure) {
        if (!isNamespaceTerminating(failure)) throw failure
        expectations.creationObserved(uid)
      }
    })
    for (let missing = create.length - succeeded; missing > 0; missing--) expectations.creationObserved(uid)
    const failure = await settleAll(pace, remove, async (pod) => {
      const podUid = pod.metadata.uid ?? ""
      const deleted = await deletePod(actor, set, pod).catch((reason: unknown) => {
        expectations.deletionObserved(uid, podUid)
        throw reason
      })
      if (!deleted) expectations.deletionObserved(uid, podUid)
    })
    if (error !== undefined) throw error
    if (failure !== undefined) throw failure
  }

  #isAvailable(pod: Pod): boolean {
    return isAvailable(pod, this.#options.set.spec?.minReadySeconds ?? 0, this.#options.now)
  }

  /** Also compares the template generation: pods adopted from another set with the same generation count as updated. */
  #isUpdated({ metadata: { labels } }: Pod): boolean {
    const isSameGeneration = this.#generation !== undefined && labels?.[generationLabel] === this.#generation
    return isSameGeneration || labels?.[revisionHashLabel] === this.#options.hash
  }
}

function byPlaceAndAge(a: Pod, b: Pod): number {
  const order = ({ spec, metadata }: Pod): string =>
    `${(spec?.nodeName ?? "") === "" ? 1 : 0} ${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`
  return order(a) < order(b) ? -1 : 1
}
