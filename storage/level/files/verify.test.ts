// A bit of a store's files that is not as it was written, and a log that was cut: the store is refused, or has all that it had. It
// neither lacks anything, nor ends the process.

import { randomBytes } from "node:crypto"
import { appendFile, cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { chance, createRandom, pick, type Random, seeds } from "../../../apimachinery/testing/random.ts"
import { hasCode } from "../../types.ts"
import { checkDirectory } from "../check.ts"
import { openLevelStore } from "../store.ts"

let parent = ""
let directory = ""
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "polyplane-verify-"))
  directory = join(parent, "store")
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const limits = { writeBufferBytes: 64 * 1024 }
type Content = ReadonlyMap<string, Buffer>

/** Some values are longer than a block of a log; some do not become shorter when they are compressed. */
function valueOf(random: Random): Buffer {
  const bytes = chance(random, 0.1) ? random(80_000) : random(2000)
  return chance(random, 0.5) ? randomBytes(bytes) : Buffer.from(`{"key":"${"value ".repeat(bytes / 6)}"}`)
}

async function fill(random: Random): Promise<Content> {
  const content = new Map<string, Buffer>()
  for (let opening = random(4); opening >= 0; opening--) {
    await using store = await openLevelStore({ directory, limits })
    for (let write = random(150); write >= 0; write--) {
      const key = `/registry/${random(100)}`
      const isPut = !content.has(key) || chance(random, 0.8)
      const value = valueOf(random)
      await store.txn({ compare: [], operations: [isPut ? { type: "put", key, value } : { type: "delete", key }] })
      if (isPut) content.set(key, value)
      else content.delete(key)
    }
    if (chance(random, 0.3)) await store.compact(1 + random(store.revision))
  }
  return content
}

/** Returns what it has changed. */
async function damage(random: Random, copy: string): Promise<string> {
  const files = (await readdir(copy)).filter((name) => /\.log$|\.ldb$|^MANIFEST|^CURRENT$/.test(name))
  const name = pick(random, files)
  const content = await readFile(join(copy, name))
  if (content.length === 0) return `${name} is empty`
  if (name.endsWith(".log") && chance(random, 0.5)) {
    const length = chance(random, 0.3) ? 0 : random(content.length)
    await truncate(join(copy, name), length)
    return `${name}: cut to ${length} of ${content.length}`
  }
  const [at, bit] = [random(content.length), 1 << random(8)]
  content[at]! ^= bit
  await writeFile(join(copy, name), content)
  return `${name}: bit ${bit} at ${at} of ${content.length}`
}

/** What a process leaves that is killed. */
async function giveSpace(random: Random, copy: string): Promise<void> {
  for (const name of await readdir(copy))
    if (name.endsWith(".log")) await appendFile(join(copy, name), Buffer.alloc(random(40_000)))
}

async function faultsOf(copy: string, content: Content): Promise<readonly string[]> {
  try {
    await using store = await openLevelStore({ directory: copy, limits })
    const { items } = await store.range("/registry/")
    const found = new Map(items.map(({ key, value }) => [key, Buffer.from(value)]))
    const faults = [...content].flatMap(([key, value]) => {
      const other = found.get(key)
      return other?.equals(value) === true
        ? []
        : [`${key}: ${other === undefined ? "is missing" : "has another value"}`]
    })
    return found.size > content.size ? [...faults, "there is more than was written"] : faults
  } catch (error) {
    if (hasCode(error, "Corrupt") || hasCode(error, "Unavailable")) return []
    throw error
  }
}

test.each(seeds(4))("seed %i", async (seed) => {
  const random = createRandom(seed)
  const content = await fill(random)
  for (let time = 0; time < 15; time++) {
    const copy = join(parent, `copy-${time}`)
    await cp(directory, copy, { recursive: true })
    // It moves what is in the log to a table.
    if (time % 2 === 0) expect(await checkDirectory(copy)).toEqual([])
    if (chance(random, 0.5)) await giveSpace(random, copy)
    const done = await damage(random, copy)
    expect(await faultsOf(copy, content), `SEED=${seed}, ${done}`).toEqual([])
    await rm(copy, { recursive: true })
  }
})

describe("what is refused", () => {
  async function flip(type: RegExp, at: number): Promise<string> {
    const name = (await readdir(directory)).find((each) => type.test(each)) ?? ""
    const content = await readFile(join(directory, name))
    content[at]! ^= 1
    await writeFile(join(directory, name), content)
    return name
  }

  test.each([/\.log$/, /\.ldb$/])("names the file: %s", async (type) => {
    for (let opening = 0; opening < 2; opening++) {
      await using store = await openLevelStore({ directory, limits })
      await store.txn({ compare: [], operations: [{ type: "put", key: "/a", value: Buffer.from("value") }] })
    }
    const name = await flip(type, 20)
    const message = expect.stringContaining(`store ${directory} is damaged: ${name}: its `)
    await expect(openLevelStore({ directory })).rejects.toMatchObject({ code: "Corrupt", message })
    await expect(checkDirectory(directory)).rejects.toMatchObject({ code: "Corrupt", message })
    await flip(type, 20)
    expect(await checkDirectory(directory)).toEqual([])
  })

  // The length of the last record: LevelDB would take it for one that was not written completely.
  test("names a manifest of which only the last record seems to be cut", async () => {
    for (let opening = 0; opening < 2; opening++) {
      await using store = await openLevelStore({ directory, limits })
      await store.txn({ compare: [], operations: [{ type: "put", key: "/a", value: Buffer.from("value") }] })
    }
    const name = (await readdir(directory)).find((each) => each.startsWith("MANIFEST")) ?? ""
    const content = await readFile(join(directory, name))
    let last = 0
    for (let at = 0; at < content.length; at += 7 + content.readUInt16LE(at + 4)) last = at
    content[last + 5]! ^= 16
    await writeFile(join(directory, name), content)
    const message = expect.stringContaining(`store ${directory} is damaged: ${name}: its record at ${last} `)
    await expect(openLevelStore({ directory })).rejects.toMatchObject({ code: "Corrupt", message })
    await expect(checkDirectory(directory)).rejects.toMatchObject({ code: "Corrupt", message })
  })

  test("is not a table that belongs to no database, nor one that was verified", async () => {
    const verified = new Map<string, number>()
    for (let opening = 0; opening < 2; opening++) {
      await using store = await openLevelStore({ directory, limits, verified })
      await store.txn({ compare: [], operations: [{ type: "put", key: "/a", value: Buffer.from("value") }] })
    }
    await writeFile(join(directory, "000777.ldb"), "begun")
    {
      await using _store = await openLevelStore({ directory, limits, verified })
    }
    expect(verified.get(directory)).toBeGreaterThan(0)
    const before = verified.get(directory)!
    await using _store = await openLevelStore({ directory, limits, verified })
    expect(verified.get(directory)).toBeGreaterThan(before)
  })
})
