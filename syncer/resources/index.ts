// The list of all kinds. They have different types; each one receives only objects of its own resource.

import type { Resource } from "../../client/rest.ts"
import { configMap } from "./configmap.ts"
import { endpoints } from "./endpoints.ts"
import { endpointSlice } from "./endpointslice.ts"
import { namespace } from "./namespace.ts"
import { networkPolicy } from "./networkpolicy.ts"
import { node } from "./node.ts"
import { persistentVolume } from "./persistentvolume.ts"
import { persistentVolumeClaim } from "./persistentvolumeclaim.ts"
import { pod } from "./pod/pod.ts"
import type { Publication, ResourceSync } from "./resource-sync.ts"
import { runtimeClass } from "./runtimeclass.ts"
import { secret } from "./secret.ts"
import { service } from "./service.ts"
import { serviceAccount } from "./serviceaccount.ts"
import { priorityClass, storageClass } from "./storageclass.ts"

/** Kinds owned by tenants, in the order of the patrol: dependencies first. */
export const resourceSyncs: readonly ResourceSync[] = [
  namespace,
  serviceAccount,
  configMap,
  secret,
  service,
  endpoints,
  endpointSlice,
  persistentVolumeClaim,
  runtimeClass,
  networkPolicy,
  pod,
]

/** Kinds owned by super. */
export const publications: readonly Publication[] = [node, storageClass, priorityClass, persistentVolume]

export const syncOf = (resource: Pick<Resource, "resource">): ResourceSync | undefined =>
  resourceSyncs.find((kind) => kind.resource.resource === resource.resource)
