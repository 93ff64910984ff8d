import { execFileSync, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"

const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MALLOC_")))
let directory: string
let program: string

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-allocator-"))
  program = path.join(directory, "program.mts")
  const settings = "{ arguments: process.argv.slice(2), flags: process.execArgv, arenas: process.env.MALLOC_ARENA_MAX }"
  const report = `if (process.send) process.send(${settings}); else console.log(JSON.stringify(${settings}))`
  await writeFile(program, `import ${JSON.stringify(path.resolve("cli/runtime/allocator.mjs"))}\n${report}\n`)
})
afterAll(() => rm(directory, { recursive: true }))

function run(env: NodeJS.ProcessEnv): unknown {
  const output = execFileSync(process.execPath, ["--max-semi-space-size=32", program, "a b", "--c"], { env })
  return JSON.parse(output.toString())
}

const isLinux = process.platform === "linux"
const same = { arguments: ["a b", "--c"], flags: ["--max-semi-space-size=32"] }

test("a process restarts itself with the allocator's settings, its arguments and its flags", () => {
  expect(run(bare)).toEqual({ ...same, ...(isLinux ? { arenas: "2" } : {}) })
})

test("settings of the environment are kept", () => {
  expect(run({ ...bare, MALLOC_ARENA_MAX: "7" })).toEqual({ ...same, arenas: "7" })
})

test("a process with a channel to its parent keeps it", async () => {
  const child = fork(program, ["a b", "--c"], { env: bare, execArgv: ["--max-semi-space-size=32"] })
  const [message] = (await once(child, "message")) as [unknown]
  expect(message).toEqual(same)
})
