// One list-and-watch of a resource over all tenants, present and future: for each tenant a loop on its own registry, in
// process. It resumes from the last revision seen; when that is gone (410) the tenant's stream starts anew.

import { setImmediate as nextTurn } from "node:timers/promises"
import type { GroupVersionResource } from "../../apimachinery/object.ts"
import { isExpired } from "../../apimachinery/status.ts"
import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { backoff } from "../../client/reflector.ts"
import { StorageError } from "../../storage/types.ts"
import type { KubeValue } from "../registry/value.ts"
import type { Registry } from "../registry/rest.ts"
import { internalContext } from "../request/internal-context.ts"
import type { ControlPlane } from "./control-plane.ts"
import type { Semaphore } from "./semaphore.ts"

/** As client/tenants.ts has it, before anything is parsed. Called synchronously; must not throw. */
export interface TenantValueHandler {
  event(tenant: string, type: "ADDED" | "MODIFIED" | "DELETED", value: KubeValue): void
  synced(tenant: string): void
  removed(tenant: string): void
  restarted(tenant: string): void
}

export interface TenantWatchParts {
  tenant: string
  controlPlane(): Promise<ControlPlane>
  resource: GroupVersionResource
  handler: TenantValueHandler
  /** Ends with the watch or with the tenant. */
  signal: AbortSignal
  /** Shared by all loops of the gateway. */
  opening: Semaphore
  log: Log
}

/** Objects listed at once. */
const pageSize = 500

/** A resource the tenant does not serve (yet) is looked for again after so long. */
const notServedMs = 5_000

interface Position {
  resourceVersion: string | undefined
  /** Something was delivered before. */
  begun: boolean
  /** The tenant does not serve the resource, and the handler knows that nothing is there. */
  saidEmpty: boolean
}

export async function watchTenant(parts: TenantWatchParts): Promise<void> {
  const { signal, log, tenant, resource } = parts
  const position: Position = { resourceVersion: undefined, begun: false, saidEmpty: false }
  let failures = 0
  while (!signal.aborted) {
    try {
      const delivered = await follow(parts, position)
      failures = delivered ? 0 : failures
      if (!delivered) await pause(systemClock, notServedMs, signal)
    } catch (error) {
      if (signal.aborted) return
      if (isExpired(error)) position.resourceVersion = undefined
      // The reader was too slow for its buffer: the log still has what it missed.
      else if (!(error instanceof StorageError && error.code === "SlowConsumer")) {
        failures++
        log.warn(
          { tenant, resource: resource.resource, error: String(error), failures },
          "tenant watch failed, trying again",
        )
        await pause(systemClock, backoff(failures), signal)
      }
    }
  }
}

/** Until the watch ends; false when the resource is not served. */
async function follow(parts: TenantWatchParts, position: Position): Promise<boolean> {
  const { signal, handler, tenant } = parts
  const controlPlane = await parts.opening.run(() => parts.controlPlane())
  if (signal.aborted) return true
  const registry = controlPlane.resources.registry(parts.resource)
  if (registry === undefined) {
    if (!position.saidEmpty) {
      if (position.begun) handler.restarted(tenant)
      position.begun = position.saidEmpty = true
      handler.synced(tenant)
    }
    return false
  }
  position.saidEmpty = false
  if (position.resourceVersion === undefined) {
    await parts.opening.run(async () => {
      await listAll(parts, position, registry, controlPlane)
      // A new tenant is listed for every kind that is watched: requests get their turn in between.
      await nextTurn()
    })
  }
  await watchOn(parts, position, registry, controlPlane)
  return true
}

async function listAll(
  { resource, signal, handler, tenant }: TenantWatchParts,
  position: Position,
  registry: Registry,
  controlPlane: ControlPlane,
): Promise<void> {
  const ctx = internalContext(controlPlane, resource, "list", signal)
  if (position.begun) handler.restarted(tenant)
  position.begun = true
  let next: string | undefined
  do {
    const page = await registry.list(ctx, { limit: pageSize, ...(next === undefined ? {} : { continue: next }) })
    if (signal.aborted) return
    for (const value of page.items) handler.event(tenant, "ADDED", value)
    position.resourceVersion = page.resourceVersion
    next = page.continue
  } while (next !== undefined && next !== "")
  handler.synced(tenant)
}

async function watchOn(
  { resource, signal, handler, tenant }: TenantWatchParts,
  position: Position,
  registry: Registry,
  controlPlane: ControlPlane,
): Promise<void> {
  const { resourceVersion = "" } = position
  const ctx = internalContext(controlPlane, resource, "watch", signal)
  for await (const events of registry.watch(ctx, { resourceVersion, allowBookmarks: true, signal })) {
    // Nothing may follow the handler's removed().
    if (signal.aborted) return
    for (const { type, value } of events) {
      if (type !== "BOOKMARK") handler.event(tenant, type, value)
      position.resourceVersion = value.resourceVersion
    }
  }
}
