// Removes duplicate owner references. Source: k8s.io/apiserver/pkg/endpoints/handlers/rest.go.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { RequestContext } from "../../request/context.ts"

type Owner = NonNullable<KubeObject["metadata"]["ownerReferences"]>[number]

/** A missing value differs from false. */
function textOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: Owner): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
}

/** `when`: in the request, or after admission and patches. */
export function dropRepeatedOwners(
  ctx: Pick<RequestContext, "warn">,
  { metadata }: KubeObject,
  when: "sent" | "admitted",
): void {
  const owners = metadata?.ownerReferences ?? []
  if (owners.length < 2) return
  const seen = new Set<string>()
  const repeated: string[] = []
  const kept = owners.filter((owner) => {
    const text = textOf(owner)
    if (seen.has(text)) repeated.push(owner.uid)
    return !seen.has(text) && seen.add(text)
  })
  if (repeated.length === 0) return
  metadata.ownerReferences = kept
  const after = when === "sent" ? "" : " after mutating admission happens"
  ctx.warn(
    `.metadata.ownerReferences contains duplicate entries${after}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`,
  )
}
