// Encodes values that are not messages according to the facts: strings and types written as strings, times, IntOrString, raw
// values.

import { printJson } from "../../go/print.ts"
import type { Json } from "../../object.ts"
import { millisecondsOf } from "../scalars.ts"
import type { Schema } from "../schema.ts"
import type { ReverseWriter } from "./writer.ts"

/** Writes the content of a value: the fields of a message, the characters of a string, or a number. */
export type Write = (writer: ReverseWriter, value: Json) => void

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : ""
}

export function delimitedText(writer: ReverseWriter, tag: number, text: string): void {
  const before = writer.written
  writer.text(text)
  writer.varint(writer.written - before)
  writer.byte(tag)
}

export function writerOfText({ format }: Schema): Write {
  switch (format) {
    case "byte":
      return (writer, value) => writer.bytes(Buffer.from(textOf(value), "base64"))
    case "quantity":
      return (writer, value) => delimitedText(writer, 0x0a, typeof value === "string" ? value : "0")
    case "time":
      return (writer, value) => writeTime(writer, value, false)
    case "microTime":
      return (writer, value) => writeTime(writer, value, true)
    default:
      return (writer, value) => writer.text(textOf(value))
  }
}

/** { 1: the type, 2: the number, 3: the string }. */
export function writeIntOrString(writer: ReverseWriter, value: Json): void {
  delimitedText(writer, 0x1a, textOf(value))
  writer.varint(typeof value === "number" ? value : 0)
  writer.byte(0x10)
  writer.varint(typeof value === "string" ? 1 : 0)
  writer.byte(0x08)
}

/** JSON text as the first field (FieldsV1); an absent value is an empty message. */
export function writeRaw(writer: ReverseWriter, value: Json): void {
  if (value !== null) delimitedText(writer, 0x0a, JSON.stringify(value))
}

/**
 * The same with the escapes of Go's encoder (RawExtension and similar): controllers compare these bytes with those that they have
 * made.
 */
export function writeEscapedRaw(writer: ReverseWriter, value: Json): void {
  if (value !== null) delimitedText(writer, 0x0a, printJson(value))
}

/** Seconds and nanoseconds since 1970; the zero time is an empty message. */
function writeTime(writer: ReverseWriter, value: Json, micro: boolean): void {
  if (typeof value !== "string") return
  const seconds = secondsOf(value)
  if (seconds === undefined) return
  const digits = micro ? (/\.(\d{1,6})/.exec(value)?.[1] ?? "") : ""
  writer.varint(Number(digits.padEnd(6, "0")) * 1000)
  writer.byte(0x10)
  writer.varint(seconds)
  writer.byte(0x08)
}

/** Times are stored in the format "2006-01-02T15:04:05Z", for which there is a fast path. Undefined if it is not a time. */
function secondsOf(text: string): number | undefined {
  // Date.UTC interprets years before 100 as years of the 20th century.
  if (text.length === 20 && text.charCodeAt(19) === 0x5a && !text.startsWith("00")) {
    const number = (at: number, digits: number): number => {
      let value = 0
      for (let index = at; index < at + digits; index++) value = value * 10 + text.charCodeAt(index) - 0x30
      return value
    }
    return Date.UTC(number(0, 4), number(5, 2) - 1, number(8, 2), number(11, 2), number(14, 2), number(17, 2)) / 1000
  }
  const ms = millisecondsOf(text)
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}
