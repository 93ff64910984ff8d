// A tenant and a super cluster, both real control planes: super's Services have addresses and ports of one range, which the tenant's are.

import type { Service } from "../../apimachinery/object.ts"
import { superNamespace } from "../../apimachinery/tenancy.ts"
import { type Clock, systemClock } from "../../client/clock.ts"
import { services } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { RangeServiceAddresses } from "../../gateway/registry/core/services/addresses.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"
import type { ServiceAddresses } from "../../gateway/control-plane/service-addresses.ts"
import { createServiceAddresses, startSyncer, SuperNamespaces, type Syncer } from "../main.ts"

const cidr = "10.96.0.0/16"

export interface ServiceWorld {
  client: KubeClient
  superClient: KubeClient
  /** The tenant's namespace default in super. */
  home: string
  /** It has seen both sides. Its owner disposes it. */
  startSyncer(): Promise<Syncer>
}

const all = async (client: KubeClient): Promise<Service[]> => (await client.list<Service>(services)).items

export const service = (namespace: string, name: string, spec: NonNullable<Service["spec"]>): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace, name },
  spec,
})

/**
 * `addresses`: super's; default: of one range. `superClient`: of another super cluster instead. `waited` is called when a tenant's write waits
 * for a number, which is then over at once.
 */
export async function startServiceWorld(
  stack: AsyncDisposableStack,
  {
    addresses,
    superClient: another,
    waited,
  }: { addresses?: ServiceAddresses; superClient?: KubeClient; waited?: (ms: number) => void } = {},
): Promise<ServiceWorld> {
  const superClient = (): KubeClient => another ?? gateway.gateway.superCluster!.client
  const ofSuper = addresses ?? new RangeServiceAddresses({ cidr, load: () => all(superClient()) })
  const clock: Clock = {
    ...systemClock,
    after(ms, call) {
      waited?.(ms)
      return systemClock.after(0, call)
    },
  }
  const gateway: TestGateway = stack.use(
    await startTestGateway({
      serviceAddresses: (tenant) =>
        tenant === undefined
          ? ofSuper
          : createServiceAddresses(superClient(), tenant, {
              superNamespaces: new SuperNamespaces(superClient),
              clock,
              tenantClient: () => gateway.gateway.tenants.client(tenant.name),
            }),
    }),
  )
  const { tenants } = gateway.gateway
  const { tenant } = await gateway.createTenant("acme")
  return {
    client: tenants.client("acme"),
    superClient: superClient(),
    home: superNamespace(tenant.clusterKey, "default"),
    async startSyncer() {
      const syncer = await startSyncer({ superClient: superClient(), tenants })
      await syncer.whenSynced()
      return syncer
    },
  }
}
