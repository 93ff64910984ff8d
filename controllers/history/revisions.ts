// ControllerRevisions: the versions of the template of a StatefulSet or DaemonSet, each in its own object.
// Source: k8s.io/kubernetes/pkg/controller/history.

import { matches, selectorFromLabelSelector, type LabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type KubeObject, type PodTemplateSpec } from "../../apimachinery/object.ts"
import { isAlreadyExists, isNotFound } from "../../apimachinery/status.ts"
import { stepsInTurns } from "../../client/in-turns.ts"
import { controllerRevisions } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { Informers } from "../informers.ts"
import { claim } from "../pods/claim.ts"
import { controllerReference, type OwnerKind } from "../pods/pod-control.ts"
import { canonicalizing, hashing } from "../template-hash.ts"

/** The label on revisions of StatefulSets. */
const hashLabel = "controller.kubernetes.io/hash"
/** The label on pods, and, as upstream, on revisions of DaemonSets. */
export const revisionHashLabel = "controller-revision-hash"

export interface ControllerRevision extends KubeObject {
  /** A strategic merge patch that sets the owner's template. */
  data?: { spec?: { template?: PodTemplateSpec & { $patch?: string } } }
  revision?: number
}

/** Kinds with revisions: StatefulSet and DaemonSet. */
interface Revised extends KubeObject {
  spec?: { template?: PodTemplateSpec; revisionHistoryLimit?: number; selector?: LabelSelector }
  status?: { collisionCount?: number }
}

/** Oldest first. */
function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  const order = ({ metadata }: ControllerRevision): string =>
    `${metadata.creationTimestamp ?? ""} ${metadata.name ?? ""}`
  return (a.revision ?? 0) - (b.revision ?? 0) || (order(a) < order(b) ? -1 : 1)
}

export interface RevisionOwner {
  informers: Informers
  client: KubeClient
  tenant: string
  owner: Revised
  ownerKind: OwnerKind
  ownerResource: Resource
  /**
   * As DaemonSets, which claim revisions like pods. StatefulSets do not release those whose labels do not match any more, and adopt
   * those that are being deleted.
   */
  claimsLikePods?: true
}

/** Whether there are revisions of the owner's selector that no controller owns. */
export function hasOrphanedRevisions(informers: Informers, tenant: string, { metadata, spec }: Revised): boolean {
  const selector = selectorFromLabelSelector(spec?.selector)
  return informers
    .of<ControllerRevision>(controllerRevisions)
    .byIndex(tenant, "orphans", metadata.namespace ?? "")
    .some((revision) => matches(selector, revision.metadata.labels ?? {}))
}

/** The owner's revisions, oldest first. Adopts orphaned ones. */
export async function claimRevisions(of: RevisionOwner): Promise<ControllerRevision[]> {
  const { informers, tenant, owner } = of
  const { uid = "", namespace = "" } = owner.metadata
  const informer = informers.of<ControllerRevision>(controllerRevisions)
  const selector = selectorFromLabelSelector(owner.spec?.selector)
  const claimsAll = of.claimsLikePods !== true
  const candidates = [
    ...informer.byIndex(tenant, "controller", uid),
    ...informer.byIndex(tenant, "orphans", namespace),
  ].filter(({ metadata }) => !claimsAll || matches(selector, metadata.labels ?? {}))
  const options = { ...of, resource: controllerRevisions, selector, candidates, adoptsLeaving: claimsAll }
  const claimed = await claim<ControllerRevision>(options)
  return claimed.sort(byRevision)
}

export function templateOf(revision: ControllerRevision): PodTemplateSpec | undefined {
  const template = revision.data?.spec?.template
  if (template === undefined) return undefined
  const { $patch: _, ...rest } = template
  return rest
}

interface RevisionRequest {
  client: KubeClient
  owner: Revised
  ownerKind: OwnerKind
  /** The label with the hash; default: hashLabel. */
  hashLabel?: string
  /** The owner's revisions, oldest first. */
  revisions: readonly ControllerRevision[]
  /** Whether the newest revision has the current template in a different format. */
  isAlike?: (newest: ControllerRevision) => boolean
  /** Of the owner's status. The name of a revision depends on it, also on whether it is there. */
  collisionCount: number | undefined
  /** Its number is greater than those of other templates, as DaemonSets'. StatefulSets' may be the same, if it is younger. */
  isUnique?: true
}

interface UpdateRevision {
  revision: ControllerRevision
  collisionCount: number | undefined
}

/** The revision of the owner's current template. If it is not the newest, it is created or becomes the newest. */
export async function updateRevision(request: RevisionRequest): Promise<UpdateRevision> {
  const { client, owner, revisions, collisionCount } = request
  const newest = revisions.at(-1)
  const equal = revisions.filter((revision) => isOf(revision, owner)).at(-1)
  if (equal === undefined) {
    if (newest !== undefined && request.isAlike?.(newest) === true) return { revision: newest, collisionCount }
    return createRevision(request, (newest?.revision ?? 0) + 1)
  }
  if (isNewest(request, equal)) return { revision: equal, collisionCount }
  // A rollback: the equal revision becomes the newest.
  const moved = { ...equal, revision: (newest?.revision ?? 0) + 1 }
  return { revision: await client.update<ControllerRevision>(controllerRevisions, moved), collisionCount }
}

function isNewest({ revisions, owner, isUnique }: RevisionRequest, equal: ControllerRevision): boolean {
  if (isUnique !== true) return equal === revisions.at(-1)
  const others = revisions.filter((other) => !isOf(other, owner))
  return others.every(({ revision = 0 }) => revision < (equal.revision ?? 0))
}

/** Whether the revision has the owner's current template, as a replacement. */
export function isOf(revision: ControllerRevision, owner: Revised): boolean {
  if (revision.data?.spec?.template?.$patch !== "replace") return false
  return equalIgnoringNulls(templateOf(revision), owner.spec?.template)
}

async function createRevision(
  { client, owner, ownerKind, hashLabel: label = hashLabel, collisionCount: collisions }: RevisionRequest,
  number: number,
): Promise<UpdateRevision> {
  const template = { ...owner.spec?.template, $patch: "replace" } as PodTemplateSpec & { $patch: string }
  // Sorted fields, as upstream writes them: clients compare these bytes with a template's.
  const text = await stepsInTurns(canonicalizing({ spec: { template } }))
  const data = JSON.parse(text) as NonNullable<ControllerRevision["data"]>
  const { namespace = "", name = "", annotations } = owner.metadata
  for (let collisionCount = collisions; ; collisionCount = (collisionCount ?? 0) + 1) {
    const hash = await stepsInTurns(hashing(text, collisionCount))
    const revision: ControllerRevision = {
      apiVersion: "apps/v1",
      kind: "ControllerRevision",
      metadata: {
        name: `${name.slice(0, 223)}-${hash}`,
        namespace,
        labels: { ...owner.spec?.template?.metadata?.labels, [label]: hash },
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [controllerReference(owner, ownerKind)],
      },
      data,
      revision: number,
    }
    try {
      return { revision: await client.create<ControllerRevision>(controllerRevisions, revision), collisionCount }
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const found = await client.get<ControllerRevision>(controllerRevisions, namespace, revision.metadata.name ?? "")
      // This may also be the revision of a deleted owner with the same name; after its deletion an equal one is created. Other
      // kinds can generate the same names.
      const { kind = ownerKind.kind } = controllerOf(found) ?? {}
      if (kind === ownerKind.kind && equalIgnoringNulls(found.data, data)) return { revision: found, collisionCount }
    }
  }
}

/** Deletes the oldest revisions beyond the limit that are not in use. */
export async function truncateHistory(
  client: KubeClient,
  owner: Revised,
  old: readonly ControllerRevision[],
  isLive: (revision: ControllerRevision) => boolean = () => false,
): Promise<void> {
  const limit = owner.spec?.revisionHistoryLimit ?? 10
  // Of StatefulSets, the API also accepts limits below zero: they mean none.
  const surplus = limit < 0 ? 0 : Math.max(0, old.length - limit)
  for (const { metadata } of old.filter((revision) => !isLive(revision)).slice(0, surplus)) {
    try {
      await client.delete(controllerRevisions, metadata.namespace, metadata.name ?? "")
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
