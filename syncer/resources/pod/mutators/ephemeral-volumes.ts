// Generic ephemeral volumes. The tenant's controller makes a claim for each, owned by the tenant's pod, which is copied as any
// other. Super's pod names that copy: of its own ephemeral volumes super's scheduler and kubelet want claims that it owns itself,
// and super's controller would make them beside the tenant's. Source: k8s.io/component-helpers/storage/ephemeral.

import type { PersistentVolumeClaim, Pod } from "../../../../apimachinery/object.ts"
import { withSpec, type PodMutator } from "../context.ts"

const claimName = (pod: Pod, volume: string): string => `${pod.metadata.name ?? ""}-${volume}`

/** The claims of the pod's ephemeral volumes, by their names. */
export function ephemeralClaims(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, ephemeral }) =>
    ephemeral === undefined ? [] : [claimName(pod, name)],
  )
}

/** A claim of that name that is not the pod's must not be used for it: what is in it is kept for others. */
export function isClaimOf({ metadata: { uid } }: Pod, { metadata }: PersistentVolumeClaim): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) === true
}

export const ephemeralVolumes: PodMutator = {
  name: "ephemeralVolumes",
  mutate: (pod) =>
    ephemeralClaims(pod).length === 0
      ? pod
      : withSpec(pod, (spec) => ({
          ...spec,
          volumes: (spec.volumes ?? []).map(({ ephemeral, ...volume }) =>
            ephemeral === undefined
              ? volume
              : { ...volume, persistentVolumeClaim: { claimName: claimName(pod, volume.name) } },
          ),
        })),
}
