// Prints JSON values as YAML, character by character as Kubernetes does. Source: sigs.k8s.io/yaml (JSONToYAML), go.yaml.in/yaml/v2
// (emitterc.go).

import type { Json } from "../../object.ts"
import { printGoFloat } from "../../go/print.ts"
import { int64, uint64 } from "../exact-integers.ts"
import { compareKeys } from "./key-order.ts"
import { columnsOf, isMultiline, printText } from "./print-text.ts"

const step = 2
const lineBreaks = ["\n", "\u2028", "\u2029"]
/** Bytes. A longer key is not written before a colon, but after a question mark. */
const longestKey = 128

export function printYaml(value: Json): Buffer {
  const printer = new Printer()
  printer.node(value, 0, false)
  return Buffer.from(printer.end())
}

class Printer {
  readonly #parts: string[] = []
  #column = 0
  /** Whether what follows needs no space before it. */
  #isSpaced = true
  /** Whether there are only spaces and indicators of lists on this line. */
  #isIndention = true

  end(): string {
    this.#indent(0)
    return this.#parts.join("")
  }

  /** `indent`: of its entries. `isValue`: a list has the indentation of its key. */
  node(value: Json, indent: number, isValue: boolean): void {
    if (typeof value !== "object" || value === null) return this.#scalar(value, indent, false)
    if (Array.isArray(value)) return this.#list(value, isValue && !this.#isIndention ? indent - step : indent)
    const keys = Object.keys(value).filter((key) => value[key] !== undefined)
    if (keys.length === 0) return this.#indicator("{}")
    for (const key of keys.sort(compareKeys)) this.#entry(key, value[key] ?? null, indent)
  }

  #list(items: readonly Json[], indent: number): void {
    if (items.length === 0) return this.#indicator("[]")
    for (const item of items) {
      this.#indent(indent)
      this.#indicator("-", true)
      this.node(item, indent + step, false)
    }
  }

  #entry(key: string, value: Json, indent: number): void {
    this.#indent(indent)
    if (Buffer.byteLength(key) <= longestKey && !isMultiline(key)) {
      this.#scalar(key, indent + step, true)
      this.#write(":")
    } else {
      this.#indicator("?", true)
      this.#scalar(key, indent + step, false)
      this.#indent(indent)
      this.#indicator(":", true)
    }
    this.node(value, indent + step, true)
  }

  /** `indent`: of its further lines. */
  #scalar(value: Json, indent: number, isKey: boolean): void {
    if (!this.#isSpaced) this.#write(" ")
    if (typeof value !== "string") return this.#write(printScalar(value))
    const text = printText(value, { column: this.#column, indent, isKey })
    this.#write(text)
    // A block may end at the beginning of a line.
    if (this.#column === 0) this.#isSpaced = this.#isIndention = true
  }

  #indicator(text: string, isIndention = false): void {
    const before = this.#isIndention
    this.#write(this.#isSpaced ? text : ` ${text}`)
    this.#isIndention = before && isIndention
  }

  #indent(indent: number): void {
    if (!this.#isIndention || this.#column > indent || (this.#column === indent && !this.#isSpaced)) this.#write("\n")
    if (this.#column < indent) this.#write(" ".repeat(indent - this.#column))
    this.#isSpaced = this.#isIndention = true
  }

  #write(text: string): void {
    this.#parts.push(text)
    const line = text.slice(Math.max(...lineBreaks.map((character) => text.lastIndexOf(character))) + 1)
    this.#column = columnsOf(line) + (line.length === text.length ? this.#column : 0)
    this.#isSpaced = this.#isIndention = false
  }
}

/** Integers beyond 64 bits are numbers of the other kind in Go. */
function printScalar(value: Json): string {
  if (typeof value !== "number") return JSON.stringify(value)
  if (!Number.isInteger(value)) return printGoFloat(value)
  const exact = BigInt(value)
  return exact >= int64.min && exact <= uint64.max ? String(exact) : printGoFloat(value)
}
