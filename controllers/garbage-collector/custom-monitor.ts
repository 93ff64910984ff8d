// The objects of one custom resource of one tenant, followed by a list and a watch that feed the tenant's graph.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Timer } from "../../client/clock.ts"
import { reflect } from "../../client/informers/reflector.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import type { ControllerContext } from "../context.ts"
import { isTenantGone } from "../tenant-gone.ts"
import type { Graph } from "./graph.ts"

/**
 * So long is the first list waited for, which is repeated if it fails: it may be a matter of moments, and nothing brings back what is
 * decided without its objects. Source: k8s.io/kubernetes/cmd/kube-controller-manager/app/core.go (syncPeriod).
 */
const patienceMs = 30_000

interface CustomMonitorParts {
  ctx: Pick<ControllerContext, "tenants" | "clock" | "log" | "signal">
  tenant: string
  resource: DiscoveredResource
  graph: () => Graph
  /** Called when isSettled becomes true. */
  settled(): void
}

export class CustomMonitor implements Disposable {
  readonly #parts: CustomMonitorParts
  readonly #ending = new AbortController()
  readonly #patience: Timer
  #isSettled = false

  constructor(parts: CustomMonitorParts) {
    this.#parts = parts
    const { ctx, tenant, resource } = parts
    this.#patience = ctx.clock.after(patienceMs, () => this.#settle())
    this.#run().catch((error: unknown) => {
      if (!isTenantGone(error)) ctx.log.error({ tenant, resource: resource.resource, err: error }, "watch stopped")
    })
  }

  /** The version in which it is followed. */
  get version(): string {
    return this.#parts.resource.version
  }

  /** Its objects have been listed, or that takes long: nobody waits without end for the tenant's conversion webhook. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  async #run(): Promise<void> {
    const { ctx, tenant, resource, graph } = this.#parts
    const { tenants, log, clock } = ctx
    const signal = AbortSignal.any([ctx.signal, this.#ending.signal])
    /** Of the list that is being delivered. */
    let listed: Set<string> | undefined
    await reflect<KubeObject>({
      // What fails is repeated without end, which must not keep the tenant awake for longer than it is waited for.
      client: tenants.client(tenant, { isUse: false }),
      resource,
      signal,
      log,
      clock,
      sink: {
        restarted: () => {
          listed = new Set()
        },
        changed: (type, object) => {
          if (signal.aborted) return
          const { uid = "" } = object.metadata
          listed?.add(uid)
          if (type === "DELETED") graph().gone(uid)
          else graph().observe(resource, object)
        },
        synced: () => {
          if (signal.aborted) return
          if (listed !== undefined) graph().doubt(resource.group, resource.kind, listed)
          listed = undefined
          this.#settle()
        },
      },
    })
  }

  #settle(): void {
    this.#patience.cancel()
    if (this.#isSettled) return
    this.#isSettled = true
    this.#parts.settled()
  }

  [Symbol.dispose](): void {
    this.#ending.abort()
    this.#patience.cancel()
  }
}
