// The Go tool as the build uses it: what is missing or of another version, and making it.

import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import path from "node:path"
import { run } from "../../harness/processes.ts"
import { binaryPath } from "./cache.ts"
import { UnavailableError } from "./unavailable.ts"
import { ownModule, versionFlags, type Part, type Program } from "./parts.ts"

/** A cold build of the largest program takes minutes on a small machine. */
const buildTimeoutMs = 60 * 60_000
const quickTimeoutMs = 60_000

/** What Go says when it cannot get a module. A hash that is not go.sum's is another matter. */
const outOfReach = /: Get "https?:\/\/|dial tcp|module lookup disabled by/

/** Static: some of the programs go into images without a libc. Versions and hashes are those of go.mod and go.sum only. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "-buildvcs=false -mod=readonly" }
}

/** Why nothing can be built here; undefined when Go is there. */
export async function missingGo(): Promise<string | undefined> {
  try {
    const { code } = await run("go", ["version"], { timeoutMs: quickTimeoutMs })
    return code === 0 ? undefined : "go does not run"
  } catch {
    return "go is not installed (1.26 or newer is needed to build the real components)" // ENOENT
  }
}

/** Of these programs, those that are absent or were built from another version than go.mod names. */
export async function outdated(part: Part): Promise<Program[]> {
  const present = part.programs.filter(({ name }) => existsSync(binaryPath(name)))
  if (present.length === 0) return [...part.programs]
  const goMod = await readFile(path.join(part.folder, "go.mod"), "utf8")
  const files = present.map(({ name }) => binaryPath(name))
  const { stdout } = await run("go", ["version", "-m", ...files], { timeoutMs: quickTimeoutMs })
  const built = parseBuildInfo(stdout)
  const isCurrent = async ({ name, module }: Program): Promise<boolean> => {
    const found = built.get(binaryPath(name))
    if (found === undefined || found.module !== module) return false
    if (module === ownModule(part.name)) return isNewerThan(binaryPath(name), part.folder)
    return found.version === pinnedVersion(goMod, module)
  }
  const current = await Promise.all(part.programs.map(isCurrent))
  return part.programs.filter((_, index) => current[index] !== true)
}

async function isNewerThan(file: string, folder: string): Promise<boolean> {
  const { mtimeMs: builtAt } = await stat(file)
  const names = await readdir(folder, { recursive: true })
  const times = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).mtimeMs))
  return times.every((time) => time <= builtAt)
}

/** Of `go version -m`: per file its module and the version it was made of, the replacing one where it was replaced. */
export function parseBuildInfo(text: string): Map<string, { module: string; version: string }> {
  const found = new Map<string, { module: string; version: string }>()
  let file = ""
  let line = ""
  for (const next of text.split("\n")) {
    const previous = line
    line = next
    if (!next.startsWith("\t")) file = next.slice(0, next.lastIndexOf(":"))
    const [, kind, module = "", version = ""] = next.split("\t")
    if (kind === "mod") found.set(file, { module, version })
    const main = found.get(file)
    if (kind === "=>" && previous.startsWith("\tmod\t") && main !== undefined) main.version = version
  }
  return found
}

/** The version go.mod names for a module, the replacing one where it is replaced. */
export function pinnedVersion(goMod: string, module: string): string | undefined {
  const name = module.replaceAll(/[.]/g, "\\.")
  const replaced = goMod.match(new RegExp(`^(?:replace )?\\s*${name} => \\S+ (v\\S+)`, "m"))
  const required = goMod.match(new RegExp(`^(?:require )?\\s*${name} (v\\S+)`, "m"))
  return (replaced ?? required)?.[1]
}

/** Puts the program into the cache, whole or not at all. */
export async function build(part: Part, program: Program): Promise<void> {
  const file = binaryPath(program.name)
  const partial = `${file}.${process.pid}`
  await mkdir(path.dirname(file), { recursive: true })
  const command = program.isTest === true ? ["test", "-c"] : ["build"]
  const tags = program.tags === undefined ? [] : ["-tags", program.tags]
  const linker = ["-trimpath", "-ldflags", `-s -w ${versionFlags()}`]
  try {
    const { code, stderr } = await run("go", [...command, ...tags, ...linker, "-o", partial, program.package], {
      cwd: part.folder,
      env: environment(),
      timeoutMs: buildTimeoutMs,
    })
    if (code !== 0) {
      const what = `go ${command.join(" ")} ${program.package} failed:\n${stderr.trimEnd()}`
      throw outOfReach.test(stderr) ? new UnavailableError(what) : new Error(what)
    }
    await rename(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
}
