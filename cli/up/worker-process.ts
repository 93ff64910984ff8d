// One worker of `polyplane up --workers`: a gateway with the tenants that its primary assigns to it, and their controllers, which
// share its caches. It ends on request, or at once when its primary is gone.

import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import type { KubeClient } from "../../client/rest.ts"
import { startControllers } from "../../controllers/main.ts"
import { noNodes, noServiceAddresses } from "../../gateway/control-plane/absent.ts"
import { createCertificateSigner } from "../../gateway/tenancy/certificate-signer.ts"
import { Channel, type Handlers } from "../../gateway/workers/channel.ts"
import type { PrimaryCalls, WorkerCalls, WorkerSetup } from "../../gateway/workers/messages.ts"
import { WorkerGateway } from "../../gateway/workers/worker.ts"
import { createLastingClient, readKubeconfigFile } from "../compose/cluster.ts"
import { vnAgentDialer } from "../compose/node-dialers.ts"
import { podUsageOf } from "../compose/pod-usage.ts"
import { superAddressesOf } from "../compose/service-addresses.ts"
import { started } from "../compose/started.ts"
import { openAuditLog } from "../log/audit-log.ts"
import { createLog, type LogLevel } from "../log/log.ts"
import { logUnhandledRejections } from "../unhandled-rejections.ts"

/** The configuration that the primary sends to its workers (gateway.ts). */
export interface WorkerComposition {
  /** PEM; signs the serving certificates of the primary's vn-agents. */
  nodeAuthority: string
  logLevel: LogLevel
  /** Appended to by all processes. */
  auditLog?: string
  /** A real super cluster; default: the primary's simulated one. */
  superKubeconfig?: string
}

type Primary = Channel<PrimaryCalls, WorkerCalls>

/** Serves the primary until it ends. */
export function runWorker(): void {
  const stack = new AsyncDisposableStack()
  let gateway: WorkerGateway | undefined
  const running = (): WorkerGateway => started(gateway, "worker")
  const handlers: Handlers<WorkerCalls> = {
    async start(setup) {
      gateway = await start(setup as WorkerSetup<WorkerComposition>, primary, stack)
    },
    route({ set, gone }) {
      const { routes } = running()
      routes.set(set)
      for (const name of gone) routes.delete(name)
    },
    adopt: (records) => running().residents.adopt(records),
    create: (record) => running().tenants.adopt(record, true),
    adjust: (tenant) => running().tenants.adjust(tenant, tenant),
    remove: (name) => running().tenants.delete(name),
    release: (name) => running().residents.release(name),
    beat: () => undefined,
    metrics: () => running().metrics.print(),
    async stop() {
      await stack.disposeAsync()
      setImmediate(() => process.disconnect()) // after the response has been sent
    },
  }
  const primary: Primary = new Channel(process, handlers, (socket) => {
    if (gateway === undefined) socket.destroy()
    else gateway.accept(socket)
  })
  // A signal to the whole process group (Ctrl-C, the end of the terminal) is handled by the primary, which asks its workers to end.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined)
  process.once("disconnect", () => process.exit())
}

async function start(
  setup: WorkerSetup<WorkerComposition>,
  primary: Primary,
  stack: AsyncDisposableStack,
): Promise<WorkerGateway> {
  const { nodeAuthority, superKubeconfig, logLevel, auditLog } = setup.composition
  const log = createLog(logLevel, setup.self)
  logUnhandledRejections(log)
  const metrics = new ClientMetrics()
  const superConfig = superKubeconfig === undefined ? undefined : await readKubeconfigFile(superKubeconfig)
  const real = superConfig === undefined ? undefined : stack.use(createLastingClient(superConfig, { log, metrics }))
  // Called for the first Service or the first request for logs, when the gateway has started.
  const parts: { gateway?: WorkerGateway } = {}
  const running = (): WorkerGateway => started(parts.gateway, "worker")
  const superClient = (): KubeClient => real ?? running().superClient
  const gateway = await WorkerGateway.start({
    setup,
    serviceAddresses: superAddressesOf({
      superClient,
      ofSuper: () => noServiceAddresses,
      tenantClient: (tenant) => running().tenants.client(tenant),
      isShared: false,
      log,
    }),
    ...(real === undefined ? {} : { podUsage: podUsageOf(real, stack) }),
    nodeDialer: (tenant) => {
      if (tenant === undefined) return noNodes
      return vnAgentDialer(tenant, {
        signer: () => running().keys.tenantTokenSigner,
        certificateAuthority: () => nodeAuthority,
        endpoint: (node) => primary.call("agentEndpoint", node),
      })
    },
    log,
    recordStored: ({ name, uid }) => primary.call("stored", { name, uid }),
    ...(auditLog === undefined ? {} : { audit: stack.use(openAuditLog(auditLog, log)).log }),
    clientMetrics: metrics,
  })
  parts.gateway = stack.use(gateway)
  const rootCertificateAuthority = gateway.keys.servingAuthority.certificate
  const signer = createCertificateSigner(gateway.tenants)
  stack.use(startControllers(gateway.tenants, { rootCertificateAuthority, signer, log, metrics }))
  return gateway
}
