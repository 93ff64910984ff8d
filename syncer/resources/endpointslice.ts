// EndpointSlices that a tenant created itself, and that of its own "kubernetes" Service: kube-proxy reads only slices. Slices that
// controllers create from pods or Endpoints are created in super by its own controllers, from the objects there.

import { managedByLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { EndpointSlice } from "../../apimachinery/object.ts"
import { endpointSlices } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { ResourceSync } from "./resource-sync.ts"

const controllers = new Set(["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"])
const isOfController = ({ metadata }: EndpointSlice): boolean =>
  controllers.has(metadata.labels?.[managedByLabel] ?? "")

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number]

export const endpointSlice: ResourceSync<EndpointSlice> = {
  resource: endpointSlices,
  kind: "EndpointSlice",
  synced: (object) => !isOfController(object),
  // Super's mirroring controller copies the annotations of Endpoints to the slices that it makes of them, those that name the owner
  // too. These slices are not copies: the syncer would remove them, and the controller make them again, without an end.
  tenantName: (superName, superObject) => (isOfController(superObject) ? undefined : superName),
  toSuper: (object) => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {},
    addressType: object.addressType,
    ...contents(object),
  }),
  // Somebody may have replaced the copy: the type of a slice never changes.
  outdated: (object, superObject) => object.addressType !== superObject.addressType,
  changed(object, superObject) {
    const desired = contents(object)
    return equalIgnoringNulls(desired, contents(superObject)) ? [] : [{ patch: desired }]
  },
}

function contents({ endpoints, ports }: EndpointSlice) {
  return { endpoints: (endpoints ?? []).map(withoutTenantReference), ports: ports ?? [] }
}

/** References to tenant objects are meaningless in super: only kind and name are kept. */
function withoutTenantReference({ targetRef, ...endpoint }: Endpoint): Endpoint {
  if (targetRef === undefined) return endpoint
  const { namespace: _namespace, uid: _uid, resourceVersion: _version, ...reference } = targetRef
  return { ...endpoint, targetRef: reference }
}
