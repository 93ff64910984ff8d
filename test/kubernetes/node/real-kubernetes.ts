// A real Kubernetes with real nodes on this machine: kubelet, containerd, runc, a pod network, kube-proxy and CoreDNS for each
// of them, in namespaces of their own; node1 carries the control plane as well. Needs root; whyNoNodes() (machine.ts) says
// whether it can be. README.md has the drawing.
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
/** Where its programs are mounted (node.sh). */
const nodePath = "/usr/local/bin"
/** Of each log, told when a start fails. */
const logLines = 8

export interface RealKubernetesOptions {
  /** Default 2. */
  nodes?: number
  /** Default: one that no other has. */
  name?: string
  /** It stays when this process ends, until somebody disposes of it or runs `down`. */
  stays?: boolean
  /** Told what is done, a few words at a time. */
  say?: (what: string) => void
}

/** Whoever has these is an administrator of all kubelets. PEM. */
export interface KubeletAccess {
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
  /** This machine as pods see it: what they are to reach has to listen here. Their own address is not seen. */
  readonly hostAddress: string
  /** With every program's log, in node<N>/logs. */
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

  /** Makes the images first, when they are not there. Fails with the sentence of whyNoNodes() where it cannot be. */
  static async start(options: RealKubernetesOptions = {}): Promise<RealKubernetes> {
    const {
      nodes = 2,
      name = `cluster-${process.pid}-${Date.now().toString(36)}`,
      stays = false,
      say = () => {},
    } = options
    if (nodes < 1 || nodes > maxNodes) throw new Error(`a cluster has 1 to ${maxNodes} nodes, not ${nodes}`)
    const lacks = await whyNotThisMachine()
    if (lacks !== undefined) throw new MachineLacks(lacks)
    const why = await whyNoNodes()
    if (why !== undefined) throw new Error(why)
    await makeImages(say)
    await removeAbandoned()
    const directory = directoryOf(name)
    if (await exists(directory))
      throw new Error(`${directory} is there: a cluster of that name runs, or broke. End it first`)
    const start = new ClusterStart(directory, nodes, stays ? undefined : process.pid, say)
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

  /** Runs a program in the network of a node, where services and pods are reached; answers its output. */
  async onNode(number: number, command: readonly string[]): Promise<string> {
    const pid = (await readFile(path.join(this.directory, nodeName(number), "pid"), "utf8")).trim()
    return succeed("nsenter", ["--target", pid, "--net", ...command], { timeoutMs: commandTimeoutMs })
  }

  /** Runs a program as the node itself would: its files, processes and network. */
  async inNode(number: number, command: readonly string[]): Promise<string> {
    const pid = (await readFile(path.join(this.directory, nodeName(number), "pid"), "utf8")).trim()
    const env = { ...process.env, PATH: `${nodePath}:${process.env["PATH"] ?? ""}` }
    return succeed("nsenter", ["--target", pid, "--all", ...command], { env, timeoutMs: commandTimeoutMs })
  }

  /** Of the node, as the machine reaches it. */
  nodeAddress(number: number): string {
    return this.#network.node(number)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]()
    await removeCluster(this.directory)
  }
}

/** Of the logs of nodes and kubelets: they say most of why a node is not there. */
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
