import { existsSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { invalid } from "../../apimachinery/status.ts"
import { run } from "../../test/harness/processes.ts"
import { printError } from "./log.ts"

const module = JSON.stringify(path.join(import.meta.dirname, "log.ts"))

test("a line has its level and time as texts", async () => {
  const program = `import { createLog } from ${module}; createLog("info", 2).warn({ tenant: "demo", lease: undefined }, "lost")`
  const { stderr } = await run(process.execPath, ["--input-type=module", "-e", program])
  expect(stderr.endsWith("\n")).toBe(true)
  expect(JSON.parse(stderr)).toEqual({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    pid: expect.any(Number) as number,
    hostname: expect.any(String) as string,
    worker: 2,
    tenant: "demo",
    msg: "lost",
  })
})

test("an error is printed with its message once, its stack and its causes", () => {
  const cause = Object.assign(new Error("connect refused"), { code: "ECONNREFUSED", port: 1 })
  const error = new Error("no answer", { cause })
  const frames = expect.stringMatching(/^at .*log\.test\.ts:\d+:\d+/) as string
  expect(printError(error)).toEqual({
    type: "Error",
    message: "no answer",
    stack: frames,
    cause: { type: "Error", message: "connect refused", code: "ECONNREFUSED", stack: frames },
  })
  const refused = invalid({ group: "", kind: "Pod" }, "a", [])
  expect(Object.keys(printError(refused) as object).sort()).toEqual(["code", "message", "stack", "type"])
  expect(printError("text")).toBe("text")
})

test("a line is short, whatever texts it is asked to contain", async () => {
  const program = `
    import { createLog } from ${module}
    import { forbidden } from ${JSON.stringify(new URL("../../apimachinery/status.ts", import.meta.url).href)}
    const long = "x".repeat(3_000_000)
    const err = forbidden({ group: "", resource: "pods" }, "a", long)
    err.status.details.causes = Array.from({ length: 1_000 }, () => ({ reason: "r", message: long }))
    createLog("info").warn({ error: long, key: { name: "a" }, err }, "failed")
  `
  const { stderr } = await run(process.execPath, ["--input-type=module", "-e", program])
  expect(stderr.length).toBeLessThan(100_000)
  expect(JSON.parse(stderr)).toMatchObject({
    msg: "failed",
    error: `${"x".repeat(2_000)}… (3000000 characters)`,
    key: { name: "a" },
    err: { type: "StatusError" },
  })
})

test.runIf(existsSync("/dev/full"))("a full disk neither ends the process nor fills its memory", async () => {
  const program = `
    import { createLog } from ${module}
    const log = createLog("info")
    const text = "x".repeat(2_000)
    for (let line = 0; line < 20_000; line++) log.info({ text }, String(line))
    gc()
    console.log(process.memoryUsage().heapUsed < 32 * 1024 * 1024)`
  const node = `"${process.execPath}" --expose-gc --input-type=module -e '${program}' 2>/dev/full`
  expect(await run("sh", ["-c", node])).toMatchObject({ code: 0, stdout: "true\n" })
})
