// polyplane up: runs all parts in one process with built-in defaults, until a signal ends it.

import { isIP } from "node:net"
import { validateDNS1123Subdomain } from "../../apimachinery/names.ts"
import { aborted } from "../../client/clock.ts"
import { isNetwork } from "../../gateway/backends/networks.ts"
import { StartError } from "../../gateway/start-error.ts"
import { UsageError, UserError, type Command } from "../command.ts"
import { type Flags, integerFlag, parseFlags, printFlags } from "../flags.ts"
import { keepCompiled } from "../runtime/module-loading.mjs"
import { explainSuperCluster } from "../compose/cluster.ts"
import { auditLogHelp } from "../log/audit-log.ts"
import { createLog, isLogLevel, logLevels } from "../log/log.ts"
import { logUnhandledRejections } from "../unhandled-rejections.ts"
import { withProgress } from "../progress.ts"
import { stopSignal } from "../signals.ts"
import { limitFlags, limitsHelp } from "../limits.ts"
import { etcdOfFlags, storageFlags } from "../storage.ts"
import type { AllInOne } from "./all-in-one.ts"
import { ensureTenant } from "./ensure-tenant.ts"
import type { AllInOneOptions } from "./options.ts"
import { verifyTables } from "./verified-tables.ts"
import { linkSuperKubeconfig, renewKubeconfigsPeriodically, writeKubeconfigs } from "./kubeconfigs.ts"

/** More processes than the largest machines have processors would only cost memory. */
const maxWorkers = 64

const flagTypes = {
  "allow-network": {
    type: "string",
    multiple: true,
    default: [],
    takes: "CIDR",
    help: "a network that is not public, such as 10.1.0.0/16, to which webhooks of tenants may lead, and where kubelets of their own nodes may be (default: private networks, if the gateway listens on loopback); may be repeated",
  },
  "audit-log": { type: "string", takes: "FILE", help: auditLogHelp },
  "data-dir": { type: "string", default: ".polyplane", takes: "DIR", help: "directory for all data" },
  port: { type: "string", default: "6443", takes: "PORT", help: "port of the gateway; 0 selects a free port" },
  host: { type: "string", default: "127.0.0.1", takes: "ADDRESS", help: "address to listen on" },
  "advertise-address": {
    type: "string",
    takes: "IP",
    help: "address at which pods of a real super cluster reach the gateway (default: this machine's first address)",
  },
  tenants: {
    type: "string",
    default: "demo",
    takes: "NAMES",
    mayBeEmpty: true,
    help: 'comma-separated tenants to create if they do not exist; "" for none',
  },
  nodes: { type: "string", default: "3", takes: "COUNT", help: "nodes of the simulated super cluster, 1 to 100" },
  workers: {
    type: "string",
    default: "1",
    takes: "COUNT",
    help: `processes that share the tenants, 1 to ${maxWorkers}; with 1 there is a single process`,
  },
  domain: { type: "string", takes: "DOMAIN", help: "also serve tenants at NAME.DOMAIN" },
  "disable-http2-serving": { type: "boolean", default: false, help: "serve HTTP/1.1 only" },
  "super-kubeconfig": {
    type: "string",
    takes: "FILE",
    help: "kubeconfig of a real super cluster (default: a simulated one)",
  },
  ...storageFlags,
  "tenant-idle": {
    type: "string",
    default: "60",
    takes: "SECONDS",
    help: "put a tenant to sleep after this time without use",
  },
  "max-awake": {
    type: "string",
    default: "1000",
    takes: "COUNT",
    help: "maximum number of awake tenants; above it, the least recently used fall asleep",
  },
  limit: {
    type: "string",
    multiple: true,
    default: [],
    takes: "NAME=NUMBER",
    help: "set a limit of the gateway (see below), such as maxStoredObjects=100000; may be repeated",
  },
  "log-level": {
    type: "string",
    default: "warn",
    takes: "LEVEL",
    help: `${logLevels.join(", ")}; logs go to standard error`,
  },
} as const satisfies Flags

const help = `usage: polyplane up [FLAGS]

Runs gateway, controllers, syncer, vn-agents and operator in one process, with a simulated super cluster or a real one
(--super-kubeconfig). Stops on SIGINT or SIGTERM. Acknowledged writes are on disk and available after the next start.

${printFlags(flagTypes)}
${limitsHelp}`

export const up: Command = {
  help,
  async run(args) {
    const started = performance.now()
    const parsed = parseFlags({ help }, args, flagTypes)
    if (parsed === undefined) return 0
    const { values: flags, positionals } = parsed
    if (positionals.length > 0)
      throw new UsageError(`polyplane up takes no arguments, but got "${positionals.join(" ")}"`)
    const options = await optionsOf(flags)
    logUnhandledRejections(options.log)
    await using all = await withProgress("starting", () => start(options))
    const wanted = flags.tenants.split(",").filter((name) => name !== "")
    for (const name of wanted) await ensureTenant(all.superClient, all.gateway.tenants, name)
    const files = await writeKubeconfigs(all.gateway, flags["data-dir"], wanted)
    await linkSuperKubeconfig(flags["data-dir"], flags["super-kubeconfig"])
    // Until here a signal ends the process immediately: the data on disk is always consistent.
    const stop = stopSignal()
    // Both durations are measured from the start of the process, the origin of Node's clock.
    process.stdout.write(
      `polyplane is ready in ${Math.round(performance.now())} ms (${Math.round(performance.now() - started)} ms of it after loading the program): ${all.gateway.url}\n`,
    )
    for (const file of files) process.stdout.write(`  ${file}\n`)
    await all.beginBackground()
    keepCompiled()
    const { superClusterLost } = all.gateway
    const ended = superClusterLost === undefined ? stop : AbortSignal.any([stop, superClusterLost])
    const renewing = renewKubeconfigsPeriodically(all.gateway, flags["data-dir"], { signal: ended, log: options.log })
    await aborted(ended)
    const isAsked = stop.aborted
    options.log.info({}, "stopping")
    await renewing
    await withProgress("stopping", () => all[Symbol.asyncDispose]())
    if (isAsked) return 0
    throw new UserError(
      "etcd did not respond in time, so another polyplane may serve the super cluster now. Start this one again when etcd responds",
    )
  },
}

type UpFlags = NonNullable<ReturnType<typeof parseFlags<typeof flagTypes>>>["values"]

/** Throws UsageError for values that cannot be used. */
async function optionsOf(flags: UpFlags): Promise<AllInOneOptions> {
  const level = flags["log-level"]
  if (!isLogLevel(level)) throw new UsageError(`--log-level must be one of ${logLevels.join(", ")}`)
  const { "advertise-address": advertiseAddress, domain } = flags
  if (advertiseAddress !== undefined && isIP(advertiseAddress) === 0)
    throw new UsageError(`--advertise-address must be an IP address, not "${advertiseAddress}"`)
  if (domain !== undefined && validateDNS1123Subdomain(domain).length > 0)
    throw new UsageError(`--domain must be a DNS name like tenants.example.com, not "${domain}"`)
  const refused = flags["allow-network"].find((given) => !isNetwork(given))
  if (refused !== undefined)
    throw new UsageError(`--allow-network must be a network like 10.1.0.0/16, not "${refused}"`)
  const etcd = await etcdOfFlags(flags)
  const workers = integerFlag("workers", flags.workers, 1, maxWorkers)
  if (workers > 1 && etcd !== undefined)
    throw new UsageError(
      "--workers cannot be used with --storage etcd: start several gateways that share the etcd instead",
    )
  return {
    dataDir: flags["data-dir"],
    host: flags.host,
    port: integerFlag("port", flags.port, 0, 65_535),
    nodes: integerFlag("nodes", flags.nodes, 1, 100),
    workers,
    limits: {
      tenantIdleMs: 1000 * integerFlag("tenant-idle", flags["tenant-idle"], 1, 1_000_000),
      maxAwakeTenants: integerFlag("max-awake", flags["max-awake"], 1, 1_000_000),
      ...limitFlags(flags.limit),
    },
    http2: !flags["disable-http2-serving"],
    allowedNetworks: flags["allow-network"],
    ...(domain === undefined ? {} : { domain }),
    ...(advertiseAddress === undefined ? {} : { advertiseAddress }),
    ...(flags["super-kubeconfig"] === undefined ? {} : { superKubeconfig: flags["super-kubeconfig"] }),
    ...(etcd === undefined ? {} : { etcd }),
    logLevel: level,
    ...(flags["audit-log"] === undefined ? {} : { auditLog: flags["audit-log"] }),
    log: createLog(level),
  }
}

async function start(options: AllInOneOptions): Promise<AllInOne> {
  const verifiedTables = options.etcd === undefined ? verifyTables(options.dataDir, options.log) : undefined
  // Only now, since it is the most of the program: the tables are verified while it loads.
  const { AllInOne } = await import("./all-in-one.ts")
  try {
    return await AllInOne.start({ ...options, ...(verifiedTables === undefined ? {} : { verifiedTables }) })
  } catch (error) {
    if (error instanceof StartError) throw new UserError(error.message, { cause: error })
    throw options.superKubeconfig === undefined ? error : explainSuperCluster(error, options.superKubeconfig)
  }
}
