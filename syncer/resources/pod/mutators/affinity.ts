// Pod affinity and topology spread: confined to the tenant's pods, with the super names of namespaces. Node affinity is unchanged,
// because tenants see the real nodes under their names.
//
// matchLabelKeys and mismatchLabelKeys whose values the tenant's API server has merged into the selectors are removed: super would
// merge them again, and reject the pod because the selector contains the key already.

import type { PodSpec } from "../../../../apimachinery/object.ts"
import { superNamespace } from "../../../../apimachinery/tenancy.ts"
import { ofTenant, superNamespaceSelector } from "../../../conversion/namespace-selector.ts"
import { withSpec, type PodContext, type PodMutator } from "../context.ts"

type Affinity = NonNullable<PodSpec["affinity"]>
type PodAffinity = NonNullable<Affinity["podAffinity"]>
type Term = NonNullable<PodAffinity["requiredDuringSchedulingIgnoredDuringExecution"]>[number]

export const affinity: PodMutator = (pod, context) =>
  withSpec(pod, ({ topologySpreadConstraints: constraints, ...rest }) => {
    // Constraints count only pods of the same namespace, all of which belong to the tenant.
    const spec =
      constraints === undefined
        ? rest
        : { ...rest, topologySpreadConstraints: constraints.map(({ matchLabelKeys: _merged, ...others }) => others) }
    const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
    if (podAffinity === undefined && podAntiAffinity === undefined) return spec
    return {
      ...spec,
      affinity: {
        ...spec.affinity,
        ...(podAffinity === undefined ? {} : { podAffinity: restrictToTenant(podAffinity, context) }),
        ...(podAntiAffinity === undefined ? {} : { podAntiAffinity: restrictToTenant(podAntiAffinity, context) }),
      },
    }
  })

function restrictToTenant(rules: PodAffinity, context: PodContext): PodAffinity {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  } = rules
  return {
    ...(required === undefined
      ? {}
      : { requiredDuringSchedulingIgnoredDuringExecution: required.map((term) => restrictTerm(term, context)) }),
    ...(preferred === undefined
      ? {}
      : {
          preferredDuringSchedulingIgnoredDuringExecution: preferred.map((weighted) => ({
            ...weighted,
            podAffinityTerm: restrictTerm(weighted.podAffinityTerm, context),
          })),
        }),
  }
}

function restrictTerm(term: Term, { tenant }: PodContext): Term {
  const { labelSelector, namespaces, namespaceSelector, matchLabelKeys: _in, mismatchLabelKeys: _notIn, ...rest } = term
  return {
    ...rest,
    ...(labelSelector === undefined ? {} : { labelSelector: ofTenant(labelSelector, tenant.clusterKey) }),
    ...(namespaces === undefined
      ? {}
      : { namespaces: namespaces.map((name) => superNamespace(tenant.clusterKey, name)) }),
    ...(namespaceSelector === undefined
      ? {}
      : { namespaceSelector: superNamespaceSelector(namespaceSelector, tenant.clusterKey) }),
  }
}
