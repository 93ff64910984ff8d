// polyplane check: are the stores of a data directory what they should be?

import { checkDataDirectory } from "../gateway/tenancy/check-data-directory.ts"
import { StartError } from "../gateway/options.ts"
import { parseFlags, UsageError, UserError, type Command } from "./command.ts"
import { withProgress } from "./progress.ts"

const help = `usage: polyplane check [--data-dir DIR]

Reads every store of a data directory that no process has open and tells what is inconsistent. Changes nothing of what
tenants have. Exits with 1 when there are faults.

  --data-dir DIR  default .polyplane
`

export const check: Command = {
  name: "check",
  summary: "check the consistency of a data directory that no process has open",
  help,
  async run(args) {
    const parsed = parseFlags({ help }, args, { "data-dir": { type: "string", default: ".polyplane" } })
    if (parsed === undefined) return 0
    const { values: flags, positionals } = parsed
    if (positionals.length > 0)
      throw new UsageError(`polyplane check takes no arguments, but got "${positionals.join(" ")}"`)
    const { stores, faults } = await withProgress("checking", (say) => checkAll(flags["data-dir"], say))
    const found = faults === 0 ? "no faults" : counted(faults, "fault")
    process.stdout.write(`${counted(stores, "store")}, ${found}\n`)
    return faults === 0 ? 0 : 1
  },
}

/** Faults are told as they are found. */
async function checkAll(dataDir: string, say: (detail: string) => void): Promise<{ stores: number; faults: number }> {
  const total = { stores: 0, faults: 0 }
  try {
    for await (const { name, faults } of checkDataDirectory(dataDir)) {
      for (const fault of faults) process.stdout.write(`${name}: ${fault}\n`)
      total.stores++
      total.faults += faults.length
      say(counted(total.stores, "store"))
    }
  } catch (error) {
    throw error instanceof StartError ? new UserError(error.message, { cause: error }) : error
  }
  return total
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`
}
