// An owner that is named twice is named once. Source: k8s.io/apiserver/pkg/endpoints/handlers/rest.go.

import type { KubeObject } from "../../apimachinery/object.ts"
import type { RequestContext } from "../request/context.ts"
import { semanticEqual } from "./validation/equality.ts"

type Owner = NonNullable<KubeObject["metadata"]["ownerReferences"]>[number]

/** `when`: in what a client sent, or in what admission and patches made of it. */
export function dropRepeatedOwners(
  ctx: Pick<RequestContext, "warn">,
  { metadata }: KubeObject,
  when: "sent" | "admitted",
): void {
  const owners = metadata?.ownerReferences ?? []
  if (owners.length < 2) return
  const kept: Owner[] = []
  const byUid = new Map<string, Owner[]>()
  const repeated: string[] = []
  for (const owner of owners) {
    const known = byUid.get(owner.uid) ?? []
    if (known.some((other) => semanticEqual(other, owner))) {
      repeated.push(owner.uid)
      continue
    }
    byUid.set(owner.uid, [...known, owner])
    kept.push(owner)
  }
  if (repeated.length === 0) return
  metadata.ownerReferences = kept
  const after = when === "sent" ? "" : " after mutating admission happens"
  ctx.warn(
    `.metadata.ownerReferences contains duplicate entries${after}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(", ")}`,
  )
}
