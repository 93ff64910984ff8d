import { expect, test } from "vitest"
import { run } from "../test/harness/processes.ts"
import { strayRejection } from "./stray-rejections.ts"

const program = (then: string): string => `
  import { createLog } from ${JSON.stringify(new URL("log.ts", import.meta.url).href)}
  import { surviveStrayRejections } from ${JSON.stringify(new URL("stray-rejections.ts", import.meta.url).href)}
  surviveStrayRejections(createLog("info"))
  setImmediate(() => console.log("goes on"))
  ${then}
`
const node = (then: string) => run(process.execPath, ["--input-type=module-typescript", "--eval", program(then)])

test("a failure that nobody waits for is told with its stack, and ends nothing", async () => {
  const { code, stdout, stderr } = await node(`void Promise.reject(new Error("forgotten"))`)
  expect({ code, stdout }).toEqual({ code: 0, stdout: "goes on\n" })
  const told = JSON.parse(stderr) as { level: number; msg: string; err: { message: string; stack: string } }
  expect(told).toMatchObject({ level: 50, msg: strayRejection, err: { message: "forgotten" } })
  expect(told.err.stack).toContain("at ")
})

test("an exception ends the process", async () => {
  const { code, stdout } = await node(`process.nextTick(() => { throw new Error("thrown") })`)
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
})
