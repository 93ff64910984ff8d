// `npm run kubernetes:build [-- part…]`: builds the missing real components into the cache, and reports what it does and how long
// it takes. A second run only checks. Exits with 69 if it cannot build: without Go, or without its modules.

import { collect, missingCollection } from "../definitions/collect.ts"
import { cacheFolder } from "./cache.ts"
import { build, missingGo, outdated } from "./go.ts"
import { parts, type Part } from "./parts.ts"
import { installPython, isPythonInstalled } from "./python.ts"
import { UnavailableError, unavailableExitCode } from "./unavailable.ts"

/** Parts that are not built with Go: the Python client, definitions used in the field, and the components for real nodes. */
const python = "python"
const definitions = "definitions"
const images = "images"
const names = [...parts.map(({ name }) => name), python, definitions, images]
const usage = `usage: npm run kubernetes:build [-- PART…]   (default: all)\nparts: ${names.join(", ")}`

interface Work {
  what: string
  run: () => Promise<void>
}

async function workOf(wanted: readonly string[]): Promise<Work[]> {
  const chosen = parts.filter(({ name }) => wanted.includes(name))
  const work = (await Promise.all(chosen.map(programsOf))).flat()
  if (wanted.includes(python) && !(await isPythonInstalled())) {
    work.push({ what: "installing the Python client", run: installPythonIfPossible })
  }
  if (wanted.includes(definitions) && missingCollection() !== undefined) {
    work.push({ what: "downloading definitions of the field", run: collectIfPossible })
  }
  return work
}

/** Needed by one suite only. */
const installPythonIfPossible = (): Promise<void> => ifPossible("not installed", installPython)
const collectIfPossible = (): Promise<void> => ifPossible("not downloaded", collect)

async function ifPossible(otherwise: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error
    console.log(`           ${otherwise}: ${error.message}`)
  }
}

async function programsOf(part: Part): Promise<Work[]> {
  const programs = await outdated(part)
  return programs.map((program) => ({
    what: `building ${program.name} of ${program.package}`,
    run: () => build(part, program),
  }))
}

/** Not needed on a machine that cannot run nodes. */
async function makeImagesIfPossible(say: (what: string) => void): Promise<boolean> {
  const { makeImages } = await import("../node/images/make.ts")
  const { whyNotThisMachine } = await import("../node/machine.ts")
  const reason = await whyNotThisMachine()
  if (reason === undefined) return makeImages(say)
  say(`no images: ${reason}`)
  return false
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1).padStart(7)} s`

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return console.log(usage)
  const unknown = args.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`no part is called "${unknown}"\n${usage}`)
  const reason = await missingGo()
  if (reason !== undefined) throw new UnavailableError(reason)
  const started = performance.now()
  const wanted = args.length === 0 ? names : args
  const work = await workOf(wanted)
  for (const [index, { what, run }] of work.entries()) {
    console.log(`${seconds(started)}  ${index + 1} of ${work.length}: ${what}`)
    await run()
  }
  const made =
    wanted.includes(images) &&
    (await makeImagesIfPossible((what) => console.log(`${seconds(started)}  image: ${what}`)))
  console.log(`${seconds(started)}  ${work.length === 0 && !made ? "nothing to build" : "built"}; ${cacheFolder()}`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(`kubernetes:build: ${(error as Error).message}`)
  process.exitCode = error instanceof UnavailableError ? unavailableExitCode : 1
}
