// Common code of the commands that run a single part: configuration file, log, and running until a signal ends it.

import { StartError } from "../../gateway/start-error.ts"
import { aborted } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { UsageError, UserError, type Command } from "../command.ts"
import { filePath, oneOf, optional, readConfig, withDefault, type ConfigOf, type Field } from "../config.ts"
import { parseFlags, printFlags } from "../flags.ts"
import { createLog, logLevels } from "../log/log.ts"
import { logUnhandledRejections } from "../unhandled-rejections.ts"
import { stopSignal } from "../signals.ts"
import { type healthField, HealthServer } from "./health.ts"

/** Fields of every part's configuration file. */
const commonFields = {
  superKubeconfig: optional(filePath),
  logLevel: withDefault(oneOf(...logLevels), "info"),
}

const commonHelp = `  superKubeconfig        kubeconfig of the super cluster (default: the cluster this process runs in)
  logLevel               ${logLevels.join(", ")} (default info); logs go to standard error
`

const flagTypes = {
  config: {
    type: "string",
    takes: "FILE",
    help: "YAML file (required); paths in it are relative to its directory.",
  },
} as const

/** Node fires timers with a longer delay immediately. */
const longestTimerMs = 2 ** 31 - 1

type Fields = Record<string, Field<unknown>>

export interface PartContext {
  log: Log
  metrics: ClientMetrics
  /** Ends when the process is asked to stop. */
  signal: AbortSignal
  /** Replaces the metrics of the clients on the port of the field health. */
  serveMetrics: (print: () => Promise<string>) => void
  /** Disposed in reverse order when the part ends. */
  stack: AsyncDisposableStack
}

interface Part<F extends Fields> {
  name: string
  /** One or two sentences for the help text. */
  description: string
  /** The help for its fields, one line each, in the format of commonHelp. */
  fieldsHelp: string
  fields: F
  /** More help, after the fields. */
  appendix?: string
  /** Resolves when the part is running, with the address to print ("" for none). */
  start(config: ConfigOf<F & typeof commonFields>, context: PartContext): Promise<string>
}

export function partCommand<F extends Fields>(part: Part<F>): Command {
  const help = `usage: polyplane ${part.name} --config FILE

${part.description} Stops on SIGINT or SIGTERM.

${printFlags(flagTypes).trimEnd()} Fields:

${sorted(part.fieldsHelp + commonHelp)}${part.appendix ?? ""}`
  return {
    help,
    async run(args) {
      const parsed = parseFlags({ help }, args, flagTypes)
      if (parsed === undefined) return 0
      if (parsed.positionals.length > 0) {
        throw new UsageError(`polyplane ${part.name} takes no arguments, but got "${parsed.positionals.join(" ")}"`)
      }
      const file = parsed.values.config
      if (file === undefined) throw new UsageError(`polyplane ${part.name} needs --config FILE`)
      const config = await readConfig(file, { ...part.fields, ...commonFields })
      await runPart(part, config)
      return 0
    },
  }
}

/** By the names of fields. Lines that belong to a field follow it, and are indented further. */
function sorted(fieldsHelp: string): string {
  const fields: string[] = []
  for (const line of fieldsHelp.split("\n"))
    if (line.startsWith("   ")) fields.push(`${fields.pop() ?? ""}\n${line}`)
    else if (line !== "") fields.push(line)
  return fields
    .sort()
    .map((field) => `${field}\n`)
    .join("")
}

async function runPart<F extends Fields>(part: Part<F>, config: ConfigOf<F & typeof commonFields>): Promise<void> {
  const signal = stopSignal()
  await using stack = new AsyncDisposableStack()
  // Neither signal handlers nor pauses between attempts keep a process alive, and there may be no open connection.
  const alive = setInterval(() => undefined, longestTimerMs)
  stack.defer(() => clearInterval(alive))
  const { logLevel, health } = config as ConfigOf<typeof commonFields & Partial<typeof healthField>>
  const log = createLog(logLevel)
  logUnhandledRejections(log)
  const metrics = new ClientMetrics()
  // Started first, because probes need to see that the part is waiting for the gateway.
  const server = health === undefined ? undefined : stack.use(await HealthServer.start(health, metrics))
  const serveMetrics = (print: () => Promise<string>) => server?.serveMetrics(print)
  try {
    const where = await part.start(config, { log, metrics, serveMetrics, signal, stack })
    server?.ready()
    process.stdout.write(`polyplane ${part.name} is ready${where === "" ? "" : `: ${where}`}\n`)
  } catch (error) {
    if (signal.aborted && error === signal.reason) return // asked to stop while it was waiting
    throw error instanceof StartError ? new UserError(error.message, { cause: error }) : error
  }
  await aborted(signal)
  log.info({}, "stopping")
}
