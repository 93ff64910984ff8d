import { mkdtemp, readFile, rename, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openAuditLog } from "./audit-log.ts"

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), "polyplane-audit-"))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

test("appends lines, readable by the owner only, and continues in a new file after SIGHUP", async () => {
  const file = path.join(await folder(), "audit.log")
  for (const verb of ["create", "get"]) {
    await using audit = openAuditLog(file)
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
  await using audit = openAuditLog(file)
  await rename(file, `${file}.1`)
  process.emit("SIGHUP", "SIGHUP")
  audit.log.info({ verb: "list" }, "audit")
  expect(await linesOf(file)).toMatchObject([{ verb: "list" }])
  expect(await linesOf(`${file}.1`)).toHaveLength(2)
})

test("reports a file that cannot be opened", async () => {
  const file = path.join(await folder(), "none", "audit.log")
  expect(() => openAuditLog(file)).toThrow(/ENOENT.*audit\.log/)
})
