// Selects the super cluster for `polyplane tenant`: --kubeconfig, otherwise that of the all-in-one's data directory if there is
// one, otherwise the usual kubeconfig ($KUBECONFIG, ~/.kube/config).

import { randomUUID } from "node:crypto"
import { readlinkSync, statSync } from "node:fs"
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import path from "node:path"
import { isNotFound, StatusError } from "../../apimachinery/status.ts"
import type { KubeClient } from "../../client/rest.ts"
import { UserError } from "../command.ts"
import { connectCluster, explainSuperCluster } from "../compose/cluster.ts"

export interface Connection extends AsyncDisposable {
  client: KubeClient
  /** Where kubeconfigs of tenants are kept. Set if the all-in-one's data directory was found. */
  dataDir: string | undefined
  /** Returns a UserError that says what to do if the super cluster is not usable, and other errors unchanged. */
  explain(error: unknown): unknown
}

export const connectionFlags = {
  "data-dir": {
    type: "string",
    takes: "DIR",
    help: 'data directory of a local "polyplane up" (default .polyplane, if it exists)',
  },
  kubeconfig: {
    type: "string",
    takes: "FILE",
    help: "kubeconfig of the super cluster (default $KUBECONFIG, then ~/.kube/config)",
  },
  namespace: {
    type: "string",
    short: "n",
    takes: "NAMESPACE",
    help: 'namespace of the VirtualCluster object (default "default"; list: all namespaces)',
  },
} as const

export async function connect(flags: {
  "data-dir"?: string | undefined
  kubeconfig?: string | undefined
}): Promise<Connection> {
  const dataDir = flags["data-dir"] ?? ".polyplane"
  const admin = path.join(dataDir, "admin.kubeconfig")
  const local = flags.kubeconfig === undefined && exists(admin)
  const real = local ? realSuperCluster(dataDir) : undefined
  if (!local && flags["data-dir"] !== undefined) {
    throw new UserError(`${admin} does not exist; is ${dataDir} the data directory of a running \`polyplane up\`?`)
  }
  const file = local ? (real ?? admin) : (flags.kubeconfig ?? usualKubeconfig())
  if (real !== undefined && !exists(real)) {
    throw new UserError(
      `${real}, the kubeconfig of the super cluster of ${dataDir}, is gone; name another with --kubeconfig`,
    )
  }
  if (!exists(file) && flags.kubeconfig === undefined) {
    throw new UserError(
      `no super cluster found: neither ${admin} nor ${file} exists; start one with \`npm start\`, or name one with --kubeconfig`,
    )
  }
  const client = await connectCluster(file)
  return {
    client,
    dataDir: local ? dataDir : undefined,
    explain: (error) => explain(error, file, local && real === undefined),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

/** Throws if that cannot be told, such as when this user may not look into the directory. */
const exists = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

/** A link to the kubeconfig of the real super cluster that `polyplane up` uses. */
export const superKubeconfigLink = (dataDir: string): string => path.join(dataDir, "super.kubeconfig")

/** Path of its kubeconfig; undefined if `polyplane up` simulates the super cluster. */
function realSuperCluster(dataDir: string): string | undefined {
  try {
    return readlinkSync(superKubeconfigLink(dataDir))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

function usualKubeconfig(): string {
  const set = process.env["KUBECONFIG"] ?? ""
  if (set === "") return path.join(homedir(), ".kube", "config")
  if (set.includes(path.delimiter) && !exists(set))
    throw new UserError("$KUBECONFIG names several files: name that of the super cluster with --kubeconfig")
  return set
}

/** `isSimulated`: the super cluster is part of `polyplane up` on this machine. */
function explain(error: unknown, file: string, isSimulated: boolean): unknown {
  const isOfOneObject = error instanceof StatusError && (error.status.details?.name ?? "") !== ""
  if (isNotFound(error) && !isOfOneObject)
    return new UserError(
      `the cluster of ${file} serves no VirtualClusters; is it the super cluster, with Polyplane installed?`,
      { cause: error },
    )
  return explainSuperCluster(error, file, { isLocal: isSimulated })
}

export function kubeconfigPath(dataDir: string, tenant: string): string {
  return path.join(dataDir, "tenants", `${tenant}.kubeconfig`)
}

/** The tenant's name from a file name; undefined if the file name is not one of {@link kubeconfigPath}. */
export function tenantOfKubeconfig(file: string): string | undefined {
  const { name, ext } = path.parse(file)
  return ext === ".kubeconfig" ? name : undefined
}

/** The files contain a private key. */
const ownersOnly = 0o600

/** Writes to the data directory atomically: concurrent readers see either the previous file or this one. */
export async function writeKubeconfig(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  const next = `${file}.${randomUUID()}`
  try {
    await writeFile(next, text, { mode: ownersOnly })
    await rename(next, file)
  } catch (error) {
    await rm(next, { force: true })
    throw error
  }
}

/** Writes to a path chosen by the user; a link or a pipe remains one. */
export async function writeOutput(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  await using output = await open(file, "w", ownersOnly)
  // An existing file keeps its mode when opened.
  if ((await output.stat()).isFile()) await output.chmod(ownersOnly)
  await output.writeFile(text)
}

export async function removeKubeconfig(dataDir: string, tenant: string): Promise<void> {
  await rm(kubeconfigPath(dataDir, tenant), { force: true })
}
