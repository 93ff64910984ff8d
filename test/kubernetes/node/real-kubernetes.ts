// A real Kubernetes with real nodes on this machine: kubelet, containerd, runc, a pod network, kube-proxy and CoreDNS, in
// separate namespaces for each node; node1 also runs the control plane. Needs root; whyNoNodes() (machine.ts) reports whether it is
// possible. README.md has a diagram.
//
//   await using kubernetes = await RealKubernetes.start({ nodes: 2 })

import { readdir, readFile } from "node:fs/promises"
import path from "node:path"
import type { KubeClient } from "../../../client/rest.ts"
import { succeed } from "../../harness/processes.ts"
import { ClusterStart, kubeconfigOf, serverOf, type StartedCluster } from "./cluster-start.ts"
import { maxNodes, nodeName, type Network } from "./layout.ts"
import { makeImages } from "./images/make.ts"
import { exists, MachineLacks, whyNoNodes, whyNotThisMachine } from "./machine.ts"
import { directoryOf, removeAbandoned, removeCluster } from "./state.ts"

const commandTimeoutMs = 120_000
/** Where the nodes' programs are mounted (node.sh). */
const nodePath = "/usr/local/bin"
/** Number of lines of each log in the error of a failed start. */
const logLines = 8

interface RealKubernetesOptions {
  /** Default 2. */
  nodes?: number
  /** Further machines that only run containerd, for kubelets of tenants. Default 0. */
  spare?: number
  /** Default: an unused one. */
  name?: string
  /** The cluster outlives this process until it is disposed or `down` is run. */
  stays?: boolean
  /** Called with a short description of each step. */
  say?: (what: string) => void
}

/** Administrator credentials for all kubelets. PEM. */
interface KubeletAccess {
  certificateAuthority: string
  certificate: string
  key: string
}

export class RealKubernetes implements AsyncDisposable {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  readonly server: string
  /** PEM. */
  readonly certificateAuthority: string
  readonly client: KubeClient
  readonly nodes: number
  /**
   * This machine's address as seen by pods: servers for pods must listen there. The pods' own addresses are not visible to them.
   */
  readonly hostAddress: string
  /** Contains the logs of all programs, in node<N>/logs. */
  readonly directory: string
  readonly kubelets: KubeletAccess
  readonly #network: Network
  readonly #client: KubeClient & AsyncDisposable

  private constructor(made: StartedCluster) {
    this.directory = made.directory
    this.kubeconfig = kubeconfigOf(made.directory)
    this.server = serverOf(made.network)
    this.certificateAuthority = made.keys.authority.certificate
    this.nodes = made.nodes
    this.hostAddress = made.network.host
    this.kubelets = { certificateAuthority: made.keys.authority.certificate, ...made.keys.kubeletClient }
    this.#network = made.network
    this.#client = made.client
    this.client = made.client
  }

  /** Builds the images first if they do not exist. Fails with the reason of whyNoNodes() if nodes are not possible. */
  static async start(options: RealKubernetesOptions = {}): Promise<RealKubernetes> {
    const {
      nodes = 2,
      spare = 0,
      name = `cluster-${process.pid}-${Date.now().toString(36)}`,
      stays = false,
      say = () => {},
    } = options
    if (nodes < 1 || nodes + spare > maxNodes)
      throw new Error(`a cluster has 1 to ${maxNodes} nodes, not ${nodes + spare}`)
    const lacks = await whyNotThisMachine()
    if (lacks !== undefined) throw new MachineLacks(lacks)
    const why = await whyNoNodes()
    if (why !== undefined) throw new Error(why)
    await makeImages(say)
    await removeAbandoned()
    const directory = directoryOf(name)
    if (await exists(directory))
      throw new Error(`${directory} is there: a cluster of that name runs, or broke. End it first`)
    const start = new ClusterStart(directory, { nodes, spare }, stays ? undefined : process.pid, say)
    try {
      return new RealKubernetes(await start.run())
    } catch (error) {
      const logs = await lastLines(directory)
      if (!stays) await removeCluster(directory)
      throw new Error(`the cluster did not start: ${error instanceof Error ? error.message : String(error)}${logs}`, {
        cause: error,
      })
    }
  }

  /** Runs a program in the network of a node, in which services and pods are reachable; returns its output. */
  async onNode(number: number, command: readonly string[]): Promise<string> {
    const pid = (await readFile(path.join(this.directory, nodeName(number), "pid"), "utf8")).trim()
    return succeed("nsenter", ["--target", pid, "--net", ...command], { timeoutMs: commandTimeoutMs })
  }

  /** Runs a program with the node's files, processes and network. */
  async inNode(number: number, command: readonly string[]): Promise<string> {
    const pid = (await readFile(path.join(this.directory, nodeName(number), "pid"), "utf8")).trim()
    const env = { ...process.env, PATH: `${nodePath}:${process.env["PATH"] ?? ""}` }
    return succeed("nsenter", ["--target", pid, "--all", ...command], { env, timeoutMs: commandTimeoutMs })
  }

  /** The node's address as seen by the machine. */
  nodeAddress(number: number): string {
    return this.#network.node(number)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]()
    await removeCluster(this.directory)
  }
}

/** The last lines of the logs of nodes and kubelets, which usually explain why a node is not ready. */
async function lastLines(directory: string): Promise<string> {
  const folders = (await readdir(directory)).filter((name) => name.startsWith("node"))
  const files = folders.flatMap((name) =>
    ["node", "kubelet"].map((log) => path.join(directory, name, "logs", `${log}.log`)),
  )
  const texts = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(file, "utf8").catch(() => "")
      return text === "" ? "" : `\n== ${file}\n${text.trim().split("\n").slice(-logLines).join("\n")}`
    }),
  )
  return texts.join("")
}
