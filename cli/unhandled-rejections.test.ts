import { expect, test } from "vitest"
import { run } from "../test/harness/processes.ts"
import { unhandledRejection } from "./unhandled-rejections.ts"

const program = (then: string): string => `
  import { createLog } from ${JSON.stringify(new URL("log/log.ts", import.meta.url).href)}
  import { logUnhandledRejections } from ${JSON.stringify(new URL("unhandled-rejections.ts", import.meta.url).href)}
  logUnhandledRejections(createLog("info"))
  setImmediate(() => console.log("goes on"))
  ${then}
`
const node = (then: string) => run(process.execPath, ["--input-type=module-typescript", "--eval", program(then)])

test("an unhandled rejection is logged with its stack, and the process continues", async () => {
  const { code, stdout, stderr } = await node(`void Promise.reject(new Error("forgotten"))`)
  expect({ code, stdout }).toEqual({ code: 0, stdout: "goes on\n" })
  const entry = JSON.parse(stderr) as { level: number; msg: string; err: { message: string; stack: string } }
  expect(entry).toMatchObject({ level: "error", msg: unhandledRejection, err: { message: "forgotten" } })
  expect(entry.err.stack).toContain("at ")
})

test("an exception ends the process", async () => {
  const { code, stdout } = await node(`process.nextTick(() => { throw new Error("thrown") })`)
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
})
