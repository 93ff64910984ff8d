// The steps of starting a cluster of real nodes: the network, the keys, each node, and waiting until everything responds.
// real-kubernetes.ts represents the resulting cluster.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { open, chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import type { KubeObject, Node } from "../../../apimachinery/object.ts"
import { createHttpClient } from "../../../client/http/client.ts"
import { loadKubeconfig } from "../../../client/credentials/kubeconfig.ts"
import { nodes as nodeResource, serviceAccounts } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { printKey } from "../../../gateway/pki/pki.ts"
import { eventually } from "../../harness/eventually.ts"
import { run, succeed } from "../../harness/processes.ts"
import { createCgroups, hierarchies } from "./cgroups.ts"
import { createClusterKeys, type ClusterKeys } from "./certificates.ts"
import { controlPlaneFiles, nodeFiles } from "./configuration.ts"
import { installCoreDNS } from "./core-dns.ts"
import {
  apiPort,
  binDirectory,
  clusterDomain,
  here,
  images,
  maxClusters,
  networkOf,
  nodeName,
  podRange,
  ranges,
  registryPort,
  type Network,
} from "./layout.ts"
import { exists, systemPath } from "./machine.ts"
import { programsScript } from "./programs.ts"
import { fabricPid, pidFileOf, writeState } from "./state.ts"

const startTimeoutMs = 60_000
const copyTimeoutMs = 120_000

export const kubeconfigOf = (directory: string): string => path.join(directory, "admin.kubeconfig")
export const serverOf = (network: Network): string => `https://${network.node(1)}:${apiPort}`

interface ClusterSize {
  /** Nodes of the cluster; the first runs the control plane. */
  nodes: number
  /** Further machines that only run containerd; their numbers follow those of the nodes. */
  spare: number
}

export interface StartedCluster {
  directory: string
  network: Network
  nodes: number
  keys: ClusterKeys
  client: KubeClient & AsyncDisposable
}

/** Everything that outlives a step is recorded in the state first, so that removeCluster finds it. */
export class ClusterStart {
  readonly #directory: string
  readonly #nodes: number
  /** Including the spare ones. */
  readonly #machines: number
  readonly #owner: number | undefined
  readonly #say: (what: string) => void
  readonly #cgroups: string[] = []
  #link: string | undefined

  constructor(
    directory: string,
    { nodes, spare }: ClusterSize,
    owner: number | undefined,
    say: (what: string) => void,
  ) {
    this.#directory = directory
    this.#nodes = nodes
    this.#machines = nodes + spare
    this.#owner = owner
    this.#say = say
  }

  async run(): Promise<StartedCluster> {
    await this.#writeState()
    this.#say("network and registry")
    const fabric = await this.#startFabric()
    const network = await this.#connect(fabric)
    const keys = await createClusterKeys(serverOf(network), network, this.#machines)
    await writeFile(kubeconfigOf(this.#directory), keys.kubeconfig("admin"), { mode: 0o600 })
    await eventually(() => fetch(`http://${network.registry}:${registryPort}/v2/`), { what: "the registry of images" })
    this.#say(`${this.#nodes} nodes`)
    for (let number = 1; number <= this.#machines; number++) await this.#startNode(number, fabric, network, keys)
    this.#say("waiting for the API server")
    const client = createHttpClient(await loadKubeconfig(kubeconfigOf(this.#directory)))
    try {
      await this.#untilReady(client)
    } catch (error) {
      await client[Symbol.asyncDispose]()
      throw error
    }
    return { directory: this.#directory, network, nodes: this.#nodes, keys, client }
  }

  async #writeState(): Promise<void> {
    await writeState(this.#directory, { owner: this.#owner, link: this.#link, cgroups: this.#cgroups })
  }

  /** Returns the pid of its first process. */
  async #startFabric(): Promise<number> {
    const pidFile = pidFileOf(this.#directory)
    const log = await open(path.join(this.#directory, "fabric.log"), "a")
    const registry = [process.execPath, here("registry.ts"), images.layout, String(registryPort)]
    const child = spawn(
      "unshare",
      [
        ...words("--net --pid --fork --kill-child bash"),
        here("fabric.sh"),
        pidFile,
        ...registry,
        ...(this.#owner === undefined ? [] : ["--while-stdin"]),
      ],
      // The pipe is closed when this process ends, for any reason.
      { detached: true, stdio: [this.#owner === undefined ? "ignore" : "pipe", log.fd, log.fd], env: environment() },
    )
    await once(child, "spawn")
    await log.close()
    // Neither keeps this process alive.
    child.unref()
    const { stdin } = child
    if (stdin !== null && "unref" in stdin) (stdin as { unref(): void }).unref()
    stdin?.on("error", () => undefined)
    await eventually(() => exists(pidFile), { what: "the network of the nodes" })
    const pid = await fabricPid(this.#directory)
    if (pid === undefined)
      throw new Error(`the fabric ended: ${await readFile(path.join(this.#directory, "fabric.log"), "utf8")}`)
    return pid
  }

  /** Creating the device claims a number that no other cluster has. */
  async #connect(fabric: number): Promise<Network> {
    for (let number = 0; number < maxClusters; number++) {
      const network = networkOf(number)
      const ends = ["type", "veth", "peer", "name", "machine", "netns", String(fabric)]
      const { code, stderr } = await run("ip", ["link", "add", network.link, ...ends], { env: environment() })
      if (code !== 0) {
        if (stderr.includes("File exists")) continue
        throw new Error(`a network device could not be made: ${stderr.trim()}`)
      }
      this.#link = network.link
      await this.#writeState()
      await ip(["address", "add", `${network.host}/24`, "dev", network.link])
      await ip(["link", "set", network.link, "up"])
      await inNetwork(fabric, ["ip", "address", "add", `${network.registry}/24`, "dev", "bridge"])
      await plug(fabric, "machine")
      return network
    }
    throw new Error(`${maxClusters} clusters run on this machine already`)
  }

  async #startNode(number: number, fabric: number, network: Network, keys: ClusterKeys): Promise<void> {
    const name = nodeName(number)
    const directory = path.join(this.#directory, name)
    await this.#writeNode(directory, number, network, keys)
    const cgroups = await createCgroups(`${network.link}-${name}`)
    this.#cgroups.push(...cgroups)
    await this.#writeState()
    const log = await open(path.join(directory, "logs", "node.log"), "a")
    const child = spawn(
      "bash",
      [
        "-euc",
        joinAndRun,
        "join",
        ...cgroups,
        "--",
        ...words(`nsenter --target ${fabric} --pid`),
        ...words("unshare --mount --net --uts --ipc --pid --cgroup --fork --kill-child bash"),
        here("node.sh"),
        directory,
      ],
      { detached: true, stdio: ["ignore", log.fd, log.fd], env: environment() },
    )
    await once(child, "spawn")
    await log.close()
    child.unref()
    const pidFile = path.join(directory, "pid")
    await eventually(() => exists(pidFile), { what: `the start of ${name}` })
    const pid = (await readFile(pidFile, "utf8")).trim()
    await ip(["link", "add", "eth0", "netns", pid, "type", "veth", "peer", "name", name, "netns", String(fabric)])
    await plug(fabric, name)
  }

  async #writeNode(directory: string, number: number, network: Network, keys: ClusterKeys): Promise<void> {
    for (const folder of ["var/lib", "var/log", "tmp", "logs"])
      await mkdir(path.join(directory, folder), { recursive: true })
    await chmod(path.join(directory, "tmp"), 0o1777)
    const files = new Map([
      ...nodeFiles(number, network, keys),
      ...(number === 1 ? controlPlaneFiles(keys, { authorityKey: printKey(keys.authority.key) }) : []),
      ["programs.sh", programsScript(number, network, number > this.#nodes)],
    ])
    for (const [name, content] of files) {
      const file = path.join(directory, "kubernetes", name)
      await mkdir(path.dirname(file), { recursive: true })
      await writeFile(file, content, { mode: 0o600 })
    }
    await writeFile(path.join(directory, "variables.sh"), await this.#variables(number, network))
    await copyContainerdRoot(path.join(directory, "var/lib/containerd"))
  }

  async #variables(number: number, network: Network): Promise<string> {
    const others = Array.from({ length: this.#machines }, (_, index) => index + 1).filter((other) => other !== number)
    const variables = {
      NAME: nodeName(number),
      ADDRESS: network.node(number),
      HOST: network.host,
      BIN: binDirectory,
      PODS: ranges.pods,
      SERVICES: ranges.services,
      ROUTES: others.map((other) => `${podRange(other)} ${network.node(other)}`).join("\n"),
      HIERARCHIES: (await hierarchies()).map(({ directory, options }) => `${directory} ${options}`).join("\n"),
    }
    return Object.entries(variables)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join("")
  }

  async #untilReady(client: KubeClient): Promise<void> {
    const timeoutMs = startTimeoutMs
    for (let number = 1; number <= this.#nodes; number++) {
      const name = nodeName(number)
      await eventually(() => client.get(nodeResource, undefined, name), { timeoutMs, what: `registration of ${name}` })
      const spec = { podCIDR: podRange(number), podCIDRs: [podRange(number)] }
      await client.patch(nodeResource, undefined, name, { spec }, { type: "merge" })
    }
    this.#say("waiting for the nodes")
    await eventually(async () => (await client.list<Node>(nodeResource)).items.every(isReady), {
      timeoutMs,
      what: "readiness of the nodes",
    })
    // Pods are rejected until the service account exists.
    await eventually(() => client.get<KubeObject>(serviceAccounts, "default", "default"), { timeoutMs })
    this.#say("waiting for DNS")
    await installCoreDNS(client, ranges.dns)
    const first = (await readFile(path.join(this.#directory, nodeName(1), "pid"), "utf8")).trim()
    const question = ["+short", "+time=1", "+tries=1", `@${ranges.dns}`, `kubernetes.default.svc.${clusterDomain}`]
    await eventually(async () => (await inNetwork(Number(first), ["dig", ...question])).trim() === ranges.kubernetes, {
      timeoutMs,
      what: "an answer of CoreDNS",
    })
  }
}

function isReady(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true
}

/** A bash script: joins the cgroups listed before "--", then executes the command after it. */
const joinAndRun = 'until [ "$1" = -- ]; do echo $BASHPID >"$1/cgroup.procs"; shift; done; shift; exec "$@"'
const words = (text: string): string[] => text.split(" ")

/** Layers and blobs are never modified, so they are linked; databases are copied. */
async function copyContainerdRoot(to: string): Promise<void> {
  const timeoutMs = copyTimeoutMs
  await succeed("cp", ["--archive", "--link", images.root, to], { timeoutMs })
  const databases = (await succeed("find", [to, "-name", "*.db"], { timeoutMs })).trim().split("\n")
  for (const file of databases) {
    await succeed("cp", [file, `${file}.own`])
    await succeed("mv", [`${file}.own`, file])
  }
}

const environment = (): NodeJS.ProcessEnv => ({ ...process.env, PATH: `${systemPath}:${process.env["PATH"] ?? ""}` })
const ip = (args: readonly string[]): Promise<string> => succeed("ip", args, { env: environment() })

function inNetwork(pid: number, command: readonly string[]): Promise<string> {
  return succeed("nsenter", ["--target", String(pid), "--net", ...command], { env: environment() })
}

/** Attaches one end of a cable to the bridge. */
const plug = (fabric: number, device: string): Promise<string> =>
  inNetwork(fabric, ["ip", "link", "set", device, "master", "bridge", "up"])
