// Parameters of operations: the fields of the options that a request takes (ListOptions, PodLogOptions, …), and those of its
// path. Version 2 names most of them once for the whole document. Source: AddObjectParams in k8s.io/apiserver/pkg/endpoints,
// pkg/builder/parameters.go in k8s.io/kube-openapi.

import { schemaOf } from "../facts.ts"
import type { JsonObject } from "../json-object.ts"
import type { Schema } from "../schema.ts"
import { sharedParameterId } from "./facts.ts"
import type { Dialect } from "./schemas.ts"

export interface Parameter {
  in: "query" | "path"
  name: string
  type: string
  /** What it is known by where version 2 names it once. */
  key: string
}

const pathParameter = (name: string): Parameter => ({ in: "path", name, type: "string", key: `path.${name}` })

export const nameParameter = pathParameter("name")
export const namespaceParameter = pathParameter("namespace")
export const subpathParameter = pathParameter("path")
export const prettyParameter: Parameter = { in: "query", name: "pretty", type: "string", key: "query.pretty" }

const known = new Map<string, readonly Parameter[]>()

/** Of the fields of options, all in group "": kind "ListOptions", "PodExecOptions", …; but those named by `except`. */
export function optionParameters(kind: string, except: readonly string[] = []): readonly Parameter[] {
  let found = known.get(kind)
  if (found === undefined) known.set(kind, (found = parametersOf(kind)))
  return except.length === 0 ? found : found.filter(({ name }) => !except.includes(name))
}

function parametersOf(kind: string): Parameter[] {
  const schema = schemaOf({ group: "", version: "v1", kind })
  if (schema?.fields === undefined) throw new Error(`no schema of ${kind}`)
  return Object.entries(schema.fields).flatMap(([name, field]) => {
    const type = parameterType(field.schema)
    if (type === undefined || name === "kind" || name === "apiVersion") return []
    return [{ in: "query", name, type, key: `${kind}.${name}` }]
  })
}

/** Of a list, that of one value: the parameter is given several times. Undefined: it is no parameter. */
function parameterType({ type, items, name }: Schema): string | undefined {
  if (type === "list") return items === undefined ? undefined : parameterType(items)
  return type === "object" || type === "map" || name !== undefined ? undefined : type
}

/** What version 2 names once, as it is met. */
export class SharedParameters {
  readonly #found = new Map<string, JsonObject>()

  /** A reference to it if it is shared, or what it is. */
  use(key: string, parameter: JsonObject & { name: string }): JsonObject {
    const id = sharedParameterId(key)
    if (id === undefined) return parameter
    const name = `${parameter.name}-${id}`
    this.#found.set(name, parameter)
    return { $ref: `#/parameters/${name}` }
  }

  all(): JsonObject {
    return Object.fromEntries([...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}

export function printParameter(
  dialect: Dialect,
  { in: where, name, type, key }: Parameter,
  shared: SharedParameters,
): JsonObject {
  const required = where === "path" ? { required: true } : {}
  if (dialect === "v3") return { name, in: where, ...required, schema: { type, uniqueItems: true } }
  return shared.use(key, { uniqueItems: true, type, name, in: where, ...required })
}

const byName = (a: Parameter, b: Parameter): number =>
  a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1

/** In the order they are printed. */
export function sortParameters(parameters: readonly Parameter[]): Parameter[] {
  return parameters.toSorted(byName)
}

const same = (a: Parameter, b: Parameter): boolean => a.in === b.in && a.name === b.name

/** Those that all the operations of a path have; as the last of them has them. */
export function commonParameters(operations: readonly (readonly Parameter[])[]): Parameter[] {
  const last = operations.at(-1) ?? []
  return sortParameters(last.filter((one) => operations.every((others) => others.some((other) => same(one, other)))))
}

export function withoutParameters(all: readonly Parameter[], common: readonly Parameter[]): Parameter[] {
  return sortParameters(all.filter((one) => !common.some((other) => same(one, other))))
}
