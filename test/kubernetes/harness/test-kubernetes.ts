// A real Kubernetes control plane for tests: etcd and kube-apiserver, and optionally kube-controller-manager, kube-scheduler and
// simulated nodes. It uses free loopback ports and a temporary folder, and is ready within seconds:
//
//   await using kubernetes = await TestKubernetes.start({ nodes: 5, controllerManager: true, scheduler: true })
//
// Nothing of it outlives the test process (component.ts). Its logs are kept if it or a test failed.

import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { createHttpClient } from "../../../client/http/client.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { temporaryFolder } from "../../harness/folders.ts"
import { call } from "../../harness/https.ts"
import { missingBinaries } from "../build/cache.ts"
import type { Component } from "./component.ts"
import * as controlPlane from "./control-plane.ts"
import { writeCredentials, type CredentialFile } from "./credentials.ts"
import { createNodes, nodesAreReady } from "./nodes.ts"
import { freePorts } from "../../harness/ports.ts"

interface TestKubernetesOptions {
  /** Number of nodes simulated by kwok; default none. */
  nodes?: number
  controllerManager?: boolean
  /** Additional flags of kube-controller-manager. */
  controllerManagerFlags?: readonly string[]
  scheduler?: boolean
  /** Whether pods need a service account. Default: true if a controller manager creates them. */
  serviceAccounts?: boolean
  /** Logs every request with its body to `auditLog`, one line of JSON each. */
  audit?: boolean
  /** Makes etcd sync to disk, as in production. Default: false. */
  durable?: boolean
  /** Additional flags of kube-apiserver; if a flag is repeated, the last one wins. */
  apiServerFlags?: readonly string[]
  /** Hosts of the API server besides 127.0.0.1 and localhost. */
  names?: readonly string[]
}

/** Environment variable: keeps the logs of control planes when they end. */
export const keepLogsVariable = "POLYPLANE_KEEP_LOGS"
/** How often to retry with other ports if another process took one of them. */
const maxAttempts = 3

export class TestKubernetes implements AsyncDisposable {
  /** https://127.0.0.1:<port> */
  readonly server: string
  /** PEM. */
  readonly certificateAuthority: string
  /** The token of a member of system:masters. */
  readonly token: string
  /** Path of a kubeconfig with that token. */
  readonly kubeconfig: string
  readonly #place: controlPlane.Place
  readonly #options: TestKubernetesOptions
  readonly #components = new Map<string, Component>()
  readonly #client: KubeClient & AsyncDisposable
  #keepLogs = false

  private constructor(place: controlPlane.Place, options: TestKubernetesOptions) {
    this.#place = place
    this.#options = options
    this.server = `https://127.0.0.1:${place.ports.apiServer}`
    this.certificateAuthority = place.credentials.certificateAuthority
    this.token = place.credentials.token
    this.kubeconfig = place.credentials.file("admin.kubeconfig")
    const { server, certificateAuthority, token } = this
    this.#client = createHttpClient({ server, certificateAuthority, token })
  }

  /** The programs that start() needs, for missingBinaries(). */
  static binaries({ nodes = 0, controllerManager, scheduler }: TestKubernetesOptions = {}): string[] {
    return [
      "etcd",
      "kube-apiserver",
      ...(controllerManager === true ? ["kube-controller-manager"] : []),
      ...(scheduler === true ? ["kube-scheduler"] : []),
      ...(nodes > 0 ? ["kwok"] : []),
    ]
  }

  static async start(options: TestKubernetesOptions = {}): Promise<TestKubernetes> {
    const missing = missingBinaries(TestKubernetes.binaries(options))
    if (missing !== undefined) throw new Error(missing)
    for (let attempt = 1; ; attempt++) {
      const kubernetes = await TestKubernetes.#create(options)
      try {
        await kubernetes.#start()
        return kubernetes
      } catch (error) {
        kubernetes.keepLogs()
        await kubernetes[Symbol.asyncDispose]()
        if (attempt === maxAttempts || !/address already in use/.test(String(error))) throw error
      }
    }
  }

  static async #create(options: TestKubernetesOptions): Promise<TestKubernetes> {
    const folder = await temporaryFolder("polyplane-kubernetes")
    const [etcd = 0, etcdPeer = 0, apiServer = 0] = await freePorts(3)
    await Promise.all(["logs", "credentials"].map((name) => mkdir(path.join(folder, name))))
    const names = ["localhost", "127.0.0.1", "10.96.0.1", ...(options.names ?? [])]
    const credentials = await writeCredentials(
      path.join(folder, "credentials"),
      `https://127.0.0.1:${apiServer}`,
      names,
    )
    return new TestKubernetes({ folder, credentials, ports: { etcd, etcdPeer, apiServer } }, options)
  }

  async #start(): Promise<void> {
    const { nodes = 0, controllerManager, scheduler, durable = false } = this.#options
    this.#add(await controlPlane.startEtcd(this.#place, durable)) // the API server needs it
    await this.startApiServer()
    if (controllerManager === true) await this.startControllerManager(this.#options.controllerManagerFlags)
    if (scheduler === true) this.#add(await controlPlane.startScheduler(this.#place))
    if (nodes === 0) return
    const kwok = this.#add(await controlPlane.startKwok(this.#place))
    await createNodes(this.#client, nodes)
    await kwok.ready(() => nodesAreReady(this.#client, { untaint: controllerManager !== true }))
  }

  /** Ends all its programs, keeping the data. */
  async stop(): Promise<void> {
    await Promise.all([...this.#components.values()].map((component) => component[Symbol.asyncDispose]()))
    this.#components.clear()
  }

  /** Starts them all again after stop(), on the same ports. */
  restart(): Promise<void> {
    return this.#start()
  }

  /** The folder of etcd's data, which may be copied, replaced or removed while it is stopped. */
  get etcdData(): string {
    return controlPlane.etcdData(this.#place)
  }

  /** SIGSTOP and SIGCONT: etcd does not answer in between. */
  signalEtcd(signal: NodeJS.Signals): void {
    this.#components.get("etcd")?.signal(signal)
  }

  #add(component: Component): Component {
    this.#components.set(component.name, component)
    return component
  }

  /** Also restarts it after stopApiServer(), with the same port and data. */
  async startApiServer(): Promise<void> {
    const { controllerManager, audit, apiServerFlags = [] } = this.#options
    const { serviceAccounts = controllerManager === true } = this.#options
    const flags = [...apiServerFlags]
    // Without a controller manager nothing creates the service account that every pod would need.
    if (!serviceAccounts) flags.unshift("--disable-admission-plugins=ServiceAccount")
    if (audit === true) {
      await writeFile(this.path("audit.json"), JSON.stringify(auditPolicy))
      flags.push(`--audit-policy-file=${this.path("audit.json")}`, `--audit-log-path=${this.auditLog}`)
    }
    const apiServer = this.#add(await controlPlane.startApiServer(this.#place, flags))
    await apiServer.ready(() => this.#answers("/readyz"))
  }

  async stopApiServer(): Promise<void> {
    await this.#components.get("kube-apiserver")?.[Symbol.asyncDispose]()
  }

  /** It is ready when the namespace `default` has a service account. */
  async startControllerManager(flags: readonly string[] = []): Promise<void> {
    const manager = this.#add(await controlPlane.startControllerManager(this.#place, flags))
    await manager.ready(() => this.#answers("/api/v1/namespaces/default/serviceaccounts/default"))
  }

  /** It can be started again with other flags. */
  async stopControllerManager(): Promise<void> {
    await this.#components.get("kube-controller-manager")?.[Symbol.asyncDispose]()
  }

  async #answers(where: string): Promise<boolean> {
    return (await this.get(where)).ok
  }

  /** A raw GET as admin, for responses that the client does not return. */
  async get(where: string): Promise<{ ok: boolean; text: string }> {
    const { status, text } = await call(this.server, { path: where, token: this.token })
    return { ok: status === 200, text }
  }

  /** An admin's client, which is closed with the control plane. */
  get client(): KubeClient {
    return this.#client
  }

  /** The pids of its programs. */
  get pids(): number[] {
    return [...this.#components.values()].flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  }

  /** The file that `audit` writes. */
  get auditLog(): string {
    return path.join(this.logs, "audit.log")
  }

  /** Folder of the logs, one file per component. */
  get logs(): string {
    return path.join(this.#place.folder, "logs")
  }

  /** Path of a file of the test, which is removed with the control plane. */
  path(name: string): string {
    return path.join(this.#place.folder, name)
  }

  /** Path of a key, certificate or kubeconfig of the control plane. */
  credential(name: CredentialFile): string {
    return this.#place.credentials.file(name)
  }

  /** Copies the logs out of the folder when the control plane ends, and prints the path. */
  keepLogs(): void {
    this.#keepLogs = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failed = [...this.#components.values()].some((component) => component.hasFailed)
    await Promise.all([...this.#components.values()].map((component) => component[Symbol.asyncDispose]()))
    await this.#client[Symbol.asyncDispose]()
    if (this.#keepLogs || failed || process.env[keepLogsVariable] !== undefined) {
      const kept = await mkdtemp(path.join(tmpdir(), "polyplane-logs-"))
      await cp(this.logs, kept, { recursive: true })
      console.error(`logs of the real control plane: ${kept}`)
    }
    await rm(this.#place.folder, { recursive: true, force: true })
  }
}

const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "RequestResponse" }],
}
