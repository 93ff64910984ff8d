// What kube-apiserver does to its initial objects when it starts: roles, bindings and APIServices of its own groups that were deleted are
// created again, and those that were changed are reconciled. Nothing is read of those that have never been written.

import { type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts"
import { bootstrapObjects } from "../../apimachinery/schema/facts.ts"
import { type APIService, isManaged } from "../../client/api-services.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { withFieldManager } from "../../client/writes-as.ts"
import { baseRevision } from "../../storage/base-layer.ts"
import { serverManager } from "../registry/generic/internal-write.ts"
import { storageKey, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { revisedBinding, revisedRole } from "../registry/rbac/upkeep.ts"
import { semanticEqual } from "../registry/validation/equality.ts"
import type { ControlPlane } from "./control-plane.ts"

interface ReconciledKind {
  kind: string
  resource: string
  namespaced: boolean
  /** What an object must be changed to, or whether it must be created again. */
  revised: (current: KubeObject, initial: KubeObject) => KubeObject | "again" | undefined
}

/** In this order: a binding needs its role. */
const kinds: readonly ReconciledKind[] = [
  { kind: "ClusterRole", resource: "clusterroles", namespaced: false, revised: revisedRole },
  { kind: "ClusterRoleBinding", resource: "clusterrolebindings", namespaced: false, revised: revisedBinding },
  { kind: "Role", resource: "roles", namespaced: true, revised: revisedRole },
  { kind: "RoleBinding", resource: "rolebindings", namespaced: true, revised: revisedBinding },
  { kind: "APIService", resource: "apiservices", namespaced: false, revised: revisedService },
]

interface InitialObject {
  key: string
  resource: Resource
  initial: KubeObject
  revised: ReconciledKind["revised"]
}

let known: readonly InitialObject[] | undefined

/** The same for all control planes. */
function initialObjects(): readonly InitialObject[] {
  return (known ??= kinds.flatMap((kind) =>
    bootstrapObjects()
      .filter((object) => object.kind === kind.kind)
      .map((object) => initialObject(kind, object)),
  ))
}

function initialObject({ resource: name, namespaced, revised }: ReconciledKind, object: KubeObject): InitialObject {
  const { group, version } = parseGroupVersion(object.apiVersion)
  const key = storageKey(storagePrefixOf(group, name), object.metadata.namespace ?? "", object.metadata.name ?? "")
  // A controller fills in the rules of aggregated roles.
  const initial = "aggregationRule" in object ? ({ ...object, rules: null } as KubeObject) : object
  return { key, resource: { group, version, resource: name, namespaced }, initial, revised }
}

/** Idempotent. Throws if others write the same objects. */
export async function reconcileAtStart(controlPlane: ControlPlane): Promise<void> {
  const client = withFieldManager(controlPlane.client, serverManager)
  for (const object of initialObjects()) {
    const stored = await controlPlane.store.get(object.key)
    if (stored === undefined) await create(client, object)
    else if (stored.modRevision !== baseRevision) await revise(client, object)
  }
}

async function revise(client: KubeClient, object: InitialObject): Promise<void> {
  const { resource, initial, revised } = object
  const { namespace, name = "" } = initial.metadata
  const current = await client.get<KubeObject>(resource, namespace, name)
  const wanted = revised(current, initial)
  if (wanted === undefined) return
  if (wanted !== "again") return void (await client.update(resource, wanted))
  const { uid } = current.metadata
  await client.delete(resource, namespace, name, uid === undefined ? {} : { uid })
  await create(client, object)
}

async function create(client: KubeClient, { resource, initial }: InitialObject): Promise<void> {
  const { status: _, ...object } = initial as KubeObject & { status?: unknown }
  await client.create(resource, structuredClone(object))
}

function revisedService(current: KubeObject, initial: KubeObject): KubeObject | undefined {
  const { spec } = initial as APIService
  if (!isManaged(current) || spec === undefined || semanticEqual((current as APIService).spec, spec)) return undefined
  return { ...current, spec }
}
