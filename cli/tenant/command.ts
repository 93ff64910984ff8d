// polyplane tenant: a thin client of VirtualCluster objects and the tenants' APIs.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { stringify } from "yaml"
import { StatusError } from "../../apimachinery/status.ts"
import { createHttpClient } from "../../client/http-client.ts"
import { loadKubeconfig } from "../../client/kubeconfig.ts"
import { serviceAccounts, virtualClusters } from "../../client/resources.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { integerFlag, parseFlags, UsageError, UserError, type Command } from "../command.ts"
import { withProgress } from "../progress.ts"
import {
  connect,
  connectionFlags,
  connectionHelp,
  kubeconfigPath,
  removeKubeconfig,
  writeKubeconfig,
  writeOutput,
} from "./connection.ts"
import {
  createVirtualCluster,
  getVirtualCluster,
  isRefused,
  readKubeconfig,
  removeVirtualCluster,
  waitForVirtualCluster,
  type VirtualCluster,
} from "./virtual-clusters.ts"

const help = `usage: polyplane tenant create NAME [--cluster-version NAME] [--timeout SECONDS]
       polyplane tenant list
       polyplane tenant get NAME
       polyplane tenant delete NAME [--timeout SECONDS]
       polyplane tenant kubeconfig NAME [--output FILE]
       polyplane tenant token NAME [--service-account NS/NAME] [--duration SECONDS] [--audience NAME]

A tenant is a VirtualCluster object in the super cluster. "create" waits until the tenant is ready. With a local
"polyplane up" it writes the kubeconfig to <data-dir>/tenants/NAME.kubeconfig. "token" prints a JWT of a service account
of the tenant (default: default/default, valid for one hour).

${connectionHelp}`

const flagTypes = {
  ...connectionFlags,
  "cluster-version": { type: "string", default: "default" },
  timeout: { type: "string", default: "60" },
  output: { type: "string", short: "o" },
  "service-account": { type: "string", default: "default/default" },
  duration: { type: "string", default: "3600" },
  audience: { type: "string", multiple: true },
} as const

type Parsed = NonNullable<ReturnType<typeof parseTenantFlags>>
type Flags = Parsed["values"]

function parseTenantFlags(args: string[]) {
  return parseFlags({ help }, args, flagTypes)
}

const actions: Record<string, (flags: Flags, name: string) => Promise<void>> = dictionary({
  create,
  list,
  get,
  delete: remove,
  kubeconfig,
  token,
})

export const tenant: Command = {
  name: "tenant",
  summary: "create, list, get, delete tenants; print their kubeconfigs and tokens",
  help,
  async run(args) {
    const parsed = parseTenantFlags(args)
    if (parsed === undefined) return 0
    const [verb, name, ...more] = parsed.positionals
    const action = verb === undefined ? undefined : actions[verb]
    if (action === undefined)
      throw new UsageError(
        verb === undefined ? "polyplane tenant needs a subcommand" : `there is no "polyplane tenant ${verb}"`,
      )
    if (verb !== "list" && name === undefined) throw new UsageError(`polyplane tenant ${verb} needs the tenant's name`)
    if (more.length > 0) throw new UsageError(`too many arguments: ${more.join(" ")}`)
    try {
      await action(parsed.values, name ?? "")
    } catch (error) {
      if (error instanceof StatusError) throw new UserError(error.message, { cause: error })
      throw error
    }
    return 0
  },
}

const namespaceOf = (flags: Flags): string => flags.namespace ?? "default"
const timeoutOf = (flags: Flags): number => integerFlag("timeout", flags.timeout, 1, 3600) * 1000

async function create(flags: Flags, name: string): Promise<void> {
  await using connection = await connect(flags)
  const { client, dataDir } = connection
  const made = await createVirtualCluster(client, namespaceOf(flags), name, flags["cluster-version"])
  const cluster = await withProgress(`waiting for tenant "${name}"`, (say) =>
    waitForVirtualCluster(client, namespaceOf(flags), name, timeoutOf(flags), (object) => {
      if (object === undefined) throw new UserError(`tenant "${name}" was deleted while it was being created`)
      say(object.status?.message ?? object.status?.phase ?? "")
      return object.status?.phase === "Running" || isRefused(object) ? object : undefined
    }),
  )
  if (isRefused(cluster)) {
    await removeVirtualCluster(client, made)
    throw new UserError(`tenant "${name}": ${cluster.status?.message ?? cluster.status?.reason ?? "Error"}`)
  }
  if (dataDir === undefined) {
    process.stdout.write(`tenant "${name}" is ready; polyplane tenant kubeconfig ${name} prints its kubeconfig\n`)
    return
  }
  const file = kubeconfigPath(dataDir, name)
  await writeKubeconfig(file, await readKubeconfig(client, cluster))
  process.stdout.write(`tenant "${name}" is ready: ${file}\n`)
}

async function list(flags: Flags): Promise<void> {
  await using connection = await connect(flags)
  const { items } = await connection.client.list<VirtualCluster>(
    virtualClusters,
    flags.namespace === undefined ? {} : { namespace: flags.namespace },
  )
  const rows = [["NAME", "NAMESPACE", "PHASE", "SINCE", "MESSAGE"]]
  for (const { metadata, status } of items) {
    rows.push([
      metadata.name ?? "",
      metadata.namespace ?? "",
      status?.phase ?? "Pending",
      metadata.creationTimestamp ?? "",
      status?.message ?? "",
    ])
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows)
    process.stdout.write(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd() + "\n",
    )
}

async function get(flags: Flags, name: string): Promise<void> {
  await using connection = await connect(flags)
  process.stdout.write(stringify(await getVirtualCluster(connection.client, namespaceOf(flags), name)))
}

async function remove(flags: Flags, name: string): Promise<void> {
  await using connection = await connect(flags)
  const { client, dataDir } = connection
  const found = await getVirtualCluster(client, namespaceOf(flags), name)
  await removeVirtualCluster(client, found)
  // A VirtualCluster with this name may be created again at once.
  await withProgress(`waiting for tenant "${name}" to be gone`, () =>
    waitForVirtualCluster(client, namespaceOf(flags), name, timeoutOf(flags), (object) =>
      object?.metadata.uid === found.metadata.uid ? undefined : true,
    ),
  )
  if (dataDir !== undefined) await removeKubeconfig(dataDir, name)
  process.stdout.write(`tenant "${name}" deleted\n`)
}

async function kubeconfig(flags: Flags, name: string): Promise<void> {
  await using connection = await connect(flags)
  const text = await readKubeconfig(
    connection.client,
    await getVirtualCluster(connection.client, namespaceOf(flags), name),
  )
  if (flags.output === undefined) process.stdout.write(text)
  else await writeOutput(flags.output, text)
}

interface TokenRequest extends KubeObject {
  spec: { audiences: string[]; expirationSeconds: number }
  status?: { token: string; expirationTimestamp: string }
}

async function token(flags: Flags, name: string): Promise<void> {
  const [namespace, account, ...more] = flags["service-account"].split("/")
  if (namespace === undefined || account === undefined || more.length > 0) {
    throw new UsageError(`--service-account must be NAMESPACE/NAME, not "${flags["service-account"]}"`)
  }
  const expirationSeconds = integerFlag("duration", flags.duration, 600, 2 ** 32)
  await using connection = await connect(flags)
  const text = await readKubeconfig(
    connection.client,
    await getVirtualCluster(connection.client, namespaceOf(flags), name),
  )
  await using client = createHttpClient(await loadKubeconfig(text))
  const request: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name: account, namespace },
    spec: { audiences: flags.audience ?? [], expirationSeconds },
  }
  const answer = await client.create(serviceAccounts, request, { subresource: "token" })
  if (answer.status === undefined) throw new UserError("the response of the tenant's API contains no token")
  process.stdout.write(`${answer.status.token}\n`)
}
