// Version 2 documents of other servers, merged into this server's own: their paths, with the definitions and parameters those refer
// to. Of two with one name that differ, the other server's gets another name. Source: k8s.io/kube-openapi/pkg/aggregator.

import { equalJson } from "../../equality.ts"
import type { Json } from "../../object.ts"
import { isObject, type JsonObject, sortedEntries } from "../json-object.ts"
import type { Piece, Pieces } from "./documents.ts"

/** The part of a document that is merged. */
export interface Swagger {
  paths: JsonObject
  definitions: JsonObject
  parameters: JsonObject
}

const definitionPrefix = "#/definitions/"
const parameterPrefix = "#/parameters/"
const kindsKey = "x-kubernetes-group-version-kind"

/** What an untrusted document says of the paths that begin with a prefix. Undefined if it is none. */
export function swaggerBelow(prefix: string, document: Json | undefined): Swagger | undefined {
  if (!isObject(document)) return undefined
  const { paths = {}, definitions = {}, parameters = {} } = document
  if (![paths, definitions, parameters].every(isMapOfObjects)) return undefined
  return ofPaths({ paths, definitions, parameters } as Swagger, (path) => path.startsWith(prefix))
}

const isMapOfObjects = (value: Json): boolean => isObject(value) && Object.values(value).every(isObject)

/** Without definitions that only other paths refer to. */
function ofPaths({ paths, definitions, parameters }: Swagger, isWanted: (path: string) => boolean): Swagger {
  const wanted = Object.entries(paths).filter(([path]) => isWanted(path))
  const before = referredTo(Object.values(paths), definitions)
  const now = referredTo(
    wanted.map(([, item]) => item),
    definitions,
  )
  const kept = Object.entries(definitions).filter(([name]) => now.has(name) || !before.has(name))
  return { paths: Object.fromEntries(wanted), definitions: Object.fromEntries(kept), parameters }
}

/** The names of definitions that values refer to, directly or indirectly. */
function referredTo(values: readonly Json[], definitions: JsonObject): Set<string> {
  const found = new Set<string>()
  const waiting = [...values]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) for (const item of value) waiting.push(item)
    if (!isObject(value)) continue
    for (const inner of Object.values(value)) waiting.push(inner)
    const name = nameIn(value["$ref"], definitionPrefix)
    if (name === undefined || found.has(name)) continue
    found.add(name)
    if (Object.hasOwn(definitions, name)) waiting.push(definitions[name] ?? null)
  }
  return found
}

function nameIn(reference: Json | undefined, prefix: string): string | undefined {
  return typeof reference === "string" && reference.startsWith(prefix) ? reference.slice(prefix.length) : undefined
}

type Values = Map<string, Json>
type Merged = Record<keyof Swagger, Values>

/** `own`: the result of openAPIV2. Paths of the first of several documents that have them are kept. */
export function* mergedWith(others: readonly Swagger[], own: Pieces): Generator<Piece | undefined> {
  const merged: Merged = { paths: new Map(), definitions: new Map(), parameters: new Map() }
  const last: Piece[] = []
  for (const piece of own) {
    const part = piece?.within[0] ?? ""
    if (piece === undefined) yield undefined
    else if (part === "paths" || part === "definitions") merged[part].set(piece.name, piece.value)
    else if (piece.name === "parameters") merged.parameters = new Map(Object.entries(piece.value as JsonObject))
    else if (merged.paths.size === 0) yield piece
    else last.push(piece)
  }
  for (const other of others) yield* add(merged, other)
  for (const part of ["paths", "definitions"] as const) {
    for (const [name, value] of sorted(merged[part])) yield { within: [part], name, value }
  }
  yield { within: [], name: "parameters", value: Object.fromEntries(sorted(merged.parameters)) }
  yield* last
}

const sorted = (values: Values): [string, Json][] => sortedEntries(Object.fromEntries(values))

function* add(merged: Merged, given: Swagger): Generator<undefined> {
  const isNew = (path: string): boolean => !merged.paths.has(path)
  if (!Object.keys(given.paths).some(isNew)) return
  const source = ofPaths(given, isNew)
  yield undefined
  const definitions = otherNames(source.definitions, merged.definitions, areAlike)
  const parameters = otherNames(source.parameters, merged.parameters, equalJson)
  const renames = new Map([...prefixed(definitionPrefix, definitions), ...prefixed(parameterPrefix, parameters)])
  for (const [path, item] of Object.entries(source.paths)) {
    merged.paths.set(path, withReferences(item, renames))
    yield undefined
  }
  for (const [name, value] of Object.entries(source.definitions)) {
    const known = definitions.get(name) ?? name
    const before = merged.definitions.get(known)
    const next = before === undefined ? withReferences(value, renames) : withKindsOf(before, value)
    merged.definitions.set(known, next)
    yield undefined
  }
  for (const [name, value] of Object.entries(source.parameters)) {
    merged.parameters.set(parameters.get(name) ?? name, withReferences(value, renames))
  }
}

/** Names for those that differ from others of their name: "name_v2", the first that is free or taken by an equal one. */
function otherNames(
  source: JsonObject,
  merged: ReadonlyMap<string, Json>,
  areEqual: (before: Json, value: Json) => boolean,
): Map<string, string> {
  const names = new Map<string, string>()
  const taken = new Set(merged.keys())
  for (const [name, value] of Object.entries(source)) {
    let found: string | undefined = name
    let number = 1
    for (let before = merged.get(found); before !== undefined && !areEqual(before, value); before = merged.get(found)) {
      found = `${name}_v${++number}`
    }
    if (found === name) continue
    if (!merged.has(found)) while (taken.has(found) || Object.hasOwn(source, found)) found = `${name}_v${++number}`
    taken.add(found)
    names.set(name, found)
  }
  return names
}

const prefixed = (prefix: string, names: ReadonlyMap<string, string>): [string, string][] =>
  [...names].map(([name, other]) => [prefix + name, prefix + other])

function withReferences(value: Json, renames: ReadonlyMap<string, string>): Json {
  if (renames.size === 0) return value
  if (Array.isArray(value)) return value.map((item) => withReferences(item, renames))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, inner]): [string, Json] => {
    const renamed = name === "$ref" && typeof inner === "string" ? renames.get(inner) : undefined
    return [name, renamed ?? withReferences(inner, renames)]
  })
  return Object.fromEntries(entries)
}

/** Apart from the kinds they are of. An own one without a description is that of the other as well. */
function areAlike(before: Json, value: Json): boolean {
  if (!isObject(before) || !isObject(value)) return false
  const { [kindsKey]: _, ...own } = before
  const { [kindsKey]: __, ...other } = value
  return equalJson({ description: other["description"], ...own }, other)
}

function withKindsOf(before: Json, value: Json): Json {
  if (!isObject(before) || !isObject(value)) return before
  const kinds = new Map([...kindsOf(before), ...kindsOf(value)])
  return kinds.size === 0 ? before : { ...before, [kindsKey]: sorted(kinds).map(([, kind]) => kind) }
}

function kindsOf({ [kindsKey]: kinds }: JsonObject): [string, Json][] {
  if (!Array.isArray(kinds)) return []
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "")
  return kinds
    .filter(isObject)
    .map((kind) => [`${text(kind["group"])}/${text(kind["version"])}.${text(kind["kind"])}`, kind])
}
