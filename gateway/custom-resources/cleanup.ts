// Deletes a CustomResourceDefinition: first its objects, respecting their finalizers, then the definition itself. Source:
// k8s.io/apiextensions-apiserver/pkg/controller/finalizer.

import { timestamp } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { Store } from "../../storage/types.ts"
import { storagePrefixOf } from "../registry/keys.ts"
import { cleanupFinalizer, type Definition, definitionsResource, withCondition } from "./types.ts"

/** Objects per delete request. */
const pageSize = 500

export interface CleanupParts {
  store: Store
  client: KubeClient
}

const definitions: Resource = { ...definitionsResource, namespaced: false }

/** Resolves when the definition has been deleted, or the signal is aborted. */
export async function cleanUp(definition: Definition, parts: CleanupParts, signal: AbortSignal): Promise<void> {
  const { group = "", names = {}, versions = [], scope } = definition.spec ?? {}
  const version = versions.find((candidate) => candidate.storage === true)?.name ?? ""
  const resource: Resource = { group, version, resource: names.plural ?? "", namespaced: scope === "Namespaced" }
  await announce(definition, parts.client)
  await deleteAll(resource, parts, signal)
  if (!signal.aborted) await release(definition, parts.client)
}

async function announce(definition: Definition, client: KubeClient): Promise<void> {
  const current = await client.get<Definition>(definitions, undefined, definition.metadata.name ?? "")
  const conditions = withCondition(
    current.status?.conditions,
    {
      type: "Terminating",
      status: "True",
      reason: "InstanceDeletionInProgress",
      message: "CustomResource deletion is in progress",
    },
    timestamp(),
  )
  await client.update(definitions, { ...current, status: { ...current.status, conditions } }, { subresource: "status" })
}

async function deleteAll(resource: Resource, { store, client }: CleanupParts, signal: AbortSignal): Promise<void> {
  const prefix = storagePrefixOf(resource.group, resource.resource)
  const revision = store.revision
  let after: string | undefined
  for (;;) {
    const page = await store.range(prefix, { revision, limit: pageSize, ...(after === undefined ? {} : { after }) })
    for (const { key } of page.items) {
      if (signal.aborted) return
      const [first = "", second] = key.slice(prefix.length).split("/")
      const [namespace, name] = second === undefined ? [undefined, first] : [first, second]
      await client.delete(resource, namespace, name).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
    }
    after = page.items.at(-1)?.key
    if (!page.more || after === undefined) break
  }
  await untilEmpty(prefix, store, signal)
}

/** Finalizers may delay the deletion of objects: every change under the prefix triggers another check. */
async function untilEmpty(prefix: string, store: Store, signal: AbortSignal): Promise<void> {
  const watcher = store.watch(prefix, { after: store.revision })
  const stop = (): void => watcher.close()
  signal.addEventListener("abort", stop)
  try {
    if (await isEmpty(prefix, store)) return
    for await (const events of watcher) {
      if (signal.aborted) return
      if (events.some((event) => event.type === "delete") && (await isEmpty(prefix, store))) return
    }
  } finally {
    signal.removeEventListener("abort", stop)
    watcher.close()
  }
}

async function isEmpty(prefix: string, store: Store): Promise<boolean> {
  return (await store.range(prefix, { limit: 1 })).items.length === 0
}

/** Removes the finalizer, so that the definition is deleted. */
async function release(definition: Definition, client: KubeClient): Promise<void> {
  const { name = "" } = definition.metadata
  const current = await client.get<Definition>(definitions, undefined, name)
  if (current.metadata.uid !== definition.metadata.uid) return
  const next = structuredClone(current)
  next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer)
  await client.update(definitions, next)
}
