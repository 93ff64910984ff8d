// polyplane gateway: the gateway as a separate process, with the controllers of its tenants. It writes the credentials that the
// other parts need into Secrets of the super cluster.

import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import { systemClock } from "../../client/clock.ts"
import { createCertificateSigner } from "../../gateway/tenancy/certificate-signer.ts"
import { startControllers } from "../../controllers/main.ts"
import { Gateway } from "../../gateway/main.ts"
import { noNodes, noServiceAddresses } from "../../gateway/control-plane/absent.ts"
import { createPodUsage, createServiceAddresses } from "../../syncer/main.ts"
import { connectSuperCluster } from "../compose/cluster.ts"
import { controllersLease, Leadership, replicaTimes } from "../compose/leadership.ts"
import { agentsOnNodes, vnAgentDialer } from "../compose/node-dialers.ts"
import { UserError } from "../command.ts"
import { openAuditLog } from "../log/audit-log.ts"
import {
  domainName,
  type Field,
  filePath,
  ipAddress,
  listenPort,
  listOf,
  network,
  objectName,
  oneOf,
  optional,
  port,
  text,
  url,
  withDefault,
} from "../config.ts"
import { limitsField, limitsHelp } from "../limits.ts"
import { publishPeriodically, publishIdentity, reissued, vnAgentServerName, writeSecret } from "./gateway-secrets.ts"
import { etcdOfSection, etcdSection } from "../storage.ts"
import { healthField, healthHelp } from "./health.ts"
import { partCommand } from "./part.ts"
import { defaultVnAgentPort } from "./vn-agent.ts"

/** The certificate is valid for a year; clients load its replacement within minutes. */
const adminKubeconfigMs = 30 * 24 * 60 * 60_000

const auditFile: Field<string> = {
  read: (value, place) => (value === "-" ? value : filePath.read(value, place)),
}

export const gateway = partCommand({
  name: "gateway",
  summary: "run the gateway alone, with the controllers of its tenants",
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
    hostNames: withDefault(listOf(text), []),
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
  async start(
    { superKubeconfig, adminKubeconfigSecret, identitySecret, vnAgentPort, dataDir, etcd, http2, auditLog, ...options },
    { log, metrics, serveMetrics, signal, stack },
  ) {
    if (dataDir === undefined && etcd === undefined)
      throw new UserError(
        'field "dataDir" is missing, and there is no "etcd": one of them says where everything is kept',
      )
    if (dataDir !== undefined && etcd !== undefined)
      throw new UserError('"dataDir" and "etcd" both say where everything is kept: leave one of them out')
    const storage = etcd === undefined ? {} : { etcd: await etcdOfSection(etcd) }
    // Ends after the client, because closing the client aborts a request in progress.
    let publishing: Promise<void> | undefined
    stack.defer(async () => publishing)
    const superClient = stack.use(await connectSuperCluster(superKubeconfig, { log, metrics }))
    // Called for the first Service or the first request for logs, when the gateway has started.
    const running = (): Gateway => {
      if (started === undefined) throw new Error("the gateway has not started yet")
      return started
    }
    let authority: string | undefined
    let started: Gateway | undefined
    started = stack.use(
      await Gateway.start({
        ...options,
        dataDir: dataDir ?? "",
        ...storage,
        http2: http2 === "on",
        ...(auditLog === undefined ? {} : { audit: stack.use(openAuditLog(auditLog)).log }),
        serviceAddresses: (tenant) =>
          tenant === undefined
            ? noServiceAddresses
            : createServiceAddresses(superClient, tenant, {
                tenantClient: () => running().tenants.client(tenant.name),
                log,
              }),
        podUsage: (tenant) => createPodUsage(superClient, tenant),
        nodeDialer: (tenant) =>
          tenant === undefined || identitySecret === undefined
            ? noNodes
            : vnAgentDialer(tenant, {
                signer: () => running().tenantTokenSigner,
                certificateAuthority: () => {
                  if (authority === undefined) throw serviceUnavailable("the super cluster has not answered yet")
                  return authority
                },
                serverName: vnAgentServerName,
                endpoint: agentsOnNodes(superClient, vnAgentPort),
              }),
        log,
        clientMetrics: metrics,
      }),
    )
    serveMetrics(() => running().printMetrics())
    const { tenants, certificateAuthority, tenantTokenSigner } = started
    const signer = createCertificateSigner(tenants)
    const rootCertificateAuthority = certificateAuthority
    const controllers = () => startControllers(tenants, { rootCertificateAuthority, signer, log, metrics })
    if (etcd === undefined) stack.use(controllers())
    else
      stack.use(
        Leadership.start({
          client: superClient,
          name: controllersLease,
          identity: `${hostname()}-${randomUUID()}`,
          work: () => Promise.resolve(controllers()),
          log,
          metrics,
          times: replicaTimes,
        }),
      )

    // Tenants are served even if the super cluster is unavailable.
    const kubeconfig = reissued(() => running().adminKubeconfig(), adminKubeconfigMs, systemClock)
    publishing = publishPeriodically(
      async () => {
        if (identitySecret !== undefined)
          authority = await publishIdentity(superClient, identitySecret, tenantTokenSigner)
        if (adminKubeconfigSecret !== undefined)
          await writeSecret(superClient, adminKubeconfigSecret, { kubeconfig: await kubeconfig() })
      },
      { signal, log },
    )
    return started.url
  },
})
