// Verifies the checksums in LevelDB's files before it opens them, since LevelDB as it is built for Node does not: it would skip damaged
// writes in a log, and all that follow in the same block, without a word, and a damaged table ends the process, with all other tenants.
// See docs/decisions/0027.

import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { remember } from "../../../apimachinery/remember.ts"
import { ifThere } from "../../if-there.ts"
import { damaged } from "./damaged.ts"
import { damageIn } from "./log-file.ts"
import { liveFiles, type LiveFiles } from "./manifest.ts"
import { verifyTable } from "./table-file.ts"

/** By directory, the number of the last table that this process has verified: tables never change. */
export type VerifiedTables = Map<string, number>

/** Files that are read at the same time: while one is verified, others come from the disk. */
const readAtATime = 4

/** Beyond this, the directories whose tables were verified longest ago are forgotten, and verified again. */
const mostVerified = 20_000

/** A log that LevelDB is going to read. */
export interface Log {
  name: string
  number: number
  content: Buffer
}

/**
 * Throws Corrupt if the manifest, a log or a table of the database is damaged. What LevelDB itself finds is left to it: a manifest without
 * meaning, missing files. A directory without a database is fine. Returns the logs, oldest first.
 */
export async function verifyFiles(directory: string, verified: VerifiedTables = new Map()): Promise<readonly Log[]> {
  const files = await filesIn(directory)
  if (files === undefined) return []
  const known = verified.get(directory) ?? 0
  const logs: Log[] = []
  // The first fault ends the iteration for all.
  const left = files.values().filter(({ type, number }) => type === "log" || number > known)
  const verifyNext = async (): Promise<void> => {
    for (const { name, number, type } of left) {
      const content = await verifyFile(directory, name, type === "table" ? faultOfTable : faultOfLog)
      if (type === "log" && content !== undefined) logs.push({ name, number, content })
    }
  }
  await Promise.all(Array.from({ length: readAtATime }, verifyNext))
  const last = files.reduce((highest, { type, number }) => (type === "table" ? Math.max(highest, number) : highest), 0)
  if (last > 0) remember(verified, directory, last, mostVerified)
  return logs.toSorted((a, b) => a.number - b.number)
}

async function verifyFile(
  directory: string,
  name: string,
  faultOf: (content: Buffer) => string | undefined,
): Promise<Buffer | undefined> {
  const content = await ifThere(readFile(join(directory, name)))
  if (content !== undefined) refuse(directory, name, faultOf(content))
  return content
}

function refuse(directory: string, name: string, fault: string | undefined): void {
  if (fault !== undefined) throw damaged(directory, `${name}: ${fault}`)
}

interface File {
  name: string
  number: number
  type: "log" | "table"
}

/** The files of the database; others may be left over from what was never completed. */
async function filesIn(directory: string): Promise<readonly File[] | undefined> {
  const manifest = (await ifThere(readFile(join(directory, "CURRENT"))))?.toString("latin1").trim() ?? ""
  const content = manifest.startsWith("MANIFEST-") ? await ifThere(readFile(join(directory, manifest))) : undefined
  if (content === undefined) return undefined
  // LevelDB finds most of it, but not a length that is too long: the record and all that follow would not count.
  refuse(directory, manifest, faultOfLog(content))
  let live: LiveFiles
  try {
    live = liveFiles(content)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  return (await readdir(directory)).flatMap((name): File[] => {
    const [, digits, ending] = /^(\d+)\.(log|ldb|sst)$/.exec(name) ?? []
    const number = Number(digits)
    if (ending === "log") return live.isLive(number) ? [{ name, number, type: "log" }] : []
    return live.tables.has(number) ? [{ name, number, type: "table" }] : []
  })
}

function faultOfLog(content: Buffer): string | undefined {
  const offset = damageIn(content)
  return offset === undefined ? undefined : `its record at ${offset} is damaged`
}

function faultOfTable(content: Buffer): string | undefined {
  try {
    verifyTable(content)
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return error.message
    throw error
  }
}
