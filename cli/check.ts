// polyplane check: verifies the consistency of the stores in a data directory or in etcd.

import { checkDataDirectory, type CheckedStore } from "../gateway/stores/check-data-directory.ts"
import type { EtcdStorageOptions } from "../gateway/stores/etcd-storage.ts"
import { StartError } from "../gateway/start-error.ts"
import { UsageError, UserError, type Command } from "./command.ts"
import { parseFlags, printFlags } from "./flags.ts"
import { withProgress } from "./progress.ts"
import { etcdOfFlags, storageFlags } from "./storage.ts"

const flagTypes = {
  "data-dir": { type: "string", default: ".polyplane", takes: "DIR", help: "data directory to check" },
  ...storageFlags,
} as const

const help = `usage: polyplane check [FLAGS]

Reads every store and reports inconsistencies. Does not change tenant data. Exits with 1 if it finds faults. A data directory
must not be in use by another process; an etcd may be in use by gateways.

${printFlags(flagTypes)}`

export const check: Command = {
  help,
  async run(args) {
    const parsed = parseFlags({ help }, args, flagTypes)
    if (parsed === undefined) return 0
    const { values: flags, positionals } = parsed
    if (positionals.length > 0)
      throw new UsageError(`polyplane check takes no arguments, but got "${positionals.join(" ")}"`)
    const etcd = await etcdOfFlags(flags)
    const { stores, faults } = await withProgress("checking", async (say) =>
      checkAll(await checkOf(flags["data-dir"], etcd), say),
    )
    const found = faults === 0 ? "no faults" : counted(faults, "fault")
    process.stdout.write(`${counted(stores, "store")}, ${found}\n`)
    return faults === 0 ? 0 : 1
  },
}

async function checkOf(dataDir: string, etcd: EtcdStorageOptions | undefined): Promise<AsyncIterable<CheckedStore>> {
  if (etcd === undefined) return checkDataDirectory(dataDir)
  const { checkEtcd } = await import("../gateway/stores/check-etcd.ts")
  return checkEtcd(etcd)
}

/** Prints faults as they are found. */
async function checkAll(
  checked: AsyncIterable<CheckedStore>,
  say: (detail: string) => void,
): Promise<{ stores: number; faults: number }> {
  const total = { stores: 0, faults: 0 }
  try {
    for await (const { name, faults } of checked) {
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
