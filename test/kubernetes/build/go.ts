// The Go toolchain of the build: determines programs that are missing or outdated, and builds them.

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

/** Go's messages when it cannot download a module. A mismatch with a hash of go.sum is a different error. */
const outOfReach = /: Get "https?:\/\/|dial tcp|module lookup disabled by/

/**
 * Static linking, since some of the programs go into images without a libc. Versions and hashes come only from go.mod and go.sum.
 */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "-buildvcs=false -mod=readonly" }
}

/** Why nothing can be built here; undefined if Go is installed. */
export async function missingGo(): Promise<string | undefined> {
  try {
    const { code } = await run("go", ["version"], { timeoutMs: quickTimeoutMs })
    return code === 0 ? undefined : "go does not run"
  } catch {
    return "go is not installed (1.26 or newer is needed to build the real components)" // ENOENT
  }
}

/** Returns the programs that are missing or were built from another version than that in go.mod. */
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

/** Parses `go version -m`: for each file its module and version, considering replacements. */
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

/** The version of a module in go.mod, considering replacements. */
export function pinnedVersion(goMod: string, module: string): string | undefined {
  const name = module.replaceAll(/[.]/g, "\\.")
  const replaced = goMod.match(new RegExp(`^(?:replace )?\\s*${name} => \\S+ (v\\S+)`, "m"))
  const required = goMod.match(new RegExp(`^(?:require )?\\s*${name} (v\\S+)`, "m"))
  return (replaced ?? required)?.[1]
}

/** Builds the program into the cache, atomically. */
export async function build(part: Part, program: Program): Promise<void> {
  const file = binaryPath(program.name)
  const partial = `${file}.${process.pid}`
  await mkdir(path.dirname(file), { recursive: true })
  const command = program.isTest === true ? ["test", "-c", "-vet=off"] : ["build"]
  const tags = program.tags === undefined ? [] : ["-tags", program.tags]
  // What debuggers read is stripped anyway: not to make it takes a tenth less.
  const flags = ["-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", `-s -w ${versionFlags()}`]
  try {
    const { code, stderr } = await run("go", [...command, ...tags, ...flags, "-o", partial, program.package], {
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
