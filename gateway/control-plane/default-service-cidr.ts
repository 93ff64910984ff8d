// The default ServiceCIDR. The range belongs to the super cluster; tenants see it as the range of their addresses. Source:
// k8s.io/kubernetes/pkg/controlplane/controller/defaultservicecidr.

import { type KubeObject, type ServiceCIDR, timestamp } from "../../apimachinery/object.ts"

export const serviceCIDRName = "kubernetes"
export const serviceCIDRManager = "kubernetes-service-cidr-controller"

const ready = { type: "Ready", status: "True", message: "Kubernetes default Service CIDR is ready" }

const itself = {
  apiVersion: "networking.k8s.io/v1",
  kind: "ServiceCIDR",
  metadata: { name: serviceCIDRName },
}

export const defaultServiceCIDR = (cidrs: readonly string[]): KubeObject => ({ ...itself, spec: { cidrs } })

/** With its condition, which has a reason that nobody set. */
export function initialServiceCIDR(cidrs: readonly string[], lastTransitionTime: string): KubeObject {
  return { ...defaultServiceCIDR(cidrs), status: withReason(appliedStatus(lastTransitionTime)) }
}

/** The condition to apply. undefined: it has one, is being deleted, or is not of these ranges. */
export function readyServiceCIDR(
  { metadata, spec, status }: ServiceCIDR,
  cidrs: readonly string[],
): KubeObject | undefined {
  const own = spec?.cidrs ?? []
  const isOfRanges = own.length === cidrs.length && own.every((range, index) => range === cidrs[index])
  const condition = status?.conditions?.find(({ type }) => type === ready.type)
  if (metadata.deletionTimestamp !== undefined || !isOfRanges) return undefined
  if (condition !== undefined && condition.status !== "Unknown") return undefined
  return { ...itself, status: appliedStatus(timestamp()) }
}

export const appliedStatus = (lastTransitionTime: string) => ({ conditions: [{ ...ready, lastTransitionTime }] })

const withReason = ({ conditions }: ReturnType<typeof appliedStatus>) => ({
  conditions: conditions.map((condition) => ({ ...condition, reason: "" })),
})
