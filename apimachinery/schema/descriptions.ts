// Upstream's descriptions of the built-in types and their fields, for OpenAPI and kubectl explain. They are read on demand from
// the declarations of kubernetes-models (a file per type, a comment per type and field), and those of request parameters from
// client-node's (openapi/parameter-descriptions.ts). They are shared by all tenants, and dropped when they have not been used for
// a while.

import { readdir, readFile } from "node:fs/promises"
import { readParameterDescriptions } from "./openapi/parameter-descriptions.ts"
import { ownText } from "./own-text.ts"

export interface TypeDescription {
  type: string | undefined
  /** By the field's JSON name. */
  fields: ReadonlyMap<string, string>
}

export interface Descriptions {
  /** By OpenAPI name, such as "io.k8s.api.core.v1.Pod". Undefined if the type is unknown. */
  readonly of: (name: string) => TypeDescription | undefined
  /** By key, such as "ListOptions.limit" or "path.namespace". */
  readonly ofParameter: (key: string) => string | undefined
}

/** To be changed when the descriptions of the same types change, so that clients' caches are invalidated. */
export const descriptionsVersion = "4"

/** How long descriptions are kept after their last use. */
const keptMs = 5 * 60_000
/** Number of files read concurrently. */
const parallel = 16

let kept: Promise<Descriptions> | undefined
let release: NodeJS.Timeout | undefined

export function loadDescriptions(): Promise<Descriptions> {
  kept ??= readAll().catch((error: unknown) => {
    kept = undefined // the next call retries
    throw error
  })
  clearTimeout(release)
  release = setTimeout(() => (kept = undefined), keptMs).unref()
  return kept
}

/** For documents without descriptions. */
export const noDescriptions: Descriptions = { of: () => undefined, ofParameter: () => undefined }

/** The second contains the types without a group: metadata, times, quantities. */
const packages = ["kubernetes-models", "@kubernetes-models/apimachinery"]

async function readAll(): Promise<Descriptions> {
  const found = await Promise.all(packages.map((name) => declarations(new URL(".", import.meta.resolve(name)))))
  const files = found.flat()
  const byIdentifier = new Map<string, Declaration>()
  const work = async (): Promise<void> => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) {
      const read = parseDeclaration(await readFile(file, "utf8"))
      if (read !== undefined) byIdentifier.set(read.identifier, read)
    }
  }
  const [parameters] = await Promise.all([readParameterDescriptions(), ...Array.from({ length: parallel }, work)])
  describeTypeMeta(byIdentifier)
  return { of: (name) => byIdentifier.get(identifierOf(name)), ofParameter: (key) => parameters.get(key) }
}

/** Declaration files of types. Only stable versions are served; files beginning with "_" contain validation code. */
async function declarations(folder: URL): Promise<URL[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter(({ name }) => name.endsWith(".d.ts") && name !== "index.d.ts")
  const folders = entries.filter(
    (one) => one.isDirectory() && !/^(?:_|v\d+(?:alpha|beta)|node_modules$)/.test(one.name),
  )
  const below = await Promise.all(folders.map(({ name }) => declarations(new URL(`${name}/`, folder))))
  return [...files.map(({ name }) => new URL(name, folder)), ...below.flat()]
}

/** "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService" → IoK8sKubeAggregatorPkgApisApiregistrationV1APIService. */
function identifierOf(name: string): string {
  return name
    .split(/[.-]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("")
}

interface Declaration extends TypeDescription {
  identifier: string
  /** apiVersion and kind have a constant value, and are declared without a description. */
  isKind: boolean
  fields: Map<string, string>
}

/** Both have the same description in every kind; it is taken from Status, which is declared with any version. */
function describeTypeMeta(byIdentifier: ReadonlyMap<string, Declaration>): void {
  const general = byIdentifier.get("IoK8sApimachineryPkgApisMetaV1Status")?.fields
  for (const { isKind, fields } of byIdentifier.values()) {
    for (const name of isKind ? ["apiVersion", "kind"] : []) {
      const words = general?.get(name)
      if (words !== undefined) fields.set(name, words)
    }
  }
}

const ofType = /\/\*\*\n((?: \*.*\n)+) \*\/\nexport (?:interface|type) /
const ofField = /^ {4}\/\*\*\n((?: {5}\*.*\n)+) {5}\*\/\n {4}"([^"]+)"\??:/gm
const exported = /, \w+ as (\w+) \};/

/** Parses the text of one declaration file; undefined if it declares no type. Pure. */
export function parseDeclaration(text: string): Declaration | undefined {
  const identifier = exported.exec(text)?.[1]
  if (identifier === undefined) return undefined
  const fields = new Map<string, string>()
  for (const [, comment = "", field = ""] of text.matchAll(ofField)) fields.set(ownText(field), plain(comment))
  const type = ofType.exec(text)?.[1]
  const isKind = text.includes(" extends TypeMeta {")
  return { identifier: ownText(identifier), type: type === undefined ? undefined : plain(type), isKind, fields }
}

const beginOfLine = /^ *\* ?/gm

/** The original text of a comment. */
function plain(comment: string): string {
  const text = comment.replaceAll(beginOfLine, "").replace(/(?:\n@deprecated)?\n$/, "") // the mark is for compilers
  return ownText(text.replaceAll("\\*", "*").replaceAll("*\\/", "*/"))
}
