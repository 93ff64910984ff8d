// polyplane gateway: the gateway as a separate process, with the controllers of its tenants. It writes the credentials that the
// other parts need into Secrets of the super cluster.

import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import { systemClock } from "../../client/clock.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import { createCertificateSigner } from "../../gateway/tenancy/certificate-signer.ts"
import { startControllers } from "../../controllers/main.ts"
import { Gateway } from "../../gateway/main.ts"
import { noNodes, noServiceAddresses } from "../../gateway/control-plane/absent.ts"
import type { SuperNodeDialer } from "../../gateway/control-plane/node-dialer.ts"
import { connectSuperCluster } from "../compose/cluster.ts"
import { controllersLease, Leadership, replicaTimes } from "../compose/leadership.ts"
import { agentsOnNodes, vnAgentDialer } from "../compose/node-dialers.ts"
import { superAddressesOf } from "../compose/service-addresses.ts"
import { podUsageOf } from "../compose/pod-usage.ts"
import { started } from "../compose/started.ts"
import { UserError } from "../command.ts"
import { openAuditLog } from "../log/audit-log.ts"
import {
  domainName,
  type Field,
  filePath,
  hostName,
  ipAddress,
  listenPort,
  listOf,
  network,
  type ObjectName,
  objectName,
  oneOf,
  optional,
  port,
  text,
  url,
  withDefault,
} from "../config.ts"
import { limitsField, limitsHelp } from "../limits.ts"
import {
  dayMs,
  minuteMs,
  type Published,
  publishIdentity,
  publishPeriodically,
  reissued,
  vnAgentServerName,
  writeSecret,
} from "./gateway-secrets.ts"
import { etcdOfSection, etcdSection } from "../storage.ts"
import { healthField, healthHelp } from "./health.ts"
import { partCommand, type PartContext } from "./part.ts"
import { defaultVnAgentPort } from "./vn-agent.ts"

/** The certificate is valid for a year; clients load its replacement within minutes. */
const adminKubeconfigMs = 30 * 24 * 60 * 60_000

const auditFile: Field<string> = {
  read: (value, place) => (value === "-" ? value : filePath.read(value, place)),
}

export const gateway = partCommand({
  name: "gateway",
  description: "Runs the gateway, with the controllers of its tenants.",
  fieldsHelp: `  dataDir                directory for all data (required without etcd)
  etcd                   store all data in etcd instead, which several gateways may share; one of them runs the controllers
    servers              list of etcd members, https://HOST:PORT
    prefix               prefix of all keys (default /polyplane)
    certificateAuthority file with the certificate authority of the members (default: the system's authorities)
    certificate, key     files with the client certificate for etcd and its key
  host                   address to listen on (default 127.0.0.1)
  port                   port to listen on (default 6443; 0 selects a free port)
  publicUrl              URL for clients, written into kubeconfigs (default https://HOST:PORT)
  hostNames              list of further names and addresses for the serving certificate
  domain                 also serve tenants at NAME.DOMAIN
  http2                  off: serve HTTP/1.1 only (default on)
  advertiseAddress       IP address of the Service default/kubernetes of tenants (default: this machine's address)
  advertisePort          port of that Service (default: port)
  adminKubeconfigSecret  NAMESPACE/NAME of the Secret to write the admin kubeconfig to, for syncer and operator
  identitySecret         NAMESPACE/NAME of the Secret to write the keys and certificates of vn-agents to; without it,
                         tenants have no logs, exec and port-forward
  auditLog               file to append one JSON line per request to (-: standard output): who did what, with which result;
                         after SIGHUP it is opened again (default: no audit log)
  allowedNetworks        list of non-public networks that tenants' webhook URLs may use, such as 10.1.0.0/16
  limits                 limits by name (see below), such as {maxStoredObjects: 100000}
  vnAgentPort            port of the vn-agent on each node (default ${defaultVnAgentPort})
${healthHelp}`,
  appendix: `\n${limitsHelp}`,
  fields: {
    ...healthField,
    dataDir: optional(filePath),
    etcd: optional(etcdSection),
    host: withDefault(text, "127.0.0.1"),
    port: withDefault(listenPort, 6443),
    publicUrl: optional(url),
    hostNames: withDefault(listOf(hostName), []),
    domain: optional(domainName),
    http2: withDefault(oneOf("on", "off"), "on"),
    advertiseAddress: optional(ipAddress),
    advertisePort: optional(port),
    auditLog: optional(auditFile),
    adminKubeconfigSecret: optional(objectName),
    identitySecret: optional(objectName),
    allowedNetworks: withDefault(listOf(network), []),
    limits: withDefault(limitsField, {}),
    vnAgentPort: withDefault(port, defaultVnAgentPort),
  },
  async start({ superKubeconfig, adminKubeconfigSecret, identitySecret, vnAgentPort, ...config }, context) {
    const { dataDir = "", etcd, http2, auditLog, ...options } = config
    const { log, metrics, serveMetrics, signal, stack } = context
    checkStorage(config)
    const storage = etcd === undefined ? {} : { etcd: await etcdOfSection(etcd) }
    // Ends after the client, because closing the client aborts a request in progress.
    const publishing: Promise<void>[] = []
    stack.defer(async () => void (await Promise.all(publishing)))
    const superClient = stack.use(await connectSuperCluster(superKubeconfig, { log, metrics }))
    const late: Late = {}
    const agentAt = agentsOnNodes(superClient, vnAgentPort)
    const gateway = await Gateway.start({
      ...options,
      dataDir,
      ...storage,
      http2: http2 === "on",
      ...(auditLog === undefined ? {} : { audit: stack.use(openAuditLog(auditLog, log)).log }),
      serviceAddresses: superAddressesOf({
        superClient: () => superClient,
        ofSuper: () => noServiceAddresses,
        tenantClient: (tenant) => started(late.gateway, "gateway").tenants.client(tenant),
        isShared: etcd !== undefined,
        log,
      }),
      podUsage: podUsageOf(superClient, stack),
      nodeDialer: (tenant) =>
        tenant === undefined || identitySecret === undefined ? noNodes : dialAgents(late, tenant, agentAt),
      log,
      clientMetrics: metrics,
    })
    late.gateway = stack.use(gateway)
    serveMetrics(() => gateway.printMetrics())
    runControllers(gateway, etcd === undefined ? undefined : superClient, context)

    // Tenants are served even if the super cluster is unavailable.
    const following = { signal, log }
    if (identitySecret !== undefined)
      publishing.push(publishPeriodically(agentIdentity(gateway, superClient, identitySecret, late), following))
    if (adminKubeconfigSecret !== undefined)
      publishing.push(publishPeriodically(adminKubeconfig(gateway, superClient, adminKubeconfigSecret), following))
    return gateway.url
  },
})

/** Tells `late` the authority of the certificates. */
function agentIdentity(gateway: Gateway, client: KubeClient, secret: ObjectName, late: Late): Published {
  return {
    what: "the keys and certificates of vn-agents",
    async publish() {
      const options = { known: late.agentAuthority }
      const { authorities, isWritten } = await publishIdentity(client, secret, gateway.tenantTokenSigner, options)
      late.agentAuthority = authorities
      return isWritten
    },
    againMs: minuteMs,
  }
}

function adminKubeconfig(gateway: Gateway, client: KubeClient, secret: ObjectName): Published {
  const kubeconfig = reissued(() => gateway.adminKubeconfig(), adminKubeconfigMs, systemClock)
  return {
    what: "the gateway's admin kubeconfig",
    publish: async () => writeSecret(client, secret, { kubeconfig: await kubeconfig() }),
    againMs: dayMs,
  }
}

/** What the gateway's parts use for the first Service or the first request for logs, when it exists. */
interface Late {
  gateway?: Gateway
  /** PEM; signs the serving certificates of vn-agents. */
  agentAuthority?: string
}

function checkStorage({ dataDir, etcd }: { dataDir?: string | undefined; etcd?: unknown }): void {
  if (dataDir === undefined && etcd === undefined)
    throw new UserError('field "dataDir" is missing, and there is no "etcd": one of them says where everything is kept')
  if (dataDir !== undefined && etcd !== undefined)
    throw new UserError('"dataDir" and "etcd" both say where everything is kept: leave one of them out')
}

function dialAgents(late: Late, tenant: Tenant, endpoint: ReturnType<typeof agentsOnNodes>): SuperNodeDialer {
  return vnAgentDialer(tenant, {
    signer: () => started(late.gateway, "gateway").tenantTokenSigner,
    certificateAuthority() {
      if (late.agentAuthority === undefined) throw serviceUnavailable("the super cluster has not answered yet")
      return late.agentAuthority
    },
    serverName: vnAgentServerName,
    endpoint,
  })
}

/** `leases`: set if several gateways share the tenants; the one that holds the lease there runs their controllers. */
function runControllers(
  { tenants, certificateAuthority }: Gateway,
  leases: KubeClient | undefined,
  { log, metrics, stack }: PartContext,
): void {
  const signer = createCertificateSigner(tenants)
  const start = () =>
    startControllers(tenants, { rootCertificateAuthority: certificateAuthority, signer, log, metrics })
  if (leases === undefined) return void stack.use(start())
  const leadership = Leadership.start({
    client: leases,
    name: controllersLease,
    identity: `${hostname()}-${randomUUID()}`,
    work: () => Promise.resolve(start()),
    log,
    metrics,
    times: replicaTimes,
  })
  stack.use(leadership)
}
