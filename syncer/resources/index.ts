// The list of all kinds.

import type { KubeObject } from "../../apimachinery/object.ts"
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

/** The kinds have different types; each one receives only objects of its own resource. */
const sync = <T extends KubeObject>(kind: ResourceSync<T>): ResourceSync => kind as unknown as ResourceSync
const publication = <T extends KubeObject>(kind: Publication<T>): Publication => kind as unknown as Publication

/** Kinds owned by tenants, in the order of the patrol: dependencies first. */
export const resourceSyncs: readonly ResourceSync[] = [
  sync(namespace),
  sync(serviceAccount),
  sync(configMap),
  sync(secret),
  sync(service),
  sync(endpoints),
  sync(endpointSlice),
  sync(persistentVolumeClaim),
  sync(runtimeClass),
  sync(networkPolicy),
  sync(pod),
]

/** Kinds owned by super. */
export const publications: readonly Publication[] = [
  publication(node),
  publication(storageClass),
  publication(priorityClass),
  publication(persistentVolume),
]

export const syncOf = (resource: Pick<Resource, "resource">): ResourceSync | undefined =>
  resourceSyncs.find((kind) => kind.resource.resource === resource.resource)
