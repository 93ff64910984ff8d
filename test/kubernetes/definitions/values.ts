// Values for the schema of a custom resource: with what is required alone, with everything, or in between.

import type { Json } from "../../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../differential/generate/objects.ts"
import { isJsonObject } from "../differential/random/values.ts"
import { textOf } from "./texts.ts"

/** Values within one object: whole pod templates lie in some. */
const mostValues = 250
const mostTexts = 6

const words =
  "a b web example.com a.b.example.com 10.0.0.1 10.0.0.0/8 1h30m 100m 50% https://example.com/x /a/b * A-1 v1".split(
    " ",
  )

const ofFormats: Readonly<Record<string, readonly string[]>> = {
  "date-time": ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.678+02:00"],
  date: ["2024-01-02"],
  duration: ["1h", "90s"],
  byte: ["aGk="],
  uri: ["https://example.com/a"],
  ipv4: ["10.0.0.1"],
  ipv6: ["2001:db8::1"],
  cidr: ["10.0.0.0/8"],
  uuid: ["123e4567-e89b-12d3-a456-426614174000"],
  email: ["a@example.com"],
  hostname: ["example.com"],
}

export class Values {
  readonly #random: Random
  /** How often what is optional is there. */
  readonly #optional: number
  #count = 0

  constructor(random: Random, optional: number) {
    this.#random = random
    this.#optional = optional
  }

  of(schema: JsonObject): Json {
    this.#count++
    const random = this.#random
    if (schema["nullable"] === true && chance(random, 0.05)) return null
    const options = schema["enum"]
    if (Array.isArray(options) && options.length > 0) return pick(random, options)
    if (schema["default"] !== undefined && chance(random, 0.3)) return schema["default"]
    if (schema["x-kubernetes-int-or-string"] === true)
      return chance(random, 0.5) ? this.#integer(schema) : this.#text(schema)
    switch (schema["type"]) {
      case "object":
        return this.#object(schema)
      case "array":
        return this.#list(schema)
      case "integer":
        return this.#integer(schema)
      case "number":
        return this.#integer(schema) + (chance(random, 0.3) ? 0.5 : 0)
      case "boolean":
        return random(2) === 0
      case "string":
        return this.#text(schema)
      default:
        return pick<Json>(random, [1, "any", { any: ["thing"] }])
    }
  }

  #isThere(): boolean {
    return this.#count < mostValues && chance(this.#random, this.#optional)
  }

  #object(schema: JsonObject): JsonObject {
    const { properties, additionalProperties, required } = schema
    const object: JsonObject = {}
    if (schema["x-kubernetes-embedded-resource"] === true)
      Object.assign(object, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "embedded" } })
    for (const [name, field] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const isRequired = Array.isArray(required) && required.includes(name)
      if (isJsonObject(field) && !(name in object) && (isRequired || this.#isThere())) object[name] = this.of(field)
    }
    const least = Number(schema["minProperties"] ?? 0)
    if (isJsonObject(additionalProperties))
      for (const name of ["a", "b.example.com/c"])
        if (this.#isThere() || Object.keys(object).length < least) object[name] = this.of(additionalProperties)
    if (schema["x-kubernetes-preserve-unknown-fields"] === true && this.#isThere())
      object["kept"] = pick<Json>(this.#random, [1.5, "text", { deep: [null, true] }])
    return object
  }

  #list(schema: JsonObject): Json[] {
    const { items, minItems, maxItems } = schema
    const wanted = Math.max(Number(minItems ?? 0), this.#isThere() ? 1 + this.#random(2) : 0)
    const list = Array.from({ length: Math.min(wanted, Number(maxItems ?? wanted)) }, () =>
      isJsonObject(items) ? this.of(items) : "a",
    )
    return schema["x-kubernetes-list-type"] === "set"
      ? [...new Map(list.map((one) => [JSON.stringify(one), one])).values()]
      : list
  }

  #integer({ minimum, maximum, exclusiveMinimum }: JsonObject): number {
    const from = typeof minimum === "number" ? minimum + (exclusiveMinimum === true ? 1 : 0) : 0
    const to = typeof maximum === "number" ? maximum : from + 100
    return Math.ceil(from) + this.#random(Math.min(Math.floor(to) - Math.ceil(from) + 1, 1000))
  }

  #text({ pattern, format, minLength, maxLength }: JsonObject): string {
    const random = this.#random
    const fits = (text: string): boolean =>
      text.length >= Number(minLength ?? 0) && text.length <= Number(maxLength ?? Infinity)
    const formatted = typeof format === "string" ? ofFormats[format] : undefined
    if (formatted !== undefined) return pick(random, formatted)
    for (let time = 0; time < mostTexts; time++) {
      const text = typeof pattern === "string" ? textOf(random, pattern) : pick(random, words)
      if (text !== undefined && fits(text)) return text
    }
    return "x".repeat(Math.max(1, Math.min(Number(minLength ?? 1), 5000)))
  }
}
