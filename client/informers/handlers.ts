// What the caches of one API (informer.ts) and of all tenants (tenant-informer.ts) do in the same way.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { Log } from "../log.ts"
import type { Resource } from "../rest.ts"

export function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name ?? ""}`
}

/** A handler that throws has a bug, which must not affect the other handlers. */
export function callHandler(call: () => void, { resource }: Resource, log: Log): void {
  try {
    call()
  } catch (error) {
    log.error({ resource, err: error }, "informer handler threw")
  }
}
