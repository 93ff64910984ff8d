// Creates an IPAddress for each address of a Service and deletes it with the Service. A tenant's Services have addresses of the
// super cluster, so nothing is allocated here; the objects only show which addresses are in use. The address of the API itself
// belongs to every tenant and is omitted.
// Source: k8s.io/kubernetes/pkg/registry/core/service/ipallocator/controller/repairip.go.

import type { IPAddress, Service } from "../../apimachinery/object.ts"
import { parseLooseAddress } from "../../apimachinery/addresses.ts"
import { hasReason } from "../../apimachinery/status.ts"
import { ipAddresses, services } from "../../client/resources.ts"
import { Controller, type ControllerContext } from "../context.ts"

export const managedByLabel = "ipaddress.kubernetes.io/managed-by"
export const managedByServer = "ipallocator.k8s.io"
const familyLabel = "ipaddress.kubernetes.io/ip-family"

const addressesOf = ({ spec }: Service): readonly string[] =>
  (spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP])).filter(
    (address) => parseLooseAddress(address) !== undefined,
  )
const isApi = ({ metadata }: Service): boolean => metadata.namespace === "default" && metadata.name === "kubernetes"
const concerns = (service: Service): boolean => !isApi(service) && addressesOf(service).length > 0

export function runIPAddresses(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Service>(services)
  const objects = ctx.informers.of<IPAddress>(ipAddresses)
  const controller = new Controller<Service>(ctx, {
    name: "ip-address",
    primary: all,
    concerns,
    matters: (service, previous) => addressesOf(service).join() !== addressesOf(previous).join(),
    reads: [objects],
  })
  const parentOf = ({ spec, metadata }: IPAddress): { namespace: string; name: string } | undefined => {
    const parent = spec?.parentRef
    if (parent?.resource !== "services" || metadata.labels?.[managedByLabel] !== managedByServer) return undefined
    return { namespace: parent.namespace ?? "", name: parent.name }
  }
  const enqueueAddress = (tenant: string, address: IPAddress): void => {
    const parent = parentOf(address)
    if (parent !== undefined) controller.enqueue(tenant, parent.namespace, parent.name)
  }
  objects.subscribe({
    added: enqueueAddress,
    deleted: enqueueAddress,
    synced: (tenant) => objects.list(tenant).forEach((address) => enqueueAddress(tenant, address)),
  })
  return controller.run(async ({ tenant, namespace, name }) => {
    const service = all.get(tenant, namespace, name)
    const wanted = service === undefined || isApi(service) ? [] : addressesOf(service)
    const client = controller.client(tenant)
    for (const address of wanted) {
      if (objects.get(tenant, undefined, address) !== undefined) continue
      try {
        await client.create<IPAddress>(ipAddresses, addressObject(address, namespace, name))
      } catch (error) {
        // The cache is stale, or another client created the object; as upstream, that client then owns it.
        if (!hasReason(error, "AlreadyExists")) throw error
      }
    }
    for (const { metadata } of objects.byIndex(tenant, "parent", `services ${namespace}/${name}`)) {
      const address = metadata.name ?? ""
      if (metadata.labels?.[managedByLabel] !== managedByServer || wanted.includes(address)) continue
      try {
        await client.delete(ipAddresses, undefined, address, metadata.uid === undefined ? {} : { uid: metadata.uid })
      } catch (error) {
        if (!hasReason(error, "NotFound", "Conflict")) throw error
      }
    }
  })
}

function addressObject(address: string, namespace: string, name: string): IPAddress {
  const family = parseLooseAddress(address)?.bits === 128 ? "IPv6" : "IPv4"
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name: address, labels: { [familyLabel]: family, [managedByLabel]: managedByServer } },
    spec: { parentRef: { group: "", resource: "services", namespace, name } },
  }
}
