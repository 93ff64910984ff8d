// Expands provisioned volumes when their claims grow, with the events and conditions of kube-controller-manager and a driver's
// resizer. No work remains for the node. Modelled on k8s.io/kubernetes/pkg/controller/volume/expand and
// github.com/kubernetes-csi/external-resizer.

import { timestamp, type PersistentVolume, type PersistentVolumeClaim } from "../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../apimachinery/quantity.ts"
import type { EventRecorder } from "../client/events.ts"
import { persistentVolumeClaims, persistentVolumes } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"

export interface ResizeParts {
  client: KubeClient
  /** The sources of the events: the expander of kube-controller-manager, and the driver's resizer. */
  expander: EventRecorder
  resizer: EventRecorder
}

type ClaimStatus = NonNullable<PersistentVolumeClaim["status"]>

const storageIn = (list: { [key: string]: string } | undefined): string => list?.["storage"] ?? "0"
const isLess = (a: string, b: string): boolean => compareQuantities(parseQuantity(a), parseQuantity(b)) < 0
const requested = ({ spec }: PersistentVolumeClaim): string => storageIn(spec?.resources?.requests)

/** The claim is bound, and requests more than its capacity. */
export function needsExpansion(claim: PersistentVolumeClaim): boolean {
  return claim.status?.phase === "Bound" && isLess(storageIn(claim.status.capacity), requested(claim))
}

/** Each step starts from the result of the previous one, so a concurrent change of the claim is a conflict. */
export async function expand(
  { client, expander, resizer }: ResizeParts,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<void> {
  const storage = requested(claim)
  const name = volume.metadata.name ?? ""
  const write = (of: PersistentVolumeClaim, status: ClaimStatus): Promise<PersistentVolumeClaim> =>
    client.update<PersistentVolumeClaim>(persistentVolumeClaims, { ...of, status }, { subresource: "status" })
  const others = (claim.status?.conditions ?? []).filter(({ type }) => type !== "Resizing")
  const resizing = await write(claim, {
    ...claim.status,
    allocatedResources: { ...claim.status?.allocatedResources, storage },
    allocatedResourceStatuses: { ...claim.status?.allocatedResourceStatuses, storage: "ControllerResizeInProgress" },
    conditions: [...others, { type: "Resizing", status: "True", lastTransitionTime: timestamp() }],
  })
  expander.event(client, claim, "Normal", "ExternalExpanding", "waiting for an external controller to expand this PVC")
  resizer.event(client, claim, "Normal", "Resizing", `External resizer is resizing volume ${name}`)
  if (isLess(storageIn(volume.spec?.capacity), storage)) {
    const capacity = { ...volume.spec?.capacity, storage }
    await client.patch(persistentVolumes, undefined, name, { spec: { capacity } }, { type: "merge" })
  }
  const { conditions: _conditions, allocatedResourceStatuses, ...status } = resizing.status ?? {}
  const { storage: _status, ...otherStatuses } = allocatedResourceStatuses ?? {}
  await write(resizing, {
    ...status,
    capacity: { ...status.capacity, storage },
    ...(Object.keys(otherStatuses).length === 0 ? {} : { allocatedResourceStatuses: otherStatuses }),
    ...(others.length === 0 ? {} : { conditions: others }),
  })
  resizer.event(client, claim, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded")
}
