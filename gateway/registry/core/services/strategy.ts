// Services. Their addresses are allocated by the control plane's ServiceAddresses before the service is stored, and released after it
// is deleted. Source: k8s.io/kubernetes/pkg/registry/core/service.

import { validateDNS1123Label } from "../../../../apimachinery/names.ts"
import type { ObjectMeta, Service } from "../../../../apimachinery/object.ts"
import { isNotFound } from "../../../../apimachinery/status.ts"
import type { RequestContext } from "../../../request/context.ts"
import { builtIn, onBehalf, withoutAdmission } from "../../generic/internal-write.ts"
import type { Claim } from "../../claim.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { keepFamilies } from "./families.ts"
import { isExternallyAccessible, needsChanged, needsClusterIP, type ServiceSpec, specOf } from "./needs.ts"
import { dropByType, keepAllocated, normalizeClusterIPs } from "./normalize.ts"
import { loadBalancerWarnings, serviceWarnings } from "./warnings.ts"
import { validateServiceStatus } from "./status.ts"
import { validateAddresses } from "./cluster-ips.ts"
import { validateService } from "./validate.ts"
import { proxy } from "./connect/proxy.ts"

const affinitySeconds = 10_800

function both(counted: Claim, claimed: Claim): Claim {
  return {
    commit() {
      claimed.commit()
      counted.commit()
    },
    async rollback() {
      await claimed.rollback()
      await counted.rollback()
    },
  }
}

/** Takes what the service needs of the super cluster. */
async function claim(ctx: RequestContext, service: Service, current: Service | undefined): Promise<Claim> {
  const { superQuota, serviceAddresses } = ctx.controlPlane
  const counted = await superQuota.claimService(ctx, service, current)
  try {
    const claimed = await serviceAddresses.claim(service, current)
    return counted === undefined ? claimed : both(counted, claimed)
  } catch (error) {
    await counted?.rollback()
    throw error
  }
}

function needsClaim({ info }: RequestContext, service: Service, current: Service | undefined): boolean {
  if (info.subresource !== "") return false
  const spec = specOf(service)
  return current === undefined ? needsClusterIP(spec) : needsChanged(spec, current.spec ?? {})
}

/** A load balancer that admission refuses would cost something, and is asked for after it. */
const isAllocatedFirst = (spec: ServiceSpec): boolean => spec.type !== "LoadBalancer"

const endpoints = { group: "", version: "v1", resource: "endpoints" }

/** So that a new service of this name does not begin with those of the former one. */
async function deleteEndpoints(ctx: RequestContext, { namespace = "", name = "" }: ObjectMeta): Promise<void> {
  const behalf = onBehalf(ctx, { ...endpoints, namespace, name, verb: "delete" })
  try {
    await builtIn(ctx, endpoints).delete(behalf, namespace, name, { dryRun: false }, withoutAdmission)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const serviceStrategy: Strategy<Service> = {
  generation: false,
  nameRule: validateDNS1123Label,
  allowCreateOnUpdate: true,

  default(service) {
    const spec = specOf(service)
    spec.sessionAffinity = spec.sessionAffinity || "None"
    spec.type = spec.type || "ClusterIP"
    if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig
    if (spec.sessionAffinity === "ClientIP" && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
      spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } }
    }
    for (const port of spec.ports ?? []) {
      port.protocol = port.protocol || "TCP"
      const target = port.targetPort
      if (!target) port.targetPort = port.port
    }
    if (isExternallyAccessible(spec) && !spec.externalTrafficPolicy) spec.externalTrafficPolicy = "Cluster"
    if (["NodePort", "LoadBalancer", "ClusterIP"].includes(spec.type)) spec.internalTrafficPolicy ??= "Cluster"
    if (spec.type === "LoadBalancer") {
      spec.allocateLoadBalancerNodePorts ??= true
      for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= "VIP"
    }
  },

  prepareForCreate(ctx, service) {
    service.status = { loadBalancer: {} }
    // Writes of the status do not allocate addresses.
    if (ctx.info.subresource === "") normalizeClusterIPs(specOf(service), undefined)
  },

  validateFirst: (ctx, service, current) => (ctx.info.subresource === "" ? validateAddresses(service, current) : []),

  validate: (_ctx, service) => validateService(service, undefined),

  prepareForUpdate(ctx, service, current) {
    if (ctx.info.subresource === "status") {
      if (current.spec !== undefined) service.spec = current.spec
      return
    }
    if (current.status === undefined) delete service.status
    else service.status = current.status
    const spec = specOf(service)
    const before = current.spec ?? {}
    keepAllocated(spec, before)
    normalizeClusterIPs(spec, before)
    keepFamilies(spec, before)
    dropByType(service, current)
  },

  validateUpdate(ctx, service, current) {
    if (ctx.info.subresource === "status") return validateServiceStatus(service, current)
    return validateService(service, current)
  },

  /** Hides a stored field that the type does not use; it reappears when the type changes. Source: defaultOnReadInternalTrafficPolicy. */
  shown(service) {
    if (service.spec?.type !== "ExternalName" || service.spec.internalTrafficPolicy === undefined) return service
    const { internalTrafficPolicy: _, ...spec } = service.spec
    return { ...service, spec }
  },

  warnings: (_ctx, service) => serviceWarnings(specOf(service), service.metadata.annotations),
  statusWarnings: ({ status }) => loadBalancerWarnings(status?.loadBalancer?.ingress),

  async allocate(ctx, service) {
    const isFirst = isAllocatedFirst(specOf(service)) && needsClaim(ctx, service, undefined)
    return isFirst ? claim(ctx, service, undefined) : undefined
  },

  /** An update that admission refuses must not have changed what the service's clients reach. */
  async begin(ctx, service, current) {
    return needsClaim(ctx, service, current) ? claim(ctx, service, current) : undefined
  },

  async preview(ctx, service, current) {
    if (!needsClaim(ctx, service, current)) return
    const { superQuota, serviceAddresses } = ctx.controlPlane
    await superQuota.checkService(ctx, service, current)
    await serviceAddresses.preview?.(service, current)
  },

  async afterDelete(ctx, service) {
    await ctx.controlPlane.serviceAddresses.release(service)
    await deleteEndpoints(ctx, service.metadata)
  },

  selectableFields: (service) => ({
    "spec.clusterIP": service.spec?.clusterIP ?? "",
    "spec.type": service.spec?.type ?? "",
  }),
}

export const services: KindExtension = { strategy: serviceStrategy, subresources: { proxy } }
