// polyplane: the command line, and the only place that composes the parts. Each subcommand is a value in the list below.
// Subcommands are loaded on demand, so that `polyplane tenant list` does not load a whole gateway.

import { readFile } from "node:fs/promises"
import { dictionary } from "../apimachinery/dictionary.ts"
import { UsageError, UserError, type Command } from "./command.ts"

const commands: Record<string, { summary: string; load(): Promise<Command> }> = dictionary({
  up: {
    summary: "run all parts in one process: gateway, controllers, syncer, vn-agents, operator",
    load: async () => (await import("./up/command.ts")).up,
  },
  tenant: {
    summary: "create, list, get, delete tenants; print their kubeconfigs and tokens",
    load: async () => (await import("./tenant/command.ts")).tenant,
  },
  gateway: {
    summary: "run only the gateway, with the controllers of its tenants",
    load: async () => (await import("./parts/gateway.ts")).gateway,
  },
  syncer: { summary: "run only the syncer", load: async () => (await import("./parts/syncer.ts")).syncer },
  "vn-agent": {
    summary: "run only the vn-agent of one node",
    load: async () => (await import("./parts/vn-agent.ts")).vnAgent,
  },
  operator: { summary: "run only the operator", load: async () => (await import("./parts/operator.ts")).operator },
  check: {
    summary: "check the consistency of a data directory or of etcd",
    load: async () => (await import("./check.ts")).check,
  },
})

const help = `polyplane: thousands of Kubernetes control planes in one process

usage: polyplane COMMAND [FLAGS]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join("\n")}

Use "polyplane COMMAND --help" for the flags of a command, and "polyplane --version" for the version.
`

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === "help" && rest[0] !== undefined) return main([rest[0], "--help"])
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    process.stdout.write(help)
    return name === undefined ? 2 : 0
  }
  if (name === "version" || name === "--version") {
    process.stdout.write(`${await version()}\n`)
    return 0
  }
  const command = commands[name]
  if (command === undefined) throw new UsageError(`there is no command "${name}"`)
  return (await command.load()).run(rest)
}

/** What a report of a fault should contain. */
async function version(): Promise<string> {
  const { versionInfo } = await import("../gateway/endpoints/version.ts")
  const { version: own } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string
  }
  return `polyplane ${own}, Kubernetes API ${versionInfo.gitVersion.split("+")[0]}, Node ${process.version}`
}

/** Of a file or a connection that the user has named: the system's message says which, and why. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error
}

// A closed pipe (`| head`) is not an error of polyplane, and neither it nor a full disk is a reason to end the process.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return
  process.exitCode = 1
  process.stderr.write(`polyplane: the output cannot be written: ${error.message}\n`)
})
// There is no other place to tell it.
process.stderr.on("error", () => undefined)

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    const [name = ""] = process.argv.slice(2)
    const about = commands[name] === undefined ? "" : `${name} `
    process.stderr.write(`polyplane: ${error.message}\nTry: polyplane ${about}--help\n`)
    process.exitCode = 2
  } else if (error instanceof UserError || isSystemError(error)) {
    process.stderr.write(`polyplane: ${error.message}\n`)
    process.exitCode = 1
  } else {
    process.stderr.write(`polyplane: internal error: ${error instanceof Error ? error.stack : String(error)}\n`)
    process.exitCode = 70
  }
}
