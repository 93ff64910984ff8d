// Applies the pod's placement (../placement.ts) in terms of super's scheduler.

import type { Container } from "../../../../apimachinery/object.ts"
import { ownName, renamed } from "../../../conversion/resource-names.ts"
import { mapContainers, withSpec, type PodMutator } from "../context.ts"

type Resources = NonNullable<Container["resources"]>

export const placement: PodMutator = (pod, { placement: wanted, tenant }) => {
  if (wanted === undefined) return pod
  return withSpec(pod, ({ nodeSelector: _selector, affinity, ...rest }) => {
    const { nodeAffinity: _nodeAffinity, ...others } = affinity ?? {}
    const made = { ...others, ...(wanted.nodeAffinity === undefined ? {} : { nodeAffinity: wanted.nodeAffinity }) }
    const spec = {
      ...rest,
      ...(wanted.nodeSelector === undefined ? {} : { nodeSelector: wanted.nodeSelector }),
      ...(Object.keys(made).length === 0 ? {} : { affinity: made }),
    }
    if (wanted.resources.length === 0) return spec
    const own = new Set(wanted.resources)
    const rename = (name: string): string | undefined => (own.has(name) ? ownName(name, tenant) : undefined)
    const inResources = ({ requests, limits, ...more }: Resources): Resources => ({
      ...more,
      ...(requests === undefined ? {} : { requests: renamed(requests, rename) }),
      ...(limits === undefined ? {} : { limits: renamed(limits, rename) }),
    })
    return mapContainers(spec, (container) =>
      container.resources === undefined ? container : { ...container, resources: inResources(container.resources) },
    )
  })
}
