import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { silentLog } from "../../client/log.ts"
import { openAuditLog } from "./audit-log.ts"

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), "polyplane-audit-"))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

test("appends lines, readable by the owner only, and continues in a new file after SIGHUP", async () => {
  const file = path.join(await folder(), "audit.log")
  for (const verb of ["create", "get"]) {
    await using audit = openAuditLog(file, silentLog)
    audit.log.info({ verb }, "audit")
  }
  const linesOf = async (name: string) =>
    (await readFile(name, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string
  expect(await linesOf(file)).toEqual([
    { level: "info", time, verb: "create", msg: "audit" },
    { level: "info", time, verb: "get", msg: "audit" },
  ])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await using audit = openAuditLog(file, silentLog)
  await rename(file, `${file}.1`)
  process.emit("SIGHUP", "SIGHUP")
  audit.log.info({ verb: "list" }, "audit")
  expect(await linesOf(file)).toMatchObject([{ verb: "list" }])
  expect(await linesOf(`${file}.1`)).toHaveLength(2)
})

test("reports a file that cannot be opened", async () => {
  const file = path.join(await folder(), "none", "audit.log")
  expect(() => openAuditLog(file, silentLog)).toThrow(/^the audit log cannot be opened: ENOENT.*audit\.log/)
})

/** The errors that are logged. */
function errors() {
  const told: unknown[] = []
  return { told, log: { ...silentLog, error: (fields: object) => void told.push(fields) } }
}

test("goes on in the open file if the new one cannot be opened", async () => {
  const there = path.join(await folder(), "there")
  await mkdir(there)
  const { told, log } = errors()
  await using audit = openAuditLog(path.join(there, "audit.log"), log)
  await rename(there, `${there}.1`)
  process.emit("SIGHUP", "SIGHUP")
  audit.log.info({ verb: "list" }, "audit")
  expect(told).toEqual([{ error: expect.stringContaining("ENOENT") as string }])
  expect(await readFile(path.join(`${there}.1`, "audit.log"), "utf8")).toContain('"list"')
})

test.runIf(existsSync("/dev/full"))("a full disk is logged and fails nothing", async () => {
  const { told, log } = errors()
  await using audit = openAuditLog("/dev/full", log)
  for (let line = 0; line < 3; line++) audit.log.info({ verb: "list" }, "audit")
  const full = { error: "ENOSPC: no space left on device, write" }
  expect(told).toEqual([full, full, full])
})
