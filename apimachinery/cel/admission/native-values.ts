// The value of an Object{…} as upstream puts it into a configuration: lists and maps that the expression makes are converted as the
// value of a field, and not within others; null, bytes, uints and times not at all. Source: k8s.io/apiserver/pkg/cel/mutation/dynamic.

import { ForeignValue } from "../../managed-fields/foreign-value.ts"
import type { Json } from "../../object.ts"
import { type JsonObject, setOwn } from "../../schema/json-object.ts"
import { conversions } from "../functions/convert.ts"
import { NoJson, toJson } from "../json-values.ts"
import {
  ArrayList,
  Duration,
  EntryMap,
  GrowingList,
  itemsOf,
  type ListValue,
  type MapValue,
  Optional,
  Timestamp,
  TypeValue,
  UInt,
  type Value,
} from "../values.ts"
import { step } from "../work.ts"
import { ObjectValue } from "./patch-values.ts"

/** With ForeignValues. Throws NoJson. */
export function nativeObject(object: ObjectValue): JsonObject {
  const result: JsonObject = {}
  for (const [key, value] of object.entries()) setOwn(result, key, fieldOf(value))
  return result
}

function fieldOf(value: Value): Json {
  step()
  if (value instanceof Optional) return value.value === undefined ? null : fieldOf(value.value)
  if (isMadeList(value)) return [...itemsOf(value)].map(innerOf)
  if (!(value instanceof EntryMap)) return innerOf(value)
  const result: JsonObject = {}
  for (const key of value.keys()) {
    if (typeof key !== "string") throw new NoJson("map key is not a string")
    setOwn(result, key, innerOf(value.get(key) ?? null))
  }
  return result
}

function innerOf(value: Value): Json {
  step()
  if (value instanceof ObjectValue) return nativeObject(value)
  if (value instanceof Optional) return value.value === undefined ? null : innerOf(value.value)
  if (value instanceof TypeValue) return value.name
  return (foreignOf(value) as unknown as Json | undefined) ?? toJson(value)
}

/** Others have been part of an object, whose lists and maps Go has as such. */
const isMadeList = (value: Value): value is ListValue => value instanceof ArrayList || value instanceof GrowingList

function foreignOf(value: Value): ForeignValue | undefined {
  if (value === null) return new ForeignValue("structpb.NullValue", "0", "NULL_VALUE")
  if (value instanceof UInt) return new ForeignValue("uint64", `0x${value.value.toString(16)}`, value.value.toString())
  if (value instanceof Uint8Array) {
    const syntax = [...value].map((byte) => `0x${byte.toString(16)}`).join(", ")
    return new ForeignValue("[]uint8", `[]uint8{${syntax}}`, `[${value.join(" ")}]`)
  }
  if (value instanceof Duration) return new ForeignValue("time.Duration", value.nanos.toString(), textOf(value))
  if (value instanceof Timestamp) return new ForeignValue("time.Time", timeSyntax(value), timeText(value))
  if (isMadeList(value)) {
    const items = [...itemsOf(value)]
    const syntax = `[]ref.Val{${items.map(syntaxOf).join(", ")}}`
    return new ForeignValue("[]ref.Val", syntax, `[${items.map(textOf).join(" ")}]`)
  }
  if (!(value instanceof EntryMap)) return undefined
  const entries = entriesOf(value)
  const syntax = entries.map(([key, inner]) => `${syntaxOf(key)}:${syntaxOf(inner)}`).join(", ")
  const text = entries.map(([key, inner]) => `${textOf(key)}:${textOf(inner)}`).join(" ")
  return new ForeignValue("map[ref.Val]ref.Val", `map[ref.Val]ref.Val{${syntax}}`, `map[${text}]`)
}

/** Sorted, as Go prints them. */
function entriesOf(map: MapValue): [Value, Value][] {
  const entries = map.keys().map((key): [Value, Value] => [key, map.get(key) ?? null])
  return entries.sort(([a], [b]) => (textOf(a) < textOf(b) ? -1 : 1))
}

function syntaxOf(value: Value): string {
  return typeof value === "string" ? JSON.stringify(value) : textOf(value)
}

function textOf(value: Value): string {
  if (isMadeList(value)) return `[${[...itemsOf(value)].map(textOf).join(", ")}]`
  if (value instanceof EntryMap)
    return `{${entriesOf(value)
      .map(([key, inner]) => `${textOf(key)}: ${textOf(inner)}`)
      .join(", ")}}`
  const text = conversions["string"]?.(value)
  return typeof text === "string" ? text : ""
}

const months = [
  ["January", "February", "March", "April", "May", "June"],
  ["July", "August", "September", "October", "November", "December"],
].flat()

const timeParts = ({ nanos }: Timestamp): { date: Date; rest: bigint } => {
  const rest = BigInt.asUintN(64, ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)
  return { date: new Date(Number((nanos - rest) / 1_000_000n)), rest }
}

function timeSyntax(time: Timestamp): string {
  const { date, rest } = timeParts(time)
  const clock = [date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), rest].join(", ")
  return `time.Date(${date.getUTCFullYear()}, time.${months[date.getUTCMonth()] ?? ""}, ${clock}, time.UTC)`
}

function timeText(time: Timestamp): string {
  const { date, rest } = timeParts(time)
  let fraction = rest === 0n ? "" : `.${rest.toString().padStart(9, "0")}`
  while (fraction.endsWith("0")) fraction = fraction.slice(0, -1)
  return `${date.toISOString().slice(0, 19).replace("T", " ")}${fraction} +0000 UTC`
}
