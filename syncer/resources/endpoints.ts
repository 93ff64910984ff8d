// Endpoints that a tenant created itself or that belong to a Service without selector (such as its own "kubernetes"). For Services
// with a selector, super's controllers create the Endpoints from the pods there.

import type { Endpoints, Service } from "../../apimachinery/object.ts"
import { endpoints as endpointsResource, services } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { ResourceSync, SyncContext } from "./resource-sync.ts"

type Subsets = NonNullable<Endpoints["subsets"]>

export const endpoints: ResourceSync<Endpoints> = {
  resource: endpointsResource,
  kind: "Endpoints",
  synced: (object, context) => !hasSelector(object, context),
  // Super's controller may have created the object while the Service there still had a selector.
  adopts: () => true,
  toSuper: (object) => ({ apiVersion: "v1", kind: "Endpoints", metadata: {}, subsets: superSubsets(object.subsets) }),
  changed(object, superObject) {
    const subsets = superSubsets(object.subsets)
    return equalIgnoringNulls(subsets, superSubsets(superObject.subsets)) ? [] : [{ patch: { subsets } }]
  },
}

function hasSelector({ metadata }: Endpoints, { view }: SyncContext): boolean {
  const service = view.tenantObject<Service>(services, metadata.namespace, metadata.name ?? "")
  return Object.keys(service?.spec?.selector ?? {}).length > 0
}

/** References to tenant objects are meaningless in super: only kind and name are kept. */
function superSubsets(subsets: Endpoints["subsets"]): Subsets {
  type Addresses = Subsets[number]["addresses"]
  const strip = (addresses: Addresses): Addresses =>
    addresses?.map(({ targetRef, ...address }) => {
      if (targetRef === undefined) return address
      const { namespace: _namespace, uid: _uid, resourceVersion: _version, ...reference } = targetRef
      return { ...address, targetRef: reference }
    })
  return (subsets ?? []).map(({ addresses, notReadyAddresses, ports }) => ({
    ...(addresses === undefined ? {} : { addresses: strip(addresses) as NonNullable<Addresses> }),
    ...(notReadyAddresses === undefined
      ? {}
      : { notReadyAddresses: strip(notReadyAddresses) as NonNullable<Addresses> }),
    ...(ports === undefined ? {} : { ports }),
  }))
}
