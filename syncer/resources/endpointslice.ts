// EndpointSlices that a tenant wrote by hand, and the one of its own "kubernetes": kube-proxy on the nodes reads slices only.
// Those that controllers make of pods or Endpoints are made in super by its own controllers, from what is there.

import type { EndpointSlice } from "../../apimachinery/object.ts"
import { endpointSlices } from "../../client/resources.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import type { ResourceSync } from "./resource-sync.ts"

const managedByLabel = "endpointslice.kubernetes.io/managed-by"
const controllers = new Set(["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"])

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]

export const endpointSlice: ResourceSync<EndpointSlice> = {
  resource: endpointSlices,
  kind: "EndpointSlice",
  synced: ({ metadata }) => !controllers.has(metadata.labels?.[managedByLabel] ?? ""),
  toSuper: (object) => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {},
    addressType: object.addressType,
    ...contents(object),
  }),
  changed(object, superObject) {
    const desired = contents(object)
    return equalButNulls(desired, contents(superObject)) ? [] : [{ patch: desired }]
  },
}

function contents({ endpoints, ports }: EndpointSlice) {
  return { endpoints: (endpoints ?? []).map(withoutTenantReference), ports: ports ?? [] }
}

/** A reference to a tenant's object means nothing in super but for kind and name. */
function withoutTenantReference({ targetRef, ...endpoint }: Endpoint): Endpoint {
  if (targetRef === undefined) return endpoint
  const { namespace: _namespace, uid: _uid, resourceVersion: _version, ...reference } = targetRef
  return { ...endpoint, targetRef: reference }
}
