import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const urlOf = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)

/** Loads all parts, and prints whether undici was loaded before and after a CommonJS module has asked for one of its exports. */
const program = `
  import { createRequire } from "node:module"
  await import(${urlOf("runtime.mjs")})
  await import(${urlOf("../up/command.ts")})
  const isLoaded = () => process.moduleLoadList.some((name) => name.includes("undici/undici"))
  const before = isLoaded()
  const type = typeof createRequire(${urlOf("runtime.mjs")})("node:http").WebSocket
  console.log(JSON.stringify({ before, type, after: isLoaded() }))
`

test("the program does not load undici, and packages still can", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
  expect(JSON.parse(stdout)).toEqual({ before: false, type: "function", after: true })
}, 60_000)
