// Generic ephemeral volumes. The tenant's controller creates a claim for each, owned by the tenant's pod and copied like any other
// claim. The super pod refers to that copy: for ephemeral volumes, super's scheduler and kubelet require claims owned by the super
// pod, and super's controller would create them in addition. Source: k8s.io/component-helpers/storage/ephemeral.

import type { PersistentVolumeClaim, Pod } from "../../../../apimachinery/object.ts"
import { withSpec, type PodMutator } from "../context.ts"

const claimName = (pod: Pod, volume: string): string => `${pod.metadata.name ?? ""}-${volume}`

/** Names of the claims of the pod's ephemeral volumes. */
export function ephemeralClaims(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, ephemeral }) =>
    ephemeral === undefined ? [] : [claimName(pod, name)],
  )
}

/** A claim with that name that does not belong to the pod must not be used: its data belongs to others. */
export function isClaimOf({ metadata: { uid } }: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) === true
}

export const ephemeralVolumes: PodMutator = (pod) =>
  ephemeralClaims(pod).length === 0
    ? pod
    : withSpec(pod, (spec) => ({
        ...spec,
        volumes: (spec.volumes ?? []).map(({ ephemeral, ...volume }) =>
          ephemeral === undefined
            ? volume
            : { ...volume, persistentVolumeClaim: { claimName: claimName(pod, volume.name) } },
        ),
      }))
