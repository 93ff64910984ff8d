// One round over one DaemonSet: pods on nodes that lack one, none where they do not belong, old ones replaced.
// Source: k8s.io/kubernetes/pkg/controller/daemon/{daemon_controller,update}.go.

import type { Node, Pod } from "../../apimachinery/object.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor, ControllerContext } from "../context.ts"
import { scaled } from "../deployment/replicas.ts"
import type { Expectations } from "../pods/expectations.ts"
import { createPod, deletePod } from "../pods/pod-control.ts"
import { isAvailable, isFinished, isReady, isTerminating } from "../pods/pod-state.ts"
import { settleAll, slowStart } from "../pods/slow-start.ts"
import type { DaemonSet, DaemonSetStatus } from "./daemonset.ts"
import type { FailedBackoff } from "./failed-backoff.ts"
import { daemonPod, nodeOf, placement } from "./placement.ts"

/** Pods made or deleted in one round. */
const burst = 250

export interface RoundOptions {
  ctx: ControllerContext
  actor: Actor
  expectations: Expectations
  failedBackoff: FailedBackoff
  tenant: string
  set: DaemonSet
  pods: readonly Pod[]
  nodes: readonly Node[]
  /** Of the present template. */
  hash: string
}

interface Place {
  node: string
  run: boolean
  stay: boolean
  /** Those that count, oldest first. */
  pods: Pod[]
}

export class Round {
  readonly #options: RoundOptions
  readonly #places: Place[]
  readonly #now: number
  /** Until a failed daemon may go. */
  #waitMs: number | undefined

  constructor(options: RoundOptions) {
    this.#options = options
    this.#now = options.ctx.clock.now()
    const byNode = Map.groupBy(options.pods, (pod) => nodeOf(pod) ?? "")
    this.#places = options.nodes.map((node) => {
      const { name = "" } = node.metadata
      const pods = [...(byNode.get(name) ?? [])].sort((a, b) =>
        (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1,
      )
      return { node: name, ...placement(options.set, node), pods }
    })
  }

  get waitMs(): number | undefined {
    return this.#waitMs
  }

  async run(): Promise<void> {
    const { set } = this.#options
    const create: string[] = []
    const remove: Pod[] = []
    for (const place of this.#places) this.#plan(place, create, remove)
    if (set.spec?.updateStrategy?.type !== "OnDelete") this.#planUpdate(create, remove)
    await this.#carryOut(create.slice(0, burst), remove.slice(0, burst))
  }

  status(collisionCount: number | undefined): DaemonSetStatus {
    const { set, hash } = this.#options
    const wanted = this.#places.filter(({ run }) => run)
    const living = (place: Place): Pod[] => place.pods.filter((pod) => !isTerminating(pod))
    const count = (test: (pod: Pod) => boolean): number => wanted.filter((place) => living(place).some(test)).length
    const available = count((pod) => this.#isAvailable(pod))
    const updated = count((pod) => this.#isUpdated(pod, hash))
    const unavailable = wanted.length - available
    const conditions = set.status?.conditions
    return {
      currentNumberScheduled: count(() => true),
      numberMisscheduled: this.#places.filter((place) => !place.run && living(place).length > 0).length,
      desiredNumberScheduled: wanted.length,
      numberReady: count(isReady),
      observedGeneration: set.metadata.generation ?? 0,
      ...(updated === 0 ? {} : { updatedNumberScheduled: updated }),
      ...(available === 0 ? {} : { numberAvailable: available }),
      ...(unavailable === 0 ? {} : { numberUnavailable: unavailable }),
      ...(collisionCount === undefined ? {} : { collisionCount }),
      ...(conditions === undefined ? {} : { conditions }),
    }
  }

  #plan({ node, run, stay, pods }: Place, create: string[], remove: Pod[]): void {
    if (!stay) {
      remove.push(...pods.filter((pod) => !isTerminating(pod)))
      return
    }
    const running: Pod[] = []
    for (const pod of pods) {
      if (isTerminating(pod)) continue
      // It comes back when it is gone.
      if (!isFinished(pod)) running.push(pod)
      else if (this.#mayGo(pod, node)) remove.push(pod)
    }
    if (run && pods.length === 0) create.push(node)
    if (running.length < 2) return
    // More than one only while an update surges: the new one beside the old until it is available.
    const surges = this.#maxSurge() > 0
    const fresh = running.find((pod) => this.#isUpdated(pod, this.#options.hash))
    const [oldest] = running
    if (!surges) remove.push(...running.filter((pod) => pod !== oldest))
    else if (fresh !== undefined && this.#isAvailable(fresh)) remove.push(...running.filter((pod) => pod !== fresh))
  }

  #mayGo(pod: Pod, node: string): boolean {
    const { actor, tenant, set, failedBackoff } = this.#options
    const { namespace = "", name = "" } = pod.metadata
    const where = `daemon pod ${namespace}/${name} on node ${node}`
    if (pod.status?.phase === "Succeeded") {
      actor.event(tenant, set, "Normal", "SucceededDaemonPod", `Found succeeded ${where}, will try to delete it`)
      return true
    }
    const key = `${set.metadata.uid ?? ""}/${set.status?.observedGeneration ?? 0}/${node}`
    const wait = failedBackoff.remainingMs(key, this.#now)
    if (wait > 0) {
      this.#waitMs = Math.min(this.#waitMs ?? wait, wait)
      return false
    }
    failedBackoff.failed(key, this.#now)
    actor.event(tenant, set, "Warning", "FailedDaemonPod", `Found failed ${where}, will try to kill it`)
    return true
  }

  #planUpdate(create: string[], remove: Pod[]): void {
    const wanted = this.#places.filter(({ run }) => run)
    const current = wanted.map((place) => place.pods.filter((pod) => !isTerminating(pod) && !isFinished(pod)))
    const surge = this.#maxSurge()
    if (surge > 0) {
      let room = surge - current.filter((pods) => pods.length > 1).length
      for (const [at, pods] of current.entries()) {
        const [only] = pods
        if (room <= 0 || only === undefined || pods.length > 1 || this.#isUpdated(only, this.#options.hash)) continue
        create.push(wanted[at]?.node ?? "")
        room--
      }
      return
    }
    const { rollingUpdate } = this.#options.set.spec?.updateStrategy ?? {}
    const allowed = Math.max(1, scaled(rollingUpdate?.maxUnavailable ?? 1, wanted.length, true))
    let room = allowed - current.filter((pods) => !pods.some((pod) => this.#isAvailable(pod))).length
    for (const pods of current) {
      const [pod] = pods
      if (pod === undefined || this.#isUpdated(pod, this.#options.hash) || remove.includes(pod)) continue
      // One that does not work makes nothing worse by being replaced.
      if (!this.#isAvailable(pod)) remove.push(pod)
      else if (room > 0) {
        remove.push(pod)
        room--
      }
    }
  }

  async #carryOut(create: readonly string[], remove: readonly Pod[]): Promise<void> {
    const { actor, expectations, tenant, set, hash } = this.#options
    const { uid = "" } = set.metadata
    if (create.length + remove.length === 0) return
    expectations.expect(
      uid,
      create.length,
      remove.map((pod) => pod.metadata.uid ?? ""),
    )
    using pace = actor.pace(tenant, create.length + remove.length)
    const { succeeded, error } = await slowStart(pace, create.length, async (at) => {
      try {
        await createPod(actor, tenant, set, daemonPod(set, set.spec?.template, create[at] ?? "", hash))
      } catch (failure) {
        if (!isNamespaceTerminating(failure)) throw failure
        expectations.creationObserved(uid)
      }
    })
    for (let missing = create.length - succeeded; missing > 0; missing--) expectations.creationObserved(uid)
    const failure = await settleAll(pace, remove, async (pod) => {
      const podUid = pod.metadata.uid ?? ""
      const deleted = await deletePod(actor, tenant, set, pod).catch((reason: unknown) => {
        expectations.deletionObserved(uid, podUid)
        throw reason
      })
      if (!deleted) expectations.deletionObserved(uid, podUid)
    })
    if (error !== undefined) throw error
    if (failure !== undefined) throw failure
  }

  #maxSurge(): number {
    const { set } = this.#options
    const wanted = this.#places.filter(({ run }) => run).length
    return scaled(set.spec?.updateStrategy?.rollingUpdate?.maxSurge ?? 0, wanted, true)
  }

  #isAvailable(pod: Pod): boolean {
    return isAvailable(pod, this.#options.set.spec?.minReadySeconds ?? 0, this.#now)
  }

  #isUpdated(pod: Pod, hash: string): boolean {
    return pod.metadata.labels?.["controller-revision-hash"] === hash
  }
}
