// Creates an IPAddress for each address of a Service and deletes it with the Service, and repairs those that somebody changed. A
// tenant's Services have addresses of the super cluster, so nothing is allocated here; the objects only show which addresses are in
// use. The address of the API itself belongs to every tenant and is omitted.
// Source: k8s.io/kubernetes/pkg/registry/core/service/ipallocator/controller/repairip.go.

import type { IPAddress, Service } from "../../apimachinery/object.ts"
import { hasReason } from "../../apimachinery/status.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { ipAddresses, services } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import { familyOf } from "../canonical-address.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import { clusterAddresses, shownAddresses } from "./cluster-addresses.ts"

const managedByLabel = "ipaddress.kubernetes.io/managed-by"
const managedByServer = "ipallocator.k8s.io"
const familyLabel = "ipaddress.kubernetes.io/ip-family"

const concerns = (service: Service): boolean => shownAddresses(service).length > 0

/** How long a Service may take to be created after its address, and to get one that it had not (a request of 60 s). */
const unusedMs = 60_000
/** The address of a Service that exists already may belong to a creation that will be refused. */
const refusedMs = 5_000

export function runIPAddresses(ctx: ControllerContext): Promise<void> {
  return new IPAddresses(ctx).run()
}

/** Keys with a namespace are Services; those without one are addresses. */
class IPAddresses {
  readonly #ctx: ControllerContext
  readonly #services: TenantInformer<Service>
  readonly #objects: TenantInformer<IPAddress>
  readonly #controller: Controller<Service>

  constructor(ctx: ControllerContext) {
    this.#ctx = ctx
    this.#services = ctx.informers.of<Service>(services)
    const objects = (this.#objects = ctx.informers.of<IPAddress>(ipAddresses))
    const controller = (this.#controller = new Controller<Service>(ctx, {
      name: "ip-address",
      eventSource: "ipallocator-repair-controller",
      primary: this.#services,
      concerns,
      matters: (service, previous) => clusterAddresses(service).join() !== clusterAddresses(previous).join(),
      reads: [objects],
      others: (tenant) => objects.list(tenant).map(({ metadata: { name = "" } }) => ({ namespace: "", name })),
    }))
    const enqueue = (tenant: string, address: IPAddress): void => controller.enqueueObject(tenant, address)
    objects.subscribe({
      added: enqueue,
      updated: enqueue,
      // Another Service than the one that it names may have the address, too.
      deleted: (tenant, { metadata: { name = "" } }) => {
        for (const service of this.#services.byIndex(tenant, "addresses", name))
          controller.enqueueObject(tenant, service)
      },
    })
  }

  run(): Promise<void> {
    return this.#controller.run(({ namespace, name }, actor) =>
      namespace === "" ? this.#reconcileAddress(actor, name) : this.#reconcileService(actor, namespace, name),
    )
  }

  async #reconcileService(actor: Actor, namespace: string, name: string): Promise<void> {
    const service = this.#services.get(actor.tenant, namespace, name)
    const wanted = service === undefined ? [] : shownAddresses(service)
    for (const address of wanted) await this.#ensure(actor, service as Service, address)
    // A Service gives back its addresses itself, which is not worth an event.
    for (const object of this.#objects.byIndex(actor.tenant, "parent", `services ${namespace}/${name}`)) {
      if (isManaged(object) && !wanted.includes(object.metadata.name ?? "")) await this.#delete(actor, object)
    }
  }

  /** Upstream leaves the object of a Service that has other addresses now, until it looks at all Services again. */
  async #ensure(actor: Actor, service: Service, address: string): Promise<void> {
    const { namespace = "", name = "" } = service.metadata
    const object = this.#objects.get(actor.tenant, undefined, address)
    if (object === undefined) return this.#create(actor, service, address)
    const parent = parentOf(object)
    const holder = parent && this.#services.get(actor.tenant, parent.namespace, parent.name)
    const isOther = parent?.namespace !== namespace || parent.name !== name
    if (holder === undefined) {
      const text = `the ClusterIP [${familyOf(address)}]: ${address} for Service ${namespace}/${name} has a wrong reference; repairing`
      actor.event(service, "Warning", "ClusterIPNotAllocated", text)
    } else if (clusterAddresses(holder).includes(address)) {
      if (isOther) {
        const text = `Cluster IP [${familyOf(address)}]:${address} was assigned to multiple services; please recreate service`
        actor.event(service, "Warning", "ClusterIPAlreadyAllocated", text)
      }
      if (hasItsLabels(object)) return
    }
    await this.#recreate(actor, service, object)
  }

  async #reconcileAddress(actor: Actor, name: string): Promise<ReconcileResult> {
    const object = this.#objects.get(actor.tenant, undefined, name)
    if (object === undefined) return
    const parent = parentOf(object)
    const service = parent && this.#services.get(actor.tenant, parent.namespace, parent.name)
    if (service !== undefined && clusterAddresses(service).includes(name))
      return hasItsLabels(object) ? undefined : this.#recreate(actor, service, object)
    if (!isManaged(object)) return
    const wait = parent === undefined ? 0 : this.#waitFor(object, service)
    if (wait > 0) return { requeueAfterMs: wait }
    const [reason, text] = fault(object, service)
    actor.event(object, "Warning", reason, text)
    await this.#delete(actor, object)
  }

  /** Milliseconds that the address may still be part of a request which creates its Service, if there is none, or changes it. */
  #waitFor({ metadata }: IPAddress, service: Service | undefined): number {
    const created = Date.parse(metadata.creationTimestamp ?? "")
    const age = this.#ctx.clock.now() - created
    if (service === undefined || service.spec?.type === "ExternalName") return unusedMs - age
    return created > Date.parse(service.metadata.creationTimestamp ?? "") ? refusedMs - age : 0
  }

  async #recreate(actor: Actor, service: Service, object: IPAddress): Promise<void> {
    await this.#delete(actor, object)
    await this.#create(actor, service, object.metadata.name ?? "")
  }

  /** Fails if the cache does not show yet that there is one, which may be of a Service that is gone: it is looked at again later. */
  async #create(actor: Actor, { metadata: { namespace = "", name = "" } }: Service, address: string): Promise<void> {
    await actor.client.create<IPAddress>(ipAddresses, addressObject(address, namespace, name))
  }

  async #delete(actor: Actor, { metadata: { name = "", uid } }: IPAddress): Promise<void> {
    try {
      await actor.client.delete(ipAddresses, undefined, name, uid === undefined ? {} : { uid })
    } catch (error) {
      if (!hasReason(error, "NotFound", "Conflict")) throw error
    }
  }
}

/** Why an address that is no Service's is deleted: the reason and message of its event. */
function fault({ metadata: { name = "" }, spec }: IPAddress, service: Service | undefined): [string, string] {
  const { group = "", resource = "", namespace = "", name: parent = "" } = referenceOf(spec)
  if (group !== "" || resource !== "services") {
    const reference = `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${parent},}`
    const text = `IPAddress ${name} appears to have been modified, not referencing a Service ${reference}: cleaning up`
    return ["IPAddressNotAllocated", text]
  }
  const what = `IPAddress: ${name} for Service ${namespace}/${parent}`
  return service === undefined
    ? ["IPAddressNotAllocated", `${what} appears to have leaked: cleaning up`]
    : ["IPAddressWrongReference", `${what} has a wrong reference; cleaning up`]
}

const referenceOf = (spec: IPAddress["spec"]): Partial<NonNullable<IPAddress["spec"]>["parentRef"]> =>
  spec?.parentRef ?? {}

/** The Service that an address names; undefined: it names something else. */
function parentOf({ spec }: IPAddress): { namespace: string; name: string } | undefined {
  const { group = "", resource, namespace = "", name = "" } = referenceOf(spec)
  return group === "" && resource === "services" ? { namespace, name } : undefined
}

export const isManaged = ({ metadata }: IPAddress): boolean => metadata.labels?.[managedByLabel] === managedByServer

export const hasItsLabels = (object: IPAddress): boolean =>
  isManaged(object) && object.metadata.labels?.[familyLabel] === familyOf(object.metadata.name ?? "")

function addressObject(address: string, namespace: string, name: string): IPAddress {
  const labels = { [familyLabel]: familyOf(address), [managedByLabel]: managedByServer }
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name: address, labels },
    spec: { parentRef: { group: "", resource: "services", namespace, name } },
  }
}
