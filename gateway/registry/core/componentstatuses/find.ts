// ComponentStatuses (deprecated since v1.19): the components of a control plane and their health, computed on each request and
// never stored. The components of a tenant are its store, with the name that a cluster with one etcd uses, and its controllers,
// unless the tenant runs its own. There is no scheduler: pods are scheduled in the super cluster, which tenants cannot see. Source:
// k8s.io/kubernetes/pkg/registry/core/componentstatus.

import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { Store } from "../../../../storage/types.ts"
import type { RequestContext } from "../../../request/context.ts"
import { faultOf } from "../../generic/storage/storage-errors.ts"
import type { KindExtension } from "../../strategy.ts"

export const componentStatuses: KindExtension = { find, warning: "v1 ComponentStatus is deprecated in v1.19+" }

const well = { status: "True", message: "ok" }

async function find({ controlPlane }: Pick<RequestContext, "controlPlane">): Promise<KubeObject[]> {
  const controllers = controlPlane.tenant?.controllers === true ? [component("controller-manager", well)] : []
  return [...controllers, component("etcd-0", await healthOf(controlPlane.store))]
}

async function healthOf(store: Store): Promise<object> {
  const error = await faultOf(store)
  return error === undefined ? well : { status: "False", error }
}

function component(name: string, health: object): KubeObject {
  const conditions = [{ type: "Healthy", ...health }]
  return { kind: "ComponentStatus", apiVersion: "v1", metadata: { name }, conditions }
}
