// Checks whether this machine can run real nodes. Missing requirements are reported in one sentence, before anything is started
// or changed.

import { access, constants } from "node:fs/promises"
import path from "node:path"
import { binDirectory } from "./layout.ts"

/** By the name under which they are built or installed. */
const builtPrograms = [
  "containerd",
  "containerd-shim-runc-v2",
  "ctr",
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-proxy",
  "kube-scheduler",
  "kubelet",
]
const systemPrograms = [
  "bash",
  "cp",
  "curl",
  "dig",
  "ip",
  "mount",
  "nft",
  "nsenter",
  "runc",
  "setsid",
  "sysctl",
  "unshare",
]
const cniPlugins = ["bridge", "host-local", "loopback", "portmap"]
export const cniDirectory = "/usr/lib/cni"
/** Includes /sbin, which is not on every user's PATH. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** The Debian packages with the programs of nodes and images. */
export const debianPackages = [
  "bind9-dnsutils",
  "bind9-host",
  "containernetworking-plugins",
  "curl",
  "gcc",
  "iperf",
  "iproute2",
  "iptables",
  "libc6-dev",
  "netcat-openbsd",
  "nftables",
  "openssl",
  "runc",
  "util-linux",
  "wget",
]

/** Exit code of a command that is not possible on this machine: EX_UNAVAILABLE of sysexits.h. The command prints the reason. */
export const unavailable = 69

/** Real nodes are not possible on this machine; the message contains the reason. It is not a failure. */
export class MachineLacks extends Error {
  override readonly name = "MachineLacks"
}

/**
 * Returns undefined if nodes are possible, after the builds and installations of RealKubernetes.start(). Checked in the order in
 * which a user would resolve the reasons.
 */
export async function whyNoNodes(): Promise<string | undefined> {
  const machine = await whyNotThisMachine()
  if (machine !== undefined) return machine
  const unbuilt = await missing(builtPrograms, [binDirectory])
  if (unbuilt.length > 0) return `real nodes need ${unbuilt.join(", ")}: npm run kubernetes:build`
  return undefined
}

/** Reasons that a build cannot resolve. */
export async function whyNotThisMachine(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return "real nodes need Linux on x86-64"
  if (process.getuid?.() !== 0)
    return "real nodes need root: they are namespaces with mounts, networks and cgroups of their own"
  if (!(await exists("/sys/fs/cgroup/memory")))
    return "real nodes need cgroup v1, which this machine does not mount at /sys/fs/cgroup/memory; v2 has not been tried"
  const lacking = await missing(systemPrograms, systemPath.split(":"))
  const plugins = await missing(cniPlugins, [cniDirectory])
  const all = [...lacking, ...plugins.map((name) => `the CNI plugin ${name}`)]
  if (all.length > 0 && (await missing(["apt-get"], systemPath.split(":"))).length > 0)
    return `real nodes need ${all.join(", ")}, and there is no apt-get to install them with`
  return undefined
}

export async function missing(programs: readonly string[], directories: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    programs.map(async (name) => {
      const places = await Promise.all(directories.map((directory) => isExecutable(path.join(directory, name))))
      return places.includes(true)
    }),
  )
  return programs.filter((_, index) => found[index] === false)
}

export async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}
