// A tenant and a super cluster, both real control planes: super's Services have addresses and ports of one range, which the tenant's are.

import type { Service } from "../../apimachinery/object.ts"
import { superNamespace } from "../../apimachinery/tenancy.ts"
import { services } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { RangeServiceAddresses } from "../../gateway/registry/core/services/addresses.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"
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

export const service = (namespace: string, name: string, spec: NonNullable<Service["spec"]>): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace, name },
  spec,
})

export async function startServiceWorld(stack: AsyncDisposableStack): Promise<ServiceWorld> {
  const gateway: TestGateway = stack.use(
    await startTestGateway({
      serviceAddresses: (tenant) =>
        tenant === undefined
          ? new RangeServiceAddresses({ cidr, load: async () => (await superClient().list<Service>(services)).items })
          : createServiceAddresses(superClient(), tenant, {
              superNamespaces: new SuperNamespaces(superClient),
              tenantClient: () => gateway.gateway.tenants.client(tenant.name),
            }),
    }),
  )
  const { tenants } = gateway.gateway
  const superClient = (): KubeClient => gateway.gateway.superCluster!.client
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
