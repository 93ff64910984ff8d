// Keeps a sink up to date with one resource of one API: list → watch from there → resume from the last resourceVersion when
// the watch ends → list again if the server no longer has that revision (410), does not have it yet, or was away for long.

import type { KubeObject } from "../../apimachinery/object.ts"
import { isExpired } from "../../apimachinery/status.ts"
import { backoff, reconnectDelays } from "../backoff.ts"
import { pause, systemClock, type Clock } from "../clock.ts"
import { failureFields, silentLog, type Log } from "../log.ts"
import { pagesOf } from "../pages.ts"
import type { ListWatch, Reading, Resource } from "../rest.ts"

/** The same three calls as of a TenantWatchHandler. A list is delivered page by page: nobody needs all of it at once. */
interface ReflectorSink<T extends KubeObject> {
  /** All objects are delivered next, as added. Called again if that fails before they have been. */
  restarted(): void
  changed(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void
  /** All objects have been delivered: others no longer exist. */
  synced(): void
}

interface ReflectorOptions<T extends KubeObject> extends Reading {
  client: ListWatch
  resource: Resource
  sink: ReflectorSink<T>
  signal: AbortSignal
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Called when a list or watch has failed, which is repeated. */
  failed?: (error: unknown) => void
  log?: Log
  clock?: Clock
}

/** Longer than the API servers of a cluster take to be replaced in turn: meanwhile they may have been restored from a backup. */
const awayMs = 60_000

/** Resolves when the signal ends; all failures are logged and retried. */
export async function reflect<T extends KubeObject>(options: ReflectorOptions<T>): Promise<void> {
  const { resource, signal, log = silentLog, clock = systemClock } = options
  let failures = 0
  let resourceVersion: string | undefined
  /** Since when the server does not answer. */
  let awaySince: number | undefined
  while (!signal.aborted) {
    const startedAt = clock.elapsed()
    try {
      if (resourceVersion !== undefined) {
        const isEarlier = await hasGoneBack(options, resourceVersion)
        const wasAway = startedAt - (awaySince ?? startedAt) >= awayMs
        if (isEarlier)
          log.warn({ resource: resource.resource, resourceVersion }, "the server is at an earlier revision; relisting")
        // It may have gone back, and then on beyond that revision.
        if (isEarlier || wasAway) resourceVersion = undefined
      }
      resourceVersion ??= await listAll(options)
      awaySince = undefined
      resourceVersion = await watchFrom(options, resourceVersion, (seen) => {
        resourceVersion = seen
        failures = 0
      })
      // A watch that the server ends at once must not lead to a busy loop.
      if (clock.elapsed() - startedAt < reconnectDelays.first) failures++
      else failures = 0
    } catch (error) {
      if (signal.aborted) return
      options.failed?.(error)
      failures++
      awaySince ??= clock.elapsed()
      const expired = isExpired(error)
      if (expired) resourceVersion = undefined
      if (expired) log.debug({ resource: resource.resource }, "watch expired; relisting")
      else
        log.warn({ resource: resource.resource, ...failureFields(error), failures }, "list or watch failed; retrying")
    }
    if (failures > 0) await pause(clock, backoff(failures), signal)
  }
}

/**
 * Whether the server has not reached a revision that it has once delivered: it was restored from a backup, or replaced. A watch from that
 * revision would deliver nothing until it is reached again, and then nothing of what has changed before. Revisions of one resource
 * can be compared (KEP-5504), and a list without a resourceVersion is never older than what anybody has seen. Any object will do: servers
 * before 1.31 read all of them from etcd until labels match.
 */
async function hasGoneBack<T extends KubeObject>(options: ReflectorOptions<T>, seen: string): Promise<boolean> {
  const { client, resource, signal } = options
  const { labelSelector: _, ...place } = selected(options)
  const { metadata } = await client.list<T>(resource, { ...place, limit: 1, metadataOnly: true, signal })
  const now = metadata.resourceVersion
  return isNumber(now) && isNumber(seen) && BigInt(now) < BigInt(seen)
}

const isNumber = (text: string): boolean => /^\d+$/.test(text)

async function listAll<T extends KubeObject>(options: ReflectorOptions<T>): Promise<string> {
  const { client, resource, sink, signal } = options
  let resourceVersion = ""
  sink.restarted()
  for await (const { items, metadata } of pagesOf<T>(client, resource, { ...selected(options), signal })) {
    for (const object of items) sink.changed("ADDED", object)
    resourceVersion = metadata.resourceVersion
  }
  sink.synced()
  return resourceVersion
}

async function watchFrom<T extends KubeObject>(
  options: ReflectorOptions<T>,
  from: string,
  seen: (resourceVersion: string) => void,
): Promise<string> {
  const { client, resource, sink, signal } = options
  let last = from
  const events = client.watch<T>(resource, {
    ...selected(options),
    resourceVersion: from,
    allowBookmarks: true,
    signal,
  })
  for await (const { type, object } of events) {
    if (type !== "BOOKMARK") sink.changed(type, object)
    last = object.metadata.resourceVersion ?? last
    seen(last)
  }
  return last
}

function selected<T extends KubeObject>(
  options: ReflectorOptions<T>,
): Reading & { namespace?: string; labelSelector?: string; fieldSelector?: string } {
  const { namespace, labelSelector, fieldSelector, metadataOnly } = options
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(metadataOnly === undefined ? {} : { metadataOnly }),
  }
}
