// polyplane tenant: a thin client of VirtualCluster objects and the tenants' APIs.

import { parseArgs } from "node:util"
import { dictionary } from "../../apimachinery/dictionary.ts"
import type { Json, KubeObject } from "../../apimachinery/object.ts"
import { printYaml } from "../../apimachinery/schema/yaml/print.ts"
import { createHttpClient } from "../../client/http/client.ts"
import { loadKubeconfig } from "../../client/credentials/kubeconfig.ts"
import { serviceAccounts, virtualClusters } from "../../client/resources.ts"
import { UsageError, UserError, type Command } from "../command.ts"
import { type Flags, integerFlag, parseFlags, printFlags } from "../flags.ts"
import { withProgress } from "../progress.ts"
import {
  connect,
  type Connection,
  connectionFlags,
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

const flagTypes = {
  ...connectionFlags,
  "cluster-version": {
    type: "string",
    default: "default",
    takes: "NAME",
    help: "create: ClusterVersion of the tenant",
  },
  timeout: {
    type: "string",
    default: "60",
    takes: "SECONDS",
    help: "create, delete: how long to wait until the tenant is ready, or gone",
  },
  output: {
    type: "string",
    short: "o",
    takes: "FILE",
    help: "kubeconfig: write to this file, readable by its owner only (default: standard output)",
  },
  "service-account": {
    type: "string",
    default: "default/default",
    takes: "NAMESPACE/NAME",
    help: "token: service account of the tenant",
  },
  duration: { type: "string", default: "3600", takes: "SECONDS", help: "token: how long it is valid, 600 or more" },
  audience: {
    type: "string",
    multiple: true,
    takes: "NAME",
    help: "token: who accepts it; may be repeated (default: the tenant's API server)",
  },
} as const satisfies Flags

const help = `usage: polyplane tenant create NAME [--cluster-version NAME] [--timeout SECONDS]
       polyplane tenant list
       polyplane tenant get NAME
       polyplane tenant delete NAME [--timeout SECONDS]
       polyplane tenant kubeconfig NAME [--output FILE]
       polyplane tenant token NAME [--service-account NAMESPACE/NAME] [--duration SECONDS] [--audience NAME]

A tenant is a VirtualCluster object in the super cluster. "create" waits until the tenant is ready. With a local
"polyplane up" it writes the kubeconfig to DIR/tenants/NAME.kubeconfig. "token" prints a JWT of a service account
of the tenant.

${printFlags(flagTypes)}`

type TenantFlags = NonNullable<ReturnType<typeof parseTenantFlags>>["values"]

function parseTenantFlags(args: string[]) {
  return parseFlags({ help }, args, flagTypes)
}

/** What the flags say. Checked before the first request, so that a wrong value changes nothing. */
interface Wanted {
  namespace: string | undefined
  clusterVersion: string
  timeoutMs: number
  output: string | undefined
  account: { namespace: string; name: string }
  durationSeconds: number
  audiences: string[]
}

interface Call extends Wanted {
  connection: Connection
  /** Tells what is being waited for, if it takes long. */
  say: (detail: string) => void
}

interface Action {
  run(call: Call, name: string): Promise<void>
  /** Beside those of the connection. */
  flags: readonly (keyof typeof flagTypes)[]
  withoutName?: boolean
  /** What it does, for its progress. */
  doing: string
}

const actions: Record<string, Action> = dictionary({
  create: { run: create, flags: ["cluster-version", "timeout"], doing: "creating tenant" },
  list: { run: list, flags: [], withoutName: true, doing: "listing tenants" },
  get: { run: get, flags: [], doing: "reading tenant" },
  delete: { run: remove, flags: ["timeout"], doing: "deleting tenant" },
  kubeconfig: { run: kubeconfig, flags: ["output"], doing: "reading the kubeconfig of tenant" },
  token: { run: token, flags: ["service-account", "duration", "audience"], doing: "requesting a token of tenant" },
})

export const tenant: Command = {
  help,
  async run(args) {
    const parsed = parseTenantFlags(args)
    if (parsed === undefined) return 0
    const [verb = "", ...names] = parsed.positionals
    const action = actions[verb]
    if (action === undefined) {
      const known = `known are ${Object.keys(actions).join(", ")}`
      throw new UsageError(
        verb === ""
          ? `polyplane tenant needs a subcommand; ${known}`
          : `there is no "polyplane tenant ${verb}"; ${known}`,
      )
    }
    checkArguments(verb, action, args, names)
    const wanted = readWanted(parsed.values)
    const [name = ""] = names
    await withProgress(name === "" ? action.doing : `${action.doing} "${name}"`, async (say) => {
      await using connection = await connect(parsed.values)
      try {
        await action.run({ ...wanted, connection, say }, name)
      } catch (error) {
        throw connection.explain(error)
      }
    })
    return 0
  },
}

/** Throws a UsageError for names and flags that the subcommand does not take. */
function checkArguments(verb: string, { flags, withoutName }: Action, args: string[], names: string[]): void {
  const [name, ...more] = withoutName === true ? [undefined, ...names] : names
  if (withoutName !== true && (name ?? "") === "")
    throw new UsageError(`polyplane tenant ${verb} needs the tenant's name`)
  if (more.length > 0) throw new UsageError(`too many arguments: ${more.join(" ")}`)
  const own = new Set<string>([...Object.keys(connectionFlags), ...flags])
  const { tokens } = parseArgs({ args, options: flagTypes, allowPositionals: true, tokens: true })
  for (const token of tokens)
    if (token.kind === "option" && !own.has(token.name))
      throw new UsageError(`polyplane tenant ${verb} has no flag --${token.name}`)
}

function readWanted(flags: TenantFlags): Wanted {
  const [namespace = "", name = "", ...more] = flags["service-account"].split("/")
  if (namespace === "" || name === "" || more.length > 0)
    throw new UsageError(`--service-account must be NAMESPACE/NAME, not "${flags["service-account"]}"`)
  return {
    namespace: flags.namespace,
    clusterVersion: flags["cluster-version"],
    timeoutMs: integerFlag("timeout", flags.timeout, 1, 3600) * 1000,
    output: flags.output,
    account: { namespace, name },
    durationSeconds: integerFlag("duration", flags.duration, 600, 2 ** 32),
    audiences: flags.audience ?? [],
  }
}

async function create(call: Call, name: string): Promise<void> {
  const { connection, say, namespace = "default", clusterVersion, timeoutMs } = call
  const { client, dataDir } = connection
  const made = await createVirtualCluster(client, namespace, name, clusterVersion)
  const cluster = await waitForVirtualCluster(
    client,
    namespace,
    name,
    timeoutMs,
    (object) => {
      if (object === undefined) throw new UserError(`tenant "${name}" was deleted while it was being created`)
      say(object.status?.message ?? object.status?.phase ?? "")
      return object.status?.phase === "Running" || isRefused(object) ? object : undefined
    },
    "ready",
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

async function list({ namespace, connection }: Call): Promise<void> {
  const { items } = await connection.client.list<VirtualCluster>(
    virtualClusters,
    namespace === undefined ? {} : { namespace },
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

async function get({ namespace = "default", connection }: Call, name: string): Promise<void> {
  process.stdout.write(printYaml((await getVirtualCluster(connection.client, namespace, name)) as unknown as Json))
}

async function remove({ namespace = "default", timeoutMs, connection, say }: Call, name: string): Promise<void> {
  const { client, dataDir } = connection
  const found = await getVirtualCluster(client, namespace, name)
  await removeVirtualCluster(client, found)
  // A VirtualCluster with this name may be created again at once.
  say("waiting until it is gone")
  const isGone = (object: VirtualCluster | undefined) =>
    object?.metadata.uid === found.metadata.uid ? undefined : true
  await waitForVirtualCluster(client, namespace, name, timeoutMs, isGone, "gone")
  if (dataDir !== undefined) await removeKubeconfig(dataDir, name)
  process.stdout.write(`tenant "${name}" deleted\n`)
}

async function kubeconfig({ connection, namespace = "default", output }: Call, name: string): Promise<void> {
  const text = await readKubeconfig(connection.client, await getVirtualCluster(connection.client, namespace, name))
  if (output === undefined) process.stdout.write(text)
  else await writeOutput(output, text)
}

interface TokenRequest extends KubeObject {
  spec: { audiences: string[]; expirationSeconds: number }
  status?: { token: string; expirationTimestamp: string }
}

async function token(call: Call, name: string): Promise<void> {
  const { connection, namespace = "default", account, durationSeconds, audiences } = call
  const text = await readKubeconfig(connection.client, await getVirtualCluster(connection.client, namespace, name))
  await using client = createHttpClient(await loadKubeconfig(text))
  const request: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: account,
    spec: { audiences, expirationSeconds: durationSeconds },
  }
  const answer = await client.create(serviceAccounts, request, { subresource: "token" })
  if (answer.status === undefined) throw new UserError("the response of the tenant's API contains no token")
  process.stdout.write(`${answer.status.token}\n`)
}
