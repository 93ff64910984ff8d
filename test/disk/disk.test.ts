// Tests which losses the model of the disk allows, and what a recording of a real program contains; the other suite depends on
// both.

import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createRandom } from "../../apimachinery/testing/random.ts"
import { Disk } from "./disk.ts"
import { rootInode, type Operation } from "./operations.ts"
import { recordingOf } from "./recording.ts"
import { trace, whyNoStrace } from "./strace.ts"

const link = (name: string, inode: number): Operation => ({
  type: "link",
  at: { directory: rootInode, name },
  inode,
  isDirectory: false,
})
const write = (inode: number, offset: number, text: string): Operation => ({
  type: "write",
  inode,
  offset,
  data: Buffer.from(text),
})
const rename = (inode: number, from: string, to: string): Operation => ({
  type: "rename",
  inode,
  from: { directory: rootInode, name: from },
  to: { directory: rootInode, name: to },
})
const flush = (inode: number, before: number): Operation => ({ type: "flush", inode, before })

const zeros = "\0".repeat(511)
const end = "\0".repeat(510)

/** All states after a thousand simulated power losses: file names with contents. */
function statesAfter(operations: readonly Operation[]): Set<string> {
  const random = createRandom(1)
  const disk = new Disk(operations)
  const states = Array.from({ length: 1000 }, () => {
    const { directories, files } = disk.afterPowerLoss(operations.length, random)
    return [...(directories.get(rootInode) ?? [])].map(([name, inode]) => `${name}=${files.get(inode)?.toString()}`)
  })
  return new Set(states.map((state) => state.join(" ")))
}

describe("when power is lost", () => {
  test.each<[string, Operation[], string[]]>([
    ["a file that was not flushed", [link("a", 1), write(1, 0, "x")], ["", "a=", "a=x"]],
    ["a file that was flushed", [link("a", 1), write(1, 0, "x"), flush(1, 2)], ["a=x"]],
    ["what came after the flush began", [link("a", 1), write(1, 0, "x"), flush(1, 1)], ["a=", "a=x"]],
    [
      "writes in any order, with zeros between",
      [link("a", 1), flush(1, 1), write(1, 511, "x"), write(1, 512, "y")],
      ["a=", `a=${zeros}`, `a=${zeros}x`, `a=${zeros}\0y`, `a=${zeros}xy`],
    ],
    [
      "writes to one sector in their order",
      [link("a", 1), flush(1, 1), write(1, 510, "xyz"), write(1, 513, "Z")],
      ["a=", `a=${end}`, `a=${end}x`, `a=${end}xy`, `a=${end}xyz`, `a=${end}\0\0zZ`, `a=${end}xyzZ`],
    ],
    ["half of a write", [link("a", 1), flush(1, 1), write(1, 0, "xyz")], ["a=", "a=x", "a=xy", "a=xyz"]],
    [
      "a name that was changed after its file was flushed",
      [link("a", 1), write(1, 0, "x"), flush(1, 2), rename(1, "a", "b")],
      ["a=x", "b=x"],
    ],
    [
      "a name that was changed before its directory was flushed",
      [link("a", 1), write(1, 0, "x"), flush(1, 2), rename(1, "a", "b"), flush(rootInode, 4)],
      ["b=x"],
    ],
    ["names in their order", [link("a", 1), link("b", 2), link("c", 3)], ["", "a=", "a= b=", "a= b= c="]],
    ["a name before one whose file was flushed", [link("a", 1), link("b", 2), flush(2, 2)], ["a= b="]],
    [
      "a file that was cut",
      [link("a", 1), write(1, 0, "xy"), flush(1, 2), { type: "truncate", inode: 1, size: 1 }],
      ["a=xy", "a=x"],
    ],
  ])("%s", (_, operations, states) => {
    expect([...statesAfter(operations)].toSorted()).toEqual(states.toSorted())
  })
})

const lacking = await whyNoStrace()

describe.skipIf(lacking !== undefined)("a recording", () => {
  let root = ""
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "polyplane-recording-")))
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  const programs: [name: string, program: string, last: string][] = [
    [
      "writeFile, flushed, renamed",
      'await fs.writeFile(at("a"), "x", { flush: true }); await fs.rename(at("a"), at("b"))',
      "b=x",
    ],
    ["writeFile twice", 'await fs.writeFile(at("a"), "xyz"); await fs.writeFile(at("a"), "v")', "a=v"],
    ["at a place", 'const f = await fs.open(at("a"), "w"); await f.write("xyz"); await f.write("v", 1)', "a=xvz"],
    ["appended", 'await fs.writeFile(at("a"), "x"); await fs.appendFile(at("a"), "y")', "a=xy"],
    ["cut", 'await fs.writeFile(at("a"), "xyz"); await fs.truncate(at("a"), 1)', "a=x"],
    [
      "several pieces",
      'const f = await fs.open(at("a"), "w"); await f.writev([Buffer.from("x"), Buffer.from("y")])',
      "a=xy",
    ],
    [
      "removed",
      'await fs.mkdir(at("d")); await fs.writeFile(at("d/a"), "x"); await fs.rm(at("d"), { recursive: true })',
      "",
    ],
    ["bytes of all kinds", 'await fs.writeFile(at("a"), Buffer.from([0, 10, 34, 92, 255]))', 'a=\0\n"\\\ufffd'],
  ]

  test.each(programs)("%s", async (_, program, last) => {
    const folder = await mkdtemp(join(root, "recorded-"))
    const file = join(root, "program.mjs")
    const at = `const at = (name) => ${JSON.stringify(`${folder}/`)} + name`
    await writeFile(file, `import fs from "node:fs/promises"\n${at}\n${program}\n`)
    const events = await trace(process.execPath, [file], { log: join(root, "log"), timeoutMs: 60_000 })
    const operations = recordingOf(folder, events)
    // If everything has been flushed, only the actual state is possible.
    const inodes = operations.flatMap((each) => (each.type === "link" ? [each.inode] : []))
    const flushes = [rootInode, ...inodes].map((inode) => flush(inode, operations.length))
    expect([...statesAfter([...operations, ...flushes])]).toEqual([last])
  })

  test("has flushes, and lines that were said, where they were", async () => {
    const folder = await mkdtemp(join(root, "recorded-"))
    const file = join(root, "program.mjs")
    const path = JSON.stringify(join(folder, "a"))
    await writeFile(
      file,
      `import fs from "node:fs"\nconst f = fs.openSync(${path}, "w"); fs.writeSync(f, "x"); fs.fsyncSync(f); fs.writeSync(1, "told\\n")`,
    )
    const events = await trace(process.execPath, [file], { log: join(root, "log"), timeoutMs: 60_000 })
    expect(recordingOf(folder, events)).toEqual([
      link("a", 1),
      write(1, 0, "x"),
      flush(1, 2),
      { type: "said", line: "told" },
    ])
  })
})
