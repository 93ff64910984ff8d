// POST to a subresource with a body of its own kind (binding, eviction, token). As for objects, its manager is recorded and mutating
// admission is called before the kind's own rules; the handler calls validating admission after them. Source:
// k8s.io/apiserver/pkg/endpoints/handlers/create.go.

import type { GroupVersionKind, KubeObject } from "../../../apimachinery/object.ts"
import { methodNotAllowed } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import { recordWrite } from "./managed-fields/field-management.ts"
import { managedSubresource } from "./managed-fields/managed-kind.ts"
import { wipeSystemFields } from "./metadata.ts"
import { dropRepeatedOwners } from "./owner-references.ts"
import type { AdmitFunctions, Registry, WriteOptions } from "../rest.ts"
import type { SubresourceHandler } from "../strategy.ts"

interface SubresourceTarget {
  registry: Registry
  handler: SubresourceHandler | undefined
  subresource: string
  kind: GroupVersionKind
  namespace: string
  name: string
}

export async function createSubresource(
  ctx: RequestContext,
  { registry, handler, subresource, kind, namespace, name }: SubresourceTarget,
  body: KubeObject,
  options: WriteOptions,
  admit: AdmitFunctions,
): Promise<KubeObject> {
  if (handler?.create === undefined) throw methodNotAllowed()
  if (handler.keepsSystemFields !== true) wipeSystemFields(body)
  handler.defaultBody?.(body)
  dropRepeatedOwners(ctx, body, "sent")
  const { group, version, kind: word } = kind
  await recordWrite(managedSubresource({ group, version, kind: word }, subresource), body, undefined, options)
  await admit.mutate(body, undefined)
  dropRepeatedOwners(ctx, body, "admitted")
  return await handler.create(ctx, registry, namespace, name, body, options, admit)
}
