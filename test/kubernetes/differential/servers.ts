// The two servers, shared by a whole run: a kube-apiserver without controllers, and a gateway with one fresh tenant, also without
// controllers. POLYPLANE_KUBERNETES_SERVER and _TOKEN specify a running kube-apiserver instead of a new one; with STORAGE=etcd
// the tenant's objects are stored in etcd.

import { localNetworks } from "../../../gateway/backends/networks.ts"
import type { GatewayLimits } from "../../../gateway/options.ts"
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

interface ServersOptions {
  /** Of both servers, for tests that compare them. */
  audits?: Audits | undefined
  /** The address of both servers for pods. By default a server on loopback tells none. */
  address?: string | undefined
  /** Of the gateway. */
  limits?: Partial<GatewayLimits> | undefined
  /** Additional ones of a new kube-apiserver. */
  apiServerFlags?: readonly string[]
}

export async function startServers(options: ServersOptions = {}): Promise<Servers> {
  const { audits, address, limits } = options
  await using stack = new AsyncDisposableStack()
  const kubernetes = stack.use(await connectKubernetes(stack, options))
  const etcd = process.env["STORAGE"] === "etcd" ? stack.use(await TestEtcd.start()) : undefined
  const gateway = stack.use(
    await startTestGateway({
      superCluster: false,
      allowedNetworks: localNetworks, // webhooks of tests are on loopback
      ...(limits === undefined ? {} : { limits }),
      ...(audits === undefined ? {} : { audit: audits.log }),
      ...(address === undefined ? {} : advertised(address, kubernetes.port)),
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

/** At the same port, and with the same range of addresses as that server has. */
function advertised(advertiseAddress: string, advertisePort: number) {
  return { advertiseAddress, advertisePort, serviceRanges: [serviceRange] }
}

async function connectKubernetes(
  stack: AsyncDisposableStack,
  { audits, address, apiServerFlags = [] }: ServersOptions,
): Promise<Connection> {
  const { POLYPLANE_KUBERNETES_SERVER: url, POLYPLANE_KUBERNETES_TOKEN: token = "admin-token" } = process.env
  if (url !== undefined) return new Connection({ name: "kubernetes", url, token })
  const started = stack.use(
    await TestKubernetes.start({
      serviceAccounts: true,
      audit: audits !== undefined,
      apiServerFlags: [
        "--requestheader-uid-headers=X-Remote-Uid",
        ...(address === undefined ? [] : [`--advertise-address=${address}`, "--endpoint-reconciler-type=lease"]),
        ...apiServerFlags,
      ],
    }),
  )
  const { server, certificateAuthority, token: own, auditLog } = started
  if (audits !== undefined) audits.file = auditLog
  return new Connection({ name: "kubernetes", url: server, certificateAuthority, token: own })
}
