// The two servers, shared by a whole run: a kube-apiserver without controllers, and a gateway with one fresh tenant, also without
// controllers. POLYPLANE_KUBERNETES_SERVER and _TOKEN specify a running kube-apiserver instead of a new one; with STORAGE=etcd
// the tenant's objects are stored in etcd.

import { localNetworks } from "../../../gateway/backends/networks.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import type { Audits } from "./audits.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { TestEtcd } from "../etcd/test-etcd.ts"
import { Connection } from "./connection.ts"

export interface Servers extends AsyncDisposable {
  kubernetes: Connection
  polyplane: Connection
}

/** The range of the harness' kube-apiserver. */
const serviceRange = "10.96.0.0/16"

/** `audits`: of both servers, for tests that compare them. `apiServerFlags`: additional ones of a new kube-apiserver. */
export async function startServers(audits?: Audits, apiServerFlags: readonly string[] = []): Promise<Servers> {
  await using stack = new AsyncDisposableStack()
  const kubernetes = stack.use(await connectKubernetes(stack, audits, apiServerFlags))
  const etcd = process.env["STORAGE"] === "etcd" ? stack.use(await TestEtcd.start()) : undefined
  const gateway = stack.use(
    await startTestGateway({
      superCluster: false,
      allowedNetworks: localNetworks, // webhooks of tests are on loopback
      ...(audits === undefined ? {} : { audit: audits.log }),
      ...(etcd === undefined ? {} : { etcd: { servers: etcd.servers, prefix: "/differential" } }),
      serviceAddresses: () => new RangeServiceAddresses({ cidr: serviceRange, load: () => Promise.resolve([]) }),
    }),
  )
  const { url, certificate = "", key = "" } = await gateway.createTenant("differential", { controllers: false })
  const { certificateAuthority } = gateway.gateway
  const polyplane = stack.use(new Connection({ name: "polyplane", url, certificateAuthority, certificate, key }))
  const owned = stack.move()
  return { kubernetes, polyplane, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function connectKubernetes(
  stack: AsyncDisposableStack,
  audits: Audits | undefined,
  apiServerFlags: readonly string[],
): Promise<Connection> {
  const { POLYPLANE_KUBERNETES_SERVER: url, POLYPLANE_KUBERNETES_TOKEN: token = "admin-token" } = process.env
  if (url !== undefined) return new Connection({ name: "kubernetes", url, token })
  const started = stack.use(
    await TestKubernetes.start({ serviceAccounts: true, audit: audits !== undefined, apiServerFlags }),
  )
  const { server, certificateAuthority, token: own, auditLog } = started
  if (audits !== undefined) audits.file = auditLog
  return new Connection({ name: "kubernetes", url: server, certificateAuthority, token: own })
}
