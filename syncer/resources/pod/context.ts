// Input of the pod mutators: the tenant's pod and the related objects, collected once.

import type { ServiceAddress } from "../../../apimachinery/core/service-variables.ts"
import { superNamespace } from "../../../apimachinery/tenancy.ts"
import type {
  ConfigMap,
  Container,
  Pod,
  PodSpec,
  PriorityClass,
  Secret,
  Service,
} from "../../../apimachinery/object.ts"
import { configMaps, priorityClasses, secrets, services } from "../../../client/resources.ts"
import type { Tenant } from "../../../client/tenants.ts"
import type { SyncContext } from "../resource-sync.ts"
import { superRuntimeClass } from "../runtimeclass.ts"
import { isPublic } from "../storageclass.ts"
import { placementOf, type Placement } from "./placement.ts"

type EnvFromSource = NonNullable<Container["envFrom"]>[number]

export interface PodContext {
  tenant: Tenant
  /** The pod's namespace in the tenant. */
  namespace: string
  /** The address of the tenant's API server for its pods; undefined while it is not in super. */
  kubernetes: ServiceAddress | undefined
  /** Services in the pod's namespace that have an address, by name. */
  services(): readonly ServiceAddress[]
  /** The address of the tenant's kube-dns, if it has one. */
  nameServer: string | undefined
  dnsOptions: readonly { name: string; value?: string }[]
  /** Whether super has a class of this name that tenants may use. */
  hasPriorityClass(name: string): boolean
  /** The name in super for the tenant's runtime class. */
  runtimeClass(name: string): string
  /** What the ConfigMap or Secret gives as environment variables; undefined if it does not exist. */
  variablesOf(source: EnvFromSource): Readonly<Record<string, string>> | undefined
  /** Whether the pod's namespace has this Service, with or without an address. */
  hasService(name: string): boolean
  placement: Placement | undefined
}

/** One step of the conversion to a super pod. Pure: returns a new pod and does not change the given one. */
export type PodMutator = (pod: Pod, context: PodContext) => Pod

export function podContext(pod: Pod, context: SyncContext): PodContext {
  const { tenant, view, settings } = context
  const namespace = pod.metadata.namespace ?? ""
  const address = (service: Service): ServiceAddress | undefined => {
    const { namespace: home = "", name = "" } = service.metadata
    const inSuper = view.superObject<Service>(services, superNamespace(tenant.clusterKey, home), name)
    const clusterIP = inSuper?.spec?.clusterIP ?? service.spec?.clusterIP
    if (clusterIP === undefined || clusterIP === "" || clusterIP === "None") return undefined
    return { name, clusterIP, ports: service.spec?.ports ?? [] }
  }
  const addressOf = (home: string, name: string): ServiceAddress | undefined => {
    const service = view.tenantObject<Service>(services, home, name)
    return service === undefined ? undefined : address(service)
  }
  return {
    tenant,
    namespace,
    kubernetes: addressOf("default", "kubernetes"),
    services: () =>
      view
        .tenantObjects<Service>(services, namespace)
        .map(address)
        .filter((found) => found !== undefined)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    nameServer: addressOf("kube-system", "kube-dns")?.clusterIP,
    dnsOptions: settings.dnsOptions,
    runtimeClass: (name) => superRuntimeClass(name, tenant, view),
    hasPriorityClass(name) {
      const found = view.superObject<PriorityClass>(priorityClasses, undefined, name)
      return found !== undefined && isPublic(found)
    },
    variablesOf({ configMapRef, secretRef }) {
      const { name = "" } = configMapRef ?? secretRef ?? {}
      const resource = configMapRef === undefined ? secrets : configMaps
      return view.tenantObject<ConfigMap | Secret>(resource, namespace, name)?.data
    },
    hasService: (name) => view.tenantObject<Service>(services, namespace, name) !== undefined,
    placement: placementOf(pod, context),
  }
}

/** Returns the pod with a changed spec. */
export function withSpec(pod: Pod, change: (spec: PodSpec) => PodSpec): Pod {
  return pod.spec === undefined ? pod : { ...pod, spec: change(pod.spec) }
}

/** Applies `change` to every container of the spec, including init and ephemeral containers. */
export function mapContainers(spec: PodSpec, change: (container: Container) => Container): PodSpec {
  return {
    ...spec,
    containers: spec.containers.map(change),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(change) }),
    ...(spec.ephemeralContainers === undefined
      ? {}
      : { ephemeralContainers: spec.ephemeralContainers.map((one) => change(one) as typeof one) }),
  }
}
