// A cluster without tenants, for `--super-kubeconfig`: an API server with the few controllers it needs, and simulated nodes. It
// can be stopped and restarted on the same port.

import { rm, writeFile } from "node:fs/promises"
import path from "node:path"
import type { Service } from "../../apimachinery/object.ts"
import { silentLog } from "../../client/log.ts"
import { services } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { startControllers } from "../../controllers/main.ts"
import { Gateway } from "../../gateway/main.ts"
import { RangeServiceAddresses } from "../../gateway/registry/core/services/addresses.ts"
import { startSimulator } from "../../simulator/main.ts"
import { temporaryFolder } from "./folders.ts"

const controllers = ["namespace", "serviceaccount", "root-ca-certificate-publisher", "endpoints", "endpointslice"]
const cidr = "10.96.0.0/16"
/** Written to Node objects; nothing listens there. */
const kubeletPort = 10_250

export class SuperCluster implements AsyncDisposable {
  readonly kubeconfig: string
  readonly #directory: string
  #port = 0
  #running: { gateway: Gateway; stack: AsyncDisposableStack } | undefined

  private constructor(directory: string) {
    this.#directory = directory
    this.kubeconfig = path.join(directory, "admin.kubeconfig")
  }

  static async start(): Promise<SuperCluster> {
    const cluster = new SuperCluster(await temporaryFolder("polyplane-super"))
    await cluster.start()
    return cluster
  }

  get client(): KubeClient {
    const control = this.#running?.gateway.superCluster
    if (control === undefined) throw new Error("the super cluster is not running")
    return control.client
  }

  async start(): Promise<void> {
    await using stack = new AsyncDisposableStack()
    const load = async (): Promise<Service[]> => (await this.client.list<Service>(services)).items
    const log = silentLog
    const gateway = stack.use(
      await Gateway.start({
        dataDir: path.join(this.#directory, "data"),
        port: this.#port,
        superCluster: true,
        serviceAddresses: () => new RangeServiceAddresses({ cidr, load }),
        limits: { shutdownMs: 100 },
        log,
      }),
    )
    this.#running = { gateway, stack: new AsyncDisposableStack() }
    const { client } = this
    const rootCertificateAuthority = gateway.certificateAuthority
    stack.use(startControllers(singleCluster(client), { rootCertificateAuthority, only: controllers, log }))
    stack.use(await startSimulator({ client, nodes: 2, kubeletPort: () => kubeletPort, log }))
    await writeFile(this.kubeconfig, await gateway.adminKubeconfig(), { mode: 0o600 })
    this.#port = Number(new URL(gateway.url).port)
    this.#running = { gateway, stack: stack.move() }
  }

  async stop(): Promise<void> {
    await this.#running?.stack[Symbol.asyncDispose]()
    this.#running = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await rm(this.#directory, { recursive: true, force: true })
  }
}
