// What the built-in types and their fields are for, in upstream's words, for OpenAPI and kubectl explain. The words are read
// when first asked for, from the declarations of @kubernetes/client-node (a comment per class and per field that is no
// reference); they are shared by all, and forgotten when nobody has asked for a while.

import { readdir, readFile } from "node:fs/promises"

export interface TypeDescription {
  type: string | undefined
  /** By the field's name in JSON. */
  fields: ReadonlyMap<string, string>
}

export interface Descriptions {
  /** By OpenAPI name: "io.k8s.api.core.v1.Pod". Undefined: nothing is known of the type. */
  readonly of: (name: string) => TypeDescription | undefined
}

/** Changes when other words are shown for the same types: clients' caches have to notice. */
export const descriptionsVersion = "2"

/** Kept this long after somebody asked. */
const keptMs = 5 * 60_000
/** Files read at the same time. */
const parallel = 16

let kept: Promise<Descriptions> | undefined
let release: NodeJS.Timeout | undefined

export function loadDescriptions(): Promise<Descriptions> {
  kept ??= readAll().catch((error: unknown) => {
    kept = undefined // the next one who asks tries again
    throw error
  })
  clearTimeout(release)
  release = setTimeout(() => (kept = undefined), keptMs).unref()
  return kept
}

/** For documents that do without. */
export const noDescriptions: Descriptions = { of: () => undefined }

async function readAll(): Promise<Descriptions> {
  const folder = new URL("gen/models/", import.meta.resolve("@kubernetes/client-node"))
  const files = (await readdir(folder)).filter((file) => /^[A-Z]\w*\.d\.ts$/.test(file))
  const byClass = new Map<string, TypeDescription>()
  const work = async (): Promise<void> => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) {
      const name = file.slice(0, -".d.ts".length)
      // Versions that are not final are not served.
      if (/^V\d+(?:alpha|beta)/.test(name)) continue
      byClass.set(name, describeClass(await readFile(new URL(file, folder), "utf8")))
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  const byFields = typesOfFields([...byClass.values()])
  return {
    of: (name) =>
      classNamesOf(name)
        .map((one) => byClass.get(one))
        .find((found) => found !== undefined) ?? byFields.get(name.slice(name.lastIndexOf(".") + 1)),
  }
}

/** A field without words of its own has those of its type, which begin with its name: types that are no classes. */
const ofType = /^([A-Z]\w+) (?:represents|is a type|is version) /

function typesOfFields(classes: readonly TypeDescription[]): Map<string, TypeDescription> {
  const found = new Map<string, TypeDescription>()
  for (const { fields } of classes) {
    for (const words of fields.values()) {
      const [, name] = ofType.exec(words) ?? []
      if (name !== undefined) found.set(name, { type: words, fields: new Map() })
    }
  }
  return found
}

/** "io.k8s.api.core.v1.Pod" is V1Pod; where two groups have a type of one name it is CoreV1Event. */
function classNamesOf(name: string): string[] {
  const [group = "", version = "", kind = ""] = name.split(".").slice(-3)
  return [`${capital(group)}${capital(version)}${kind}`, `${capital(version)}${kind}`]
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

const ofClass = /\/\*\*\n\* (.*)\n\*\/\nexport declare class/
const ofField = /^ {4}\/\*\*\n((?: {4}\* .*\n)+) {4}\*\/\n {4}'([^']+)'\??:/gm

/** Pure: the text of one declaration file. */
export function describeClass(text: string): TypeDescription {
  const fields = new Map<string, string>()
  for (const [, comment = "", field = ""] of text.matchAll(ofField)) {
    const lines = comment.trimEnd().split("\n")
    fields.set(jsonName(field), plain(lines.map((line) => line.replace(/^ {4}\* /, "")).join("\n")))
  }
  const type = ofClass.exec(text)?.[1]
  return { type: type === undefined ? undefined : plain(type), fields }
}

/** Words of the language have an underscore before them, and dashes became underscores. */
function jsonName(field: string): string {
  const name = field.replace(/^_/, "")
  return name.startsWith("x_kubernetes_") ? name.replaceAll("_", "-") : name
}

/** As it was before it became a comment. */
function plain(text: string): string {
  return inLines(text.replace(/\\(['"\\])/g, "$1").replaceAll("*_/", "*/"))
}

const sentenceAfterOne = /[.:)] (?=[A-Z`"-])/g
const sentenceAfterTwo = /[.:)] {2}(?=[A-Z`"-])/g

/**
 * Line ends became spaces. Three and more of them are a line that is indented; two are an empty line, but with authors who put two after
 * each sentence.
 */
function inLines(text: string): string {
  const lines = text.replace(/(?<=\S) ( {2,})(?=\S)/g, "\n$1")
  const twos = count(text, sentenceAfterTwo)
  return twos === 0 || count(text, sentenceAfterOne) < twos ? lines : lines.replace(/(?<=\S) {2}(?=\S)/g, "\n\n")
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0
