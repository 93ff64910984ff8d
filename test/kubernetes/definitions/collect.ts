// What the field installs, out of the modules that ../modules/definitions pins: their definitions, and whatever objects of those
// kinds lie anywhere in them (samples, tests). Reading so much YAML takes a minute, so that what was found is kept in the cache.

import { readFileSync } from "node:fs"
import { glob, mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { createHash } from "node:crypto"
import path from "node:path"
import { parse, parseAllDocuments } from "yaml"
import { run } from "../../harness/processes.ts"
import { cacheFolder } from "../build/cache.ts"
import { UnavailableError } from "../build/unavailable.ts"
import type { JsonObject } from "../differential/generate/objects.ts"
import { isJsonObject } from "../differential/random/values.ts"

interface Source {
  name: string
  module: string
  from: readonly string[]
}

/** What is installed together. */
export interface DefinitionSet extends Source {
  definitions: readonly JsonObject[]
}

export interface Collection {
  /** Of what made it. */
  hash: string
  sets: readonly DefinitionSet[]
  /** Of "group/Kind", in the order of their files. */
  samples: Readonly<Record<string, readonly JsonObject[]>>
}

export const modulesFolder = path.join(import.meta.dirname, "..", "modules", "definitions")
export const sourcesFile = path.join(import.meta.dirname, "sources.yaml")
const downloadTimeoutMs = 30 * 60_000
/** Longer files are lists of everything, or not written by people. */
const longestSample = 100_000

const collectionFile = (): string => path.join(cacheFolder(), "definitions.json")

/** Undefined: it was not made, or of other versions. */
export function readCollection(): Collection | undefined {
  try {
    const collection = JSON.parse(readFileSync(collectionFile(), "utf8")) as Collection
    return collection.hash === currentHash() ? collection : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** Why suites that need it cannot run; undefined when it is there. */
export function missingCollection(): string | undefined {
  return readCollection() === undefined
    ? "definitions of the field not downloaded: `npm run kubernetes:build -- definitions`"
    : undefined
}

function currentHash(): string {
  const files = [path.join(modulesFolder, "go.sum"), sourcesFile, import.meta.filename]
  const hash = createHash("sha256")
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest("hex")
}

export async function collect(): Promise<void> {
  const folders = await downloadModules()
  const sources = parse(await readFile(sourcesFile, "utf8")) as Source[]
  const sets: DefinitionSet[] = []
  for (const source of sources) {
    const folder = folders.get(source.module)
    if (folder === undefined) throw new Error(`go.mod does not name ${source.module}`)
    const found = await Promise.all(source.from.map((from) => definitionsIn(path.join(folder, from))))
    sets.push({ ...source, definitions: found.flat() })
  }
  const collection: Collection = { hash: currentHash(), sets, samples: await samplesIn([...folders.values()], sets) }
  await mkdir(cacheFolder(), { recursive: true })
  const partial = `${collectionFile()}.${process.pid}`
  await writeFile(partial, JSON.stringify(collection))
  await rename(partial, collectionFile())
}

/** The folders of all that go.mod requires, verified by go.sum. What they in turn require is not downloaded. */
async function downloadModules(): Promise<Map<string, string>> {
  const goMod = await readFile(path.join(modulesFolder, "go.mod"), "utf8")
  const names = [...goMod.matchAll(/^\t(\S+) v/gm)].map(([, name = ""]) => name)
  const { code, stdout, stderr } = await run("go", ["mod", "download", "-json", ...names], {
    cwd: modulesFolder,
    env: { ...process.env, GOWORK: "off", GOFLAGS: "-mod=readonly" },
    timeoutMs: downloadTimeoutMs,
  })
  if (code !== 0) throw new UnavailableError(`go mod download failed:\n${stderr}${stdout}`)
  const modules = JSON.parse(`[${stdout.replaceAll(/^}\n{/gm, "},{")}]`) as { Path: string; Dir: string }[]
  return new Map(modules.map(({ Path, Dir }) => [Path, Dir]))
}

async function definitionsIn(folder: string): Promise<JsonObject[]> {
  const texts = await Promise.all((await yamlFiles(folder)).map((file) => readFile(file, "utf8")))
  return texts.flatMap(objectsOf).filter(({ kind }) => kind === "CustomResourceDefinition")
}

async function yamlFiles(folder: string): Promise<string[]> {
  const found = []
  for await (const entry of glob("**/*.{yaml,yml}", { cwd: folder, withFileTypes: true })) found.push(entry)
  const files = found.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => path.join(parentPath, name)).toSorted()
}

async function samplesIn(folders: readonly string[], sets: readonly DefinitionSet[]): Promise<Collection["samples"]> {
  const kinds = new Set(sets.flatMap(({ definitions }) => definitions.map(kindOf)))
  const groups = new Set([...kinds].map((kind) => kind.slice(0, kind.indexOf("/"))))
  const found = new Map<string, Map<string, JsonObject>>()
  for (const folder of folders) {
    for (const file of await yamlFiles(folder)) {
      const text = await readFile(file, "utf8")
      const named = [...text.matchAll(/^apiVersion: "?([^/\s]+)\//gm)].some(([, group = ""]) => groups.has(group))
      if (!named || text.length > longestSample) continue
      for (const object of objectsOf(text)) {
        const kind = `${groupOf(object)}/${typeof object["kind"] === "string" ? object["kind"] : ""}`
        if (!kinds.has(kind)) continue
        if (!found.has(kind)) found.set(kind, new Map())
        found.get(kind)?.set(JSON.stringify(object), object)
      }
    }
  }
  return Object.fromEntries([...found].map(([kind, objects]) => [kind, [...objects.values()]]))
}

/** "group/Kind" of what a definition defines. */
export function kindOf(definition: JsonObject): string {
  const { group, names } = definition["spec"] as { group: string; names: { kind: string } }
  return `${group}/${names.kind}`
}

function groupOf({ apiVersion }: JsonObject): string {
  return typeof apiVersion === "string" ? apiVersion.slice(0, apiVersion.indexOf("/")) : ""
}

/** Templates of charts and the like are no YAML: nothing. */
function objectsOf(text: string): JsonObject[] {
  const documents = parseAllDocuments(text, { logLevel: "silent" })
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document) => {
    if (document.errors.length > 0) return []
    try {
      const object = document.toJS({ maxAliasCount: 100 }) as unknown
      return isJsonObject(object as never) ? [object as JsonObject] : []
    } catch {
      return [] // an alias without an anchor
    }
  })
}
