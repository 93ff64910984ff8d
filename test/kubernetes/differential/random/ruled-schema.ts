// Random schemas with rules at every level, and values that mostly match the schema and meet some of the rules (ruled-values.ts).

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { isJsonObject } from "./values.ts"

/** The same `shape` gives the same schema. With `random`, it has rules. */
export function ruledSchema(shape: number, random?: Random): JsonObject {
  const form = createRandom(shape)
  const root = {
    type: "object",
    properties: { spec: struct(form, 2), status: struct(form, 1) },
  }
  return random === undefined ? root : withRules(random, root, 0)
}

const short = { type: "string", maxLength: 3 }

function schemaOf(form: Random, depth: number): JsonObject {
  const leaf: readonly JsonObject[] = [
    short,
    short,
    { ...short, nullable: true },
    { type: "integer" },
    { type: "integer", default: 1 },
    { type: "boolean" },
    { type: "number" },
    { "x-kubernetes-int-or-string": true, maxLength: 3 },
    { type: "string", format: "date", maxLength: 10 },
  ]
  if (depth === 0 || chance(form, 0.2)) return pick(form, leaf)
  const inner = (): JsonObject => schemaOf(form, depth - 1)
  return pick<() => JsonObject>(form, [
    () => struct(form, depth - 1),
    () => struct(form, depth - 1),
    () => ({ type: "object", maxProperties: 3, additionalProperties: inner() }),
    () => ({ type: "object", maxProperties: 3, additionalProperties: struct(form, depth - 1) }),
    () => ({ type: "object", maxProperties: 3, additionalProperties: inner(), "x-kubernetes-map-type": "atomic" }),
    () => ({ type: "array", maxItems: 4, items: inner(), ...pick(form, [{}, { "x-kubernetes-list-type": "atomic" }]) }),
    () => ({ type: "array", maxItems: 4, items: short, "x-kubernetes-list-type": "set" }),
    () => keyed(form, depth, ["k"]),
    () => keyed(form, depth, ["k"]),
    () => keyed(form, depth, ["k", "n"]),
    () => ({ ...struct(form, depth - 1), "x-kubernetes-map-type": "atomic" }),
    () => ({ ...struct(form, depth - 1), "x-kubernetes-preserve-unknown-fields": true }),
    () => ({ ...struct(form, depth - 1), nullable: true }),
  ])()
}

function struct(form: Random, depth: number): JsonObject {
  const fields = ["a", "b", "c", "d-e"].filter(() => chance(form, 0.8))
  return { type: "object", properties: Object.fromEntries(fields.map((name) => [name, schemaOf(form, depth)])) }
}

function keyed(form: Random, depth: number, keys: readonly string[]): JsonObject {
  const { properties, ...rest } = struct(form, depth - 1)
  const own = { k: short, n: pick<JsonObject>(form, [{ type: "integer" }, { type: "number" }]) }
  return {
    type: "array",
    maxItems: 4,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [...keys],
    items: { ...rest, required: [...keys], properties: { ...(properties as JsonObject), ...own } },
  }
}

/** `isCorrelated`: values have old ones, since no list around them is without keys. */
function withRules(random: Random, schema: JsonObject, depth: number, isCorrelated = true): JsonObject {
  const { properties, items, additionalProperties } = schema
  const isKeyed = schema["x-kubernetes-list-type"] === "map"
  const inner = (one: Json, hasOld = isCorrelated): Json =>
    isJsonObject(one) ? withRules(random, one, depth + 1, hasOld) : one
  const ruled = depth > 0 && chance(random, isKeyed ? 0.6 : 0.35)
  return {
    ...schema,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, inner(one)])) }
      : {}),
    ...(isJsonObject(items) ? { items: inner(items, isCorrelated && isKeyed) } : {}),
    ...(isJsonObject(additionalProperties) ? { additionalProperties: inner(additionalProperties) } : {}),
    ...(ruled ? { "x-kubernetes-validations": rulesOf(random, schema, isCorrelated) } : {}),
  }
}

const anything = ["self == oldSelf", "oldSelf == self", "self != oldSelf", "false", "true"]
const ifOld = [
  "!oldSelf.hasValue() || self == oldSelf.value()",
  "oldSelf.hasValue()",
  "oldSelf.optMap(o, o == self).orValue(true)",
  "oldSelf.orValue(self) == self",
  "!oldSelf.hasValue()",
]
const ofType: Readonly<Record<string, readonly string[]>> = {
  string: ["self.size() < 2", "self >= oldSelf", "self != 'b'", "self.startsWith(oldSelf)"],
  integer: ["self < 3", "self >= oldSelf", "10 / self > 0", "self != 2", "self % 2 == 0"],
  number: ["self < 3.0", "self >= oldSelf", "self != 2.0"],
  boolean: ["self", "self || !oldSelf"],
  list: [
    "self.size() < 3",
    "self.size() >= oldSelf.size()",
    "oldSelf.all(x, x in self)",
    "self.exists(x, x in oldSelf)",
    "self.all(x, self.exists_one(y, y == x))",
    "self[0] == self[1]",
    "self + oldSelf == self",
  ],
  keyed: ["self.all(x, x.k != 'b')", "oldSelf.all(x, self.exists(y, y.k == x.k))", "self[0].k != 'b'"],
  map: ["self.all(k, k != 'b')", "oldSelf.all(k, k in self)", "self.size() < 2", "self['a'] == oldSelf['a']"],
  either: ["self < 3", "type(self) == int ? self < 3 : self != 'b'", "string(self) == string(oldSelf)"],
  date: ["self < timestamp('2024-02-01T00:00:00Z')", "self >= oldSelf"],
}

function typeOf(schema: JsonObject): string {
  const { type, format, additionalProperties } = schema
  if (schema["x-kubernetes-int-or-string"] === true) return "either"
  if (format === "date") return "date"
  if (type === "array") return schema["x-kubernetes-list-type"] === "map" ? "keyed" : "list"
  if (type === "object" && additionalProperties !== undefined) return "map"
  return typeof type === "string" ? type : ""
}

function ofStruct(random: Random, schema: JsonObject): string[] {
  const names = Object.keys((schema["properties"] ?? {}) as JsonObject).map((name) => name.replace("-", "__dash__"))
  if (names.length === 0) return []
  const [one, other] = [pick(random, names), pick(random, names)]
  return [
    `has(self.${one})`,
    `has(self.${one}) == has(self.${other})`,
    `!has(oldSelf.${one}) || has(self.${one})`,
    `has(self.${one}) && has(oldSelf.${one}) ? self.${one} == oldSelf.${one} : true`,
    `self.${one} == oldSelf.${one}`,
  ]
}

function rulesOf(random: Random, schema: JsonObject, isCorrelated: boolean): Json {
  const usable = (rules: readonly string[]): string[] =>
    rules.filter((rule) => isCorrelated || !rule.includes("oldSelf") || chance(random, 0.02))

  return Array.from({ length: 1 + random(2) }, () => {
    const optional = isCorrelated && chance(random, 0.25)
    const type = typeOf(schema)
    const all = [
      ...(ofType[type] ?? []),
      ...(type === "keyed" ? (ofType["list"] ?? []) : []),
      ...ofStruct(random, schema),
    ]
    const own = usable(all)
    const rule = optional
      ? pick(random, ifOld)
      : pick(random, chance(random, 0.7) && own.length > 0 ? own : usable(anything))
    const names = Object.keys((schema["properties"] ?? {}) as JsonObject)
    return {
      rule,
      ...(optional || (rule.includes("oldSelf") && chance(random, 0.05)) ? { optionalOldSelf: optional } : {}),
      ...(chance(random, 0.3) ? { message: pick(random, ["m", " trimmed "]) } : {}),
      ...(chance(random, 0.3) ? { messageExpression: messageOf(random, type) } : {}),
      ...(chance(random, 0.4) ? { reason: pick(random, reasons) } : {}),
      ...(names.length > 0 && chance(random, 0.3) ? { fieldPath: pathTo(pick(random, names)) } : {}),
    }
  }) as unknown as Json
}

const pathTo = (name: string): string => (name.includes("-") ? `['${name}']` : `.${name}`)

const reasons = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]

function messageOf(random: Random, type: string): string {
  const plain = ["'is wrong'", "' trimmed '", "''", "'two\\nlines'", "1 / 0 == 1 ? 'a' : 'b'"]
  const printable: Readonly<Record<string, readonly string[]>> = {
    string: ["'is ' + self", "'was ' + oldSelf"],
    integer: ["self > 1 ? 'is large' : 'is small'", "oldSelf > 1 ? 'was large' : 'was small'"],
    list: ["self.size() > 1 ? 'is long' : 'is short'", "oldSelf.size() > 1 ? 'was long' : 'was short'"],
    keyed: ["'first ' + self[0].k"],
    map: ["oldSelf.size() > 1 ? 'was long' : 'was short'"],
  }
  return pick(random, [...plain, ...(printable[type] ?? []), ...(printable[type] ?? [])])
}

/** Mostly of its type. */
export function valueOf(random: Random, schema: JsonObject): Json {
  if (chance(random, 0.03)) return pick<Json>(random, [null, 5, "x", [], {}])
  const { properties, additionalProperties, items } = schema
  if (isJsonObject(items)) {
    const list = Array.from({ length: random(4) }, () => valueOf(random, items))
    const isUnique = schema["x-kubernetes-list-type"] === "set" && chance(random, 0.9)
    return isUnique ? [...new Set(list)] : list
  }
  if (isJsonObject(additionalProperties)) {
    const keys = ["a", "b", "c"].filter(() => chance(random, 0.5))
    return Object.fromEntries(keys.map((key) => [key, valueOf(random, additionalProperties)]))
  }
  if (isJsonObject(properties)) {
    const required = (schema["required"] ?? []) as string[]
    const fields = Object.entries(properties).filter(([name]) => chance(random, required.includes(name) ? 0.98 : 0.6))
    const more: JsonObject = chance(random, 0.05) ? { bogus: 1 } : {}
    return { ...Object.fromEntries(fields.map(([name, one]) => [name, valueOf(random, one as JsonObject)])), ...more }
  }
  return scalar(random, schema)
}

function scalar(random: Random, schema: JsonObject): Json {
  if (schema["nullable"] === true && chance(random, 0.3)) return null
  switch (typeOf(schema)) {
    case "integer":
      return pick(random, [0, 1, 2, 3])
    case "number":
      return pick(random, [1, 2, 2.5, 3])
    case "boolean":
      return chance(random, 0.5)
    case "either":
      return pick<Json>(random, [1, 2, "b", "3"])
    case "date":
      return pick(random, ["2024-01-01", "2024-03-01"])
    default:
      return pick(random, ["a", "b", "ab"])
  }
}
