// `npm run kubernetes:build [-- part…]`: puts what is missing of the real components into the cache, saying what it does and
// how long that took. A second run only looks.

import { cacheFolder } from "./cache.ts"
import { build, missingGo, outdated } from "./go.ts"
import { parts, type Part } from "./parts.ts"

const usage = `usage: npm run kubernetes:build [-- ${parts.map(({ name }) => name).join("|")}…]   (default: all)`

function chosen(names: readonly string[]): readonly Part[] {
  if (names.length === 0) return parts
  return names.map((name) => {
    const found = parts.find((part) => part.name === name)
    if (found === undefined) throw new Error(`no part is called "${name}"\n${usage}`)
    return found
  })
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1).padStart(7)} s`

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return console.log(usage)
  const wanted = chosen(args)
  const reason = await missingGo()
  if (reason !== undefined) throw new Error(reason)
  const started = performance.now()
  const lists = await Promise.all(wanted.map(async (part) => ({ part, programs: await outdated(part) })))
  const work = lists.flatMap(({ part, programs }) => programs.map((program) => ({ part, program })))
  for (const [index, { part, program }] of work.entries()) {
    console.log(`${seconds(started)}  ${program.name} (${index + 1} of ${work.length}): building ${program.package}`)
    await build(part, program)
  }
  const what = work.length === 0 ? "nothing to build" : `${work.length} built`
  console.log(`${seconds(started)}  ${what}; ${cacheFolder()}`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(`kubernetes:build: ${(error as Error).message}`)
  process.exitCode = 1
}
