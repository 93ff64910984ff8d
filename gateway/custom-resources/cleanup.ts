// Deletes a CustomResourceDefinition: first its objects, respecting their finalizers, then the definition itself. Source:
// k8s.io/apiextensions-apiserver/pkg/controller/finalizer.

import { timestamp } from "../../apimachinery/object.ts"
import { isConflict, isNotFound, notFound } from "../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { Store } from "../../storage/types.ts"
import { storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { isOfBuiltInGroup } from "./definitions.ts"
import {
  cleanupFinalizer,
  type Definition,
  type DefinitionCondition,
  definitionsResource,
  isEstablished,
  withCondition,
} from "./types.ts"

/** Objects per delete request. */
const pageSize = 500

/** Deletes an object of the definition. Admission is not asked: its policies and webhooks may have been left behind. */
export type DeleteObject = (namespace: string, name: string) => Promise<void>

interface CleanupParts {
  store: Store
  /** Updates the definition. */
  client: KubeClient
  deleteObject: DeleteObject
}

const definitions: Resource = { ...definitionsResource, namespaced: false }

type Progress = Pick<DefinitionCondition, "status" | "reason" | "message">

/** Resolves when the definition's finalizer has been removed, or the signal is aborted. */
export async function cleanUp(definition: Definition, parts: CleanupParts, signal: AbortSignal): Promise<void> {
  await report(definition, parts.client, {
    status: "True",
    reason: "InstanceDeletionInProgress",
    message: "CustomResource deletion is in progress",
  })
  const progress = isOverlapping(definition)
    ? overlapping
    : isEstablished(definition)
      ? await deleteObjects(definition, parts, signal)
      : neverEstablished
  if (!signal.aborted) await report(definition, parts.client, progress, "released")
}

const neverEstablished: Progress = {
  status: "False",
  reason: "NeverEstablished",
  message: "resource was never established",
}

const overlapping: Progress = {
  status: "False",
  reason: "OverlappingBuiltInResource",
  message: "instances overlap with built-in resources in storage",
}

/** Of built-in resources that upstream stores where it stores custom ones. */
function isOverlapping({ spec }: Definition): boolean {
  const name = `${spec?.names?.plural ?? ""}.${spec?.group ?? ""}`
  return name === "apiservices.apiregistration.k8s.io" || name === "customresourcedefinitions.apiextensions.k8s.io"
}

async function deleteObjects(definition: Definition, parts: CleanupParts, signal: AbortSignal): Promise<Progress> {
  try {
    await deleteAll(definition, parts, signal)
  } catch (error) {
    if (isConflict(error) || signal.aborted) throw error
    // An object that a conversion webhook cannot read, for example. Upstream lists them first.
    const message = `could not list instances: ${(error as Error).message}`
    await report(definition, parts.client, { status: "True", reason: "InstanceDeletionFailed", message })
    throw error
  }
  return { status: "False", reason: "InstanceDeletionCompleted", message: "removed all instances" }
}

/** `released`: removes the finalizer at the same time, so that the definition is deleted, unless it has others. */
async function report(
  { metadata: { name = "", uid } }: Definition,
  client: KubeClient,
  progress: Progress,
  released?: "released",
): Promise<void> {
  const current = await client.get<Definition>(definitions, undefined, name)
  // There is another one of the same name by now.
  if (current.metadata.uid !== uid) throw notFound(definitionsResource, name)
  const conditions = withCondition(current.status?.conditions, { type: "Terminating", ...progress }, timestamp())
  const next = structuredClone({ ...current, status: { ...current.status, conditions } })
  if (released !== undefined)
    next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer)
  await client.update(definitions, next, { subresource: "status" })
}

async function deleteAll(definition: Definition, parts: CleanupParts, signal: AbortSignal): Promise<void> {
  if (isOfBuiltInGroup(definition)) return
  const { spec } = definition
  const prefix = storagePrefixOf(spec?.group ?? "", spec?.names?.plural ?? "")
  // Nothing is created any more since the definition says so (registry/generic/storage/object-storage.ts).
  await deletePresent(prefix, parts, signal)
  if (!signal.aborted && !(await isEmpty(prefix, parts.store))) await untilEmpty(prefix, parts, signal)
}

async function deletePresent(prefix: string, parts: CleanupParts, signal: AbortSignal): Promise<void> {
  let after: string | undefined
  for (;;) {
    const page = await parts.store.range(prefix, { limit: pageSize, ...(after === undefined ? {} : { after }) })
    for (const { key } of page.items) {
      if (signal.aborted) return
      await deleteAt(key, prefix, parts)
    }
    after = page.items.at(-1)?.key
    if (!page.more || after === undefined) return
  }
}

async function deleteAt(key: string, prefix: string, { deleteObject }: CleanupParts): Promise<void> {
  const [first = "", second] = key.slice(prefix.length).split("/")
  const [namespace, name] = second === undefined ? ["", first] : [first, second]
  await deleteObject(namespace, name).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}

/** Finalizers may delay the deletion of objects: every deletion under the prefix triggers another check. */
async function untilEmpty(prefix: string, { store }: CleanupParts, signal: AbortSignal): Promise<void> {
  const watcher = store.watch(prefix, { after: store.revision })
  const stop = (): void => watcher.close()
  signal.addEventListener("abort", stop)
  try {
    if (signal.aborted || (await isEmpty(prefix, store))) return
    for await (const events of watcher) {
      if (signal.aborted) return
      if (events.some(({ type }) => type === "delete") && (await isEmpty(prefix, store))) return
    }
  } finally {
    signal.removeEventListener("abort", stop)
    watcher.close()
  }
}

async function isEmpty(prefix: string, store: Store): Promise<boolean> {
  return (await store.range(prefix, { limit: 1 })).items.length === 0
}
