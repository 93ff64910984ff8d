// Parameters of operations: the fields of a request's options (ListOptions, PodLogOptions, …), and those of its path. Version 2
// defines most of them once per document. Source: AddObjectParams in k8s.io/apiserver/pkg/endpoints, pkg/builder/parameters.go in
// k8s.io/kube-openapi.

import type { Descriptions } from "../descriptions.ts"
import { schemaOf } from "../facts.ts"
import type { JsonObject } from "../json-object.ts"
import type { Schema } from "../schema.ts"
import { sharedParameterId } from "./facts.ts"
import type { Dialect } from "./schemas.ts"

export interface Parameter {
  in: "query" | "path"
  name: string
  type: string
  /** Identifies its description, and its shared name in version 2. */
  key: string
  /** Set if the description depends on the operation. */
  description?: string
}

const pathParameter = (name: string): Parameter => ({ in: "path", name, type: "string", key: `path.${name}` })

export const nameParameter = (kind: string): Parameter => ({
  ...pathParameter("name"),
  description: `name of the ${kind}`,
})
export const namespaceParameter = pathParameter("namespace")
export const subpathParameter = pathParameter("path")
export const prettyParameter: Parameter = { in: "query", name: "pretty", type: "string", key: "query.pretty" }

const known = new Map<string, readonly Parameter[]>()

/** The fields of options, all in group "": kind "ListOptions", "PodExecOptions", …; without those named by `except`. */
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

/** For a list, the type of one value: the parameter is repeatable. Undefined if it cannot be a parameter. */
function parameterType({ type, items, name }: Schema): string | undefined {
  if (type === "list") return items === undefined ? undefined : parameterType(items)
  return type === "object" || type === "map" || name !== undefined ? undefined : type
}

/** The parameters of a document; collects those that version 2 defines once. */
export class PrintedParameters {
  readonly #dialect: Dialect
  readonly #descriptions: Descriptions
  readonly #found = new Map<string, JsonObject>()

  constructor(dialect: Dialect, descriptions: Descriptions) {
    this.#dialect = dialect
    this.#descriptions = descriptions
  }

  parameter(parameter: Parameter): JsonObject {
    const { in: where, name, type, key, description = this.#descriptions.ofParameter(key) } = parameter
    const about = { ...(description === undefined ? {} : { description }), in: where, name }
    const required = where === "path" ? { required: true } : {}
    if (this.#dialect === "v3") return { ...about, ...required, schema: { type, uniqueItems: true } }
    return this.shared(key, { uniqueItems: true, type, ...about, ...required })
  }

  /** Returns a reference if version 2 shares it, otherwise the parameter itself. */
  shared(key: string, parameter: JsonObject & { name: string }): JsonObject {
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

const byName = (a: Parameter, b: Parameter): number =>
  a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1

/** In the order in which they are printed. */
export function sortParameters(parameters: readonly Parameter[]): Parameter[] {
  return parameters.toSorted(byName)
}

const same = (a: Parameter, b: Parameter): boolean => a.in === b.in && a.name === b.name

/** Parameters that all operations of a path have, as defined by the last one. */
export function commonParameters(operations: readonly (readonly Parameter[])[]): Parameter[] {
  const last = operations.at(-1) ?? []
  return sortParameters(last.filter((one) => operations.every((others) => others.some((other) => same(one, other)))))
}

export function withoutParameters(all: readonly Parameter[], common: readonly Parameter[]): Parameter[] {
  return sortParameters(all.filter((one) => !common.some((other) => same(one, other))))
}
