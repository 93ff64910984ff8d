// Values of Go that have no place in a configuration: expressions of policies may put them there, where nothing converts them to JSON.

import type { MergeType } from "./merge-type.ts"

export class ForeignValue {
  /** As Go prints them with %T, %#v and %v. */
  readonly type: string
  readonly syntax: string
  readonly text: string

  constructor(type: string, syntax: string, text: string) {
    this.type = type
    this.syntax = syntax
    this.text = text
  }
}

/** Of a type that may be several things, the first of these is expected. */
export function foreignFault({ type, syntax, text }: ForeignValue, { map, scalar, list }: MergeType): string {
  if (map !== undefined) return `expected map, got &{${text}}`
  if (scalar === undefined) return `expected ${list === undefined ? "map" : "list"}, got &{${text}}`
  switch (scalar) {
    case "numeric":
      return `expected numeric (int or float), got ${type}`
    case "string":
      return `expected string, got &value.valueUnstructured{Value:${syntax}}`
    case "boolean":
      return `expected boolean, got &{${text}}`
    case "untyped":
      return `expected any scalar, got &{${text}}`
  }
}
