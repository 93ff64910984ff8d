// All kinds, written out.

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

/** A list of kinds is a list of different types; each is only ever handed objects of its own resource. */
const sync = <T extends KubeObject>(kind: ResourceSync<T>): ResourceSync => kind as unknown as ResourceSync
const publication = <T extends KubeObject>(kind: Publication<T>): Publication => kind as unknown as Publication

/** Owned by tenants. In the order a patrol goes: what others need first. */
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

/** Owned by super. */
export const publications: readonly Publication[] = [
  publication(node),
  publication(storageClass),
  publication(priorityClass),
  publication(persistentVolume),
]

export const syncOf = (resource: Pick<Resource, "resource">): ResourceSync | undefined =>
  resourceSyncs.find((kind) => kind.resource.resource === resource.resource)
