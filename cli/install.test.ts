// The npm scripts that run before `npm start` and `npm test`, with real npm and a package that needs no registry.

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { run } from "../test/harness/processes.ts"

const { scripts } = JSON.parse(await readFile(path.join(import.meta.dirname, "..", "package.json"), "utf8")) as {
  scripts: Record<string, string>
}
const installing = "polyplane: installing packages from package-lock.json"
const timeoutMs = 120_000

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-install-"))
  await mkdir(path.join(directory, "cli"))
  await cp(path.join(import.meta.dirname, "install.mjs"), path.join(directory, "cli", "install.mjs"))
  await add("first")
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Creates a package whose lock file contains this one local dependency, and whose scripts load it. */
async function add(name: string): Promise<void> {
  const dependency = path.join(directory, "packages", name)
  await mkdir(dependency, { recursive: true })
  await writeFile(path.join(dependency, "package.json"), JSON.stringify({ name, version: "1.0.0", main: "main.js" }))
  await writeFile(path.join(dependency, "main.js"), `console.log("the package ${name}")\n`)
  const root = { name: "a", version: "1.0.0", dependencies: { [name]: `file:packages/${name}` } }
  const uses = `node -e "require('${name}')"`
  const { prestart = "", pretest = "" } = scripts
  await write("package.json", { ...root, scripts: { prestart, start: uses, pretest, test: uses } })
  const packages = {
    "": root,
    [`packages/${name}`]: { version: "1.0.0" },
    [`node_modules/${name}`]: { resolved: `packages/${name}`, link: true },
  }
  await write("package-lock.json", { name: "a", version: "1.0.0", lockfileVersion: 3, requires: true, packages })
}

const write = (file: string, content: object) => writeFile(path.join(directory, file), JSON.stringify(content))

/** The command that npm runs before the script. */
const install = () => run(process.execPath, ["cli/install.mjs"], { cwd: directory, timeoutMs })
const used = (name: string) => run(process.execPath, ["-e", `require("${name}")`], { cwd: directory })

test.each(["start", "test"])("npm %s without installed packages installs those of the lock file", async (script) => {
  const { code, stdout, stderr } = await run("npm", [script], { cwd: directory, timeoutMs })
  expect(stderr).toContain(installing)
  expect(stdout).toContain("the package first")
  expect(code).toBe(0)
})

test("it reinstalls only when the lock file has changed or the packages are missing", async () => {
  expect(await install()).toMatchObject({ code: 0, stderr: expect.stringContaining(installing) as string })
  expect(await install()).toEqual({ code: 0, stdout: "", stderr: "" })
  await add("second")
  expect(await install()).toMatchObject({ code: 0, stderr: expect.stringContaining(installing) as string })
  expect(await used("second")).toMatchObject({ code: 0 })
  expect(await used("first")).toMatchObject({ code: 1 })
  await rm(path.join(directory, "node_modules"), { recursive: true })
  expect(await install()).toMatchObject({ code: 0, stderr: expect.stringContaining(installing) as string })
  expect(await used("second")).toMatchObject({ code: 0 })
})

test("a failed installation is reported and retried on the next start", async () => {
  const file = path.join(directory, "package-lock.json")
  const lock = await readFile(file, "utf8")
  await writeFile(file, lock.replaceAll("first", "other"))
  const failed = {
    code: 1,
    stderr: expect.stringContaining("polyplane: `npm ci` failed; its message is above.") as string,
  }
  expect(await install()).toMatchObject(failed)
  expect(await install()).toMatchObject(failed)
  await writeFile(file, lock)
  expect(await install()).toMatchObject({ code: 0 })
  expect(await used("first")).toMatchObject({ code: 0 })
})
