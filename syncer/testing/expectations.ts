// What tenants expect of what they have written, and see of it: said anew, and not in the syncer's own words (differences.ts).

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { KubeObject, Pod, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { uidAnnotation } from "../../apimachinery/tenancy.ts"
import { persistentVolumeClaims, pods } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"

/** Fields of which the copy has what the tenant has written. (Others may have them, too, where a server would know no such field.) */
const kept = ["data", "imagePullSecrets", "endpoints", "handler"]

/** `isRestored`: super has forgotten volumes that claims have. */
export function disappointed(
  superCluster: FakeCluster,
  clusters: Iterable<FakeCluster>,
  copied: readonly Resource[],
  isRestored: boolean,
): string[] {
  const found: string[] = []
  for (const resource of copied) {
    const copies = new Map(superCluster.all(resource).map((copy) => [copy.metadata.annotations?.[uidAnnotation], copy]))
    for (const cluster of clusters) {
      for (const object of cluster.all<KubeObject>(resource)) {
        const copy = copies.get(object.metadata.uid)
        if (copy === undefined || object.metadata.deletionTimestamp !== undefined) continue
        const { namespace, name } = object.metadata
        const what = [...common(object, copy), ...(resource === pods ? ofPod(object as Pod, copy as Pod) : [])]
        if (resource === persistentVolumeClaims && !isRestored) what.push(...ofClaim(object, copy))
        found.push(...what.map((one) => `${resource.resource} ${namespace}/${name}: ${one}`))
      }
    }
  }
  return found
}

function common(object: KubeObject, copy: KubeObject): string[] {
  const differing = kept.filter(
    (field) => object[field] !== undefined && !equalIgnoringNulls(object[field], copy[field]),
  )
  const { app } = object.metadata.labels ?? {}
  if (app !== copy.metadata.labels?.["app"]) differing.push("labels")
  const selectors = [object, copy].map((one) => (one["spec"] as { selector?: object } | undefined)?.selector)
  return equalIgnoringNulls(selectors[0], selectors[1]) ? differing : [...differing, "selector"]
}

function ofPod(pod: Pod, copy: Pod): string[] {
  const said = ({ spec, status }: Pod): Record<string, unknown> => {
    const gates = spec?.readinessGates?.map(({ conditionType }) => conditionType) ?? []
    const conditions = status?.conditions?.filter(({ type }) => gates.includes(type)) ?? []
    return {
      images: spec?.containers.map(({ image }) => image),
      requests: spec?.containers.map(({ resources }) => resources?.requests),
      ephemeral: spec?.ephemeralContainers?.map(({ name, image }) => [name, image]) ?? [],
      gates,
      waits: spec?.schedulingGates?.length ?? 0,
      conditions: conditions.map(({ type, status: value, reason }) => [type, value, reason]),
      phase: status?.phase,
      node: spec?.nodeName,
      containers: status?.containerStatuses,
    }
  }
  const [wanted, is] = [said(pod), said(copy)]
  const differing = Object.keys(wanted).filter((field) => !equalIgnoringNulls(wanted[field], is[field]))
  const keys = new Set(copy.spec?.tolerations?.map(({ key }) => key))
  return pod.spec?.tolerations?.every(({ key }) => keys.has(key)) === false ? [...differing, "tolerations"] : differing
}

function ofClaim(claim: PersistentVolumeClaim, copy: PersistentVolumeClaim): string[] {
  const isBound = claim.spec?.volumeName === copy.spec?.volumeName
  const isTold = equalIgnoringNulls(claim.status?.capacity, copy.status?.capacity)
  return [...(isBound ? [] : ["volume"]), ...(isTold ? [] : ["capacity"])]
}
