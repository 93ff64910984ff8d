// What this folder's evaluation says of an expression, in the words of its Go counterpart (cel/generate), which knows the same variables.

import { estimateCost } from "../cel/cost/cost.ts"
import { printDouble } from "../cel/functions/convert.ts"
import { printSeconds, printTimestamp } from "../cel/functions/time.ts"
import { compileExpression } from "../cel/program.ts"
import { parseType, printType } from "../cel/types/types.ts"
import {
  ArrayList,
  CelError,
  Duration,
  EntryMap,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  typeNameOf,
  UInt,
  type Value,
} from "../cel/values.ts"

export interface Answer {
  issues?: string
  type?: string
  error?: string
  value?: string
  cost?: number
  estimate?: [number, number]
}

/** Variables and their types. */
export const declared = {
  v: "dyn",
  s: "string",
  n: "int",
  u: "uint",
  d: "double",
  b: "bool",
  ls: "list(string)",
  li: "list(int)",
  ms: "map(string, string)",
  mi: "map(string, int)",
  lm: "list(map(string, string))",
}
export const environment = {
  variables: new Map(Object.entries(declared).map(([name, type]) => [name, parseType(type)])),
  types: { has: () => false, field: () => undefined },
}

function valueOf(json: unknown): Value {
  if (typeof json === "number") return BigInt(json)
  if (Array.isArray(json)) return new ArrayList(json.map(valueOf))
  if (typeof json === "object" && json !== null) return mapOf(json)
  return json as Value
}

function mapOf(json: object): Value {
  return new EntryMap(Object.entries(json).map(([key, value]): [Value, Value] => [key, valueOf(value)]))
}

/** Those that JSON can hold, from which the Go program gets them. */
export const variables = {
  v: { a: { b: 1 }, l: [1, 2, 3], s: "x", n: null },
  s: "abc",
  n: 5,
  ls: ["a", "b"],
  li: [1, 2, 3],
  ms: { k: "w" },
  mi: { k: 1 },
  lm: [{ n: "a" }, { n: "b" }],
  b: false,
}

export const values = new Map(Object.entries(variables).map(([name, json]): [string, Value] => [name, valueOf(json)]))
  .set("u", new UInt(0n))
  .set("d", 0)

/** Go's (time.Duration).String(). */
function printDuration(nanos: bigint): string {
  if (nanos < 0n) return `-${printDuration(-nanos)}`
  const unit = [1n, 1000n, 1_000_000n].find((each) => nanos < each * 1000n)
  if (nanos > 0n && unit !== undefined)
    return `${Number(nanos) / Number(unit)}${{ 1: "ns", 1000: "µs", 1000000: "ms" }[Number(unit)]}`
  const minutes = nanos / 60_000_000_000n
  const seconds = `${printSeconds(nanos % 60_000_000_000n)}s`
  if (minutes === 0n) return seconds
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`
}

function show(value: Value): string {
  if (value === null || typeof value === "bigint" || typeof value === "boolean") return String(value)
  if (typeof value === "string") return JSON.stringify(value)
  if (typeof value === "number") return `double:${printDouble(value)}`
  if (value instanceof UInt) return `${value.value}u`
  if (value instanceof Timestamp) return `timestamp:${printTimestamp(new Timestamp(value.nanos))}`
  if (value instanceof Duration) return `duration:${printDuration(value.nanos)}`
  if (value instanceof Uint8Array) return `bytes:${Buffer.from(value).toString("hex")}`
  if (value instanceof Optional) return value.value === undefined ? "optional.none" : `optional(${show(value.value)})`
  if (value instanceof TypeValue) return `type:${value.name}`
  if (value instanceof ListValue)
    return `[${Array.from({ length: value.size }, (_, at) => show(value.at(at))).join(", ")}]`
  if (value instanceof MapValue) {
    return `{${value
      .keys()
      .map((key) => `${show(key)}: ${show(value.get(key)!)}`)
      .sort()
      .join(", ")}}`
  }
  return `${typeNameOf(value)}:${(value as object as { toString(): string }).toString()}`
}

export function answer(expression: string): Answer {
  const compiled = compileExpression(expression, environment)
  if (compiled.issues !== undefined) return { issues: compiled.issues }
  const { checked } = compiled
  const { min, max } = estimateCost(checked, { sizeOf: () => undefined })
  const common = { type: printType(checked.types.get(checked.tree)!), estimate: [min, max] as [number, number] }
  if (compiled.program === undefined) return { ...common, error: `program: ${compiled.fault}` }
  const { value, cost } = compiled.program.evaluate(values)
  return value instanceof CelError ? { ...common, error: value.message } : { ...common, value: show(value), cost }
}
