// ComponentStatuses, deprecated since v1.19: what a control plane is made of, and whether it is well. They are looked for when
// somebody asks and never stored. A tenant's parts are its store, under the name a cluster with one etcd calls it by, and
// the controllers that work for it, unless it brings its own. Its pods are scheduled in the super cluster, by whom no tenant can
// see, so there is no scheduler. Source: k8s.io/kubernetes/pkg/registry/core/componentstatus.

import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { Store } from "../../../../storage/types.ts"
import type { RequestContext } from "../../../request/context.ts"
import { faultOf } from "../../storage-errors.ts"
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
  return { kind: "ComponentStatus", apiVersion: "v1", metadata: { name }, conditions } as KubeObject
}
