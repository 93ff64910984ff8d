// The URL paths of resources. Pure.

import { percentEncoded } from "../../apimachinery/go/text.ts"
import { printGroupVersion } from "../../apimachinery/object.ts"
import { badRequest } from "../../apimachinery/status.ts"
import type { ListOptions, PatchOptions, Resource, WatchOptions, WriteOptions } from "../rest.ts"

export function resourcePath(
  resource: Resource,
  namespace: string | undefined,
  name?: string,
  subresource?: string,
): string {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${printGroupVersion(resource)}`
  const parts = [root]
  if (resource.namespaced && namespace !== undefined && namespace !== "") {
    parts.push("namespaces", segment(namespace))
  }
  parts.push(resource.resource)
  if (name !== undefined) parts.push(segment(name))
  if (subresource !== undefined) parts.push(subresource)
  return parts.join("/")
}

/** Of one object. Without a name, the path would be that of all of them. */
export function objectPath(
  resource: Resource,
  namespace: string | undefined,
  name: string,
  subresource?: string,
): string {
  if (name === "") throw badRequest("resource name may not be empty")
  return resourcePath(resource, namespace, name, subresource)
}

/** A name that was asked for need not be Unicode. */
const segment = (name: string): string => percentEncoded(name, "-_.!~*'()")

export function listQuery(options: Omit<ListOptions, "signal" | "namespace">): string {
  return query({
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit?.toString(),
    continue: options.continue,
    resourceVersion: options.resourceVersion,
  })
}

export function watchQuery(options: Omit<WatchOptions, "signal" | "namespace">, timeoutSeconds: number): string {
  return query({
    watch: "true",
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    allowWatchBookmarks: options.allowBookmarks === true ? "true" : undefined,
    timeoutSeconds: String(timeoutSeconds),
  })
}

export function writeQuery(options: WriteOptions & Partial<Pick<PatchOptions, "force">>): string {
  return query({
    dryRun: options.dryRun === true ? "All" : undefined,
    fieldManager: options.fieldManager,
    force: options.force === undefined ? undefined : String(options.force),
  })
}

function query(values: Record<string, string | undefined>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") parameters.set(name, value)
  }
  const text = parameters.toString()
  return text === "" ? "" : `?${text}`
}
