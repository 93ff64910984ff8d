// Rules in seldom places of a schema: below values without a type, at values of an older type, and in
// defaults that cost much to check.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { number, rule, ruled, text } from "./ruled-schemas.ts"
import { definedWith, definitions } from "./things.ts"

export function customSeldomRuleCases(): Scenario[] {
  return [
    { name: "a custom resource has rules below values without a type", anyOrder: true, steps: untyped() },
    { name: "values are older than the definition of their type and its rules", anyOrder: true, steps: older() },
    { name: "a definition restricts the names of its objects for its rules", anyOrder: true, steps: named() },
    { name: "a definition has defaults that are dear to check", anyOrder: true, steps: dear() },
    {
      name: "a custom resource has defaults and whole objects below values without a type",
      anyOrder: true,
      steps: below(),
    },
  ]
}

const group = "sr@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`
const free = { "x-kubernetes-preserve-unknown-fields": true }
const never = ruled(text, "self == 'never'")

function thing(spec: Json, more: object = {}): Json {
  return { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a", ...more }, spec }
}

function tried(specs: readonly Json[]): RequestStep[] {
  return specs.map((spec) => post(`${things}?dryRun=All`, thing(spec), { label: `POST ${JSON.stringify(spec)}` }))
}

function untyped(): RequestStep[] {
  const fields = {
    any: { ...free, properties: { a: never } },
    deep: { ...free, properties: { a: { type: "object", properties: { b: never } } } },
    items: { type: "array", items: { ...free, properties: { a: never } } },
    itemsOfAny: { ...free, items: never },
    entries: { type: "object", additionalProperties: { ...free, properties: { a: never } } },
    entriesOfAny: { ...free, additionalProperties: never },
    either: { "x-kubernetes-int-or-string": true, properties: { a: never } },
    "un nameable": { ...free, properties: { a: never } },
    "not nameable": { type: "object", properties: { a: never } },
    nameable: { type: "object", properties: { "b c": never, d: { ...free, properties: { a: never } } } },
    embedded: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      ...free,
      properties: { spec: { ...free, properties: { a: never } } },
    },
  }
  return [
    ...definedWith(group, fields),
    ...tried([
      { any: { a: "x" } },
      { any: [{ a: "x" }] },
      { deep: { a: { b: "x" } } },
      { items: [{ a: "x" }] },
      { itemsOfAny: ["x"] },
      { entries: { b: { a: "x" } } },
      { entriesOfAny: { b: "x" } },
      { either: { a: "x" } },
      { either: 1 },
      { "un nameable": { a: "x" } },
      { "not nameable": { a: "x" } },
      { nameable: { "b c": "x" } },
      { nameable: { d: { a: "x" } } },
      { embedded: { apiVersion: "v1", kind: "X", spec: { a: "x" } } },
    ]),
  ]
}

const typed = (fields: object): Json => ({
  versions: [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", properties: { count: number, ...fields } } },
        },
      },
    },
  ],
})

function older(): RequestStep[] {
  const values: Record<string, Json> = {
    text: 1,
    number: "x",
    whole: 1.5,
    object: ["x"],
    list: { a: "x" },
    flag: "true",
    either: true,
    date: 5,
    time: "2020-13-01T00:00:00Z",
    day: "2020-13-01",
    span: "x",
    bytes: "?",
    "url-bytes": "-_-_",
    "plain-bytes": "+/+/",
    "local-time": "2020-01-01T00:00:00.5",
    "small-time": "2020-01-01t00:00:00z",
    "no-time": "",
    words: "3 months and 2 days, 5 hours",
    "no-words": "3 months",
    "long-words": "99999999999999999999 days",
    "late-day": "2020-02-30",
    "odd-day": "2020-1-1",
    tree: [1],
    entry: { a: 1 },
    items: [1, null],
  }
  const asAny = Object.fromEntries(Object.keys(values).map((name) => [name, free]))
  const of = (format: string, expression: string, ...names: string[]): object =>
    Object.fromEntries(
      names.map((name) => [
        name,
        ruled({ type: "string", format }, rule(expression, { messageExpression: "string(self)" })),
      ]),
    )
  const now = {
    text: ruled(text, "self == 'x'"),
    number: ruled({ type: "number" }, "self < 0.0"),
    whole: ruled(number, "self > 5"),
    object: ruled({ type: "object", properties: { a: text } }, "has(self.a)"),
    list: ruled({ type: "array", items: text }, "self.size() > 3"),
    flag: ruled({ type: "boolean" }, "self"),
    either: ruled({ "x-kubernetes-int-or-string": true }, "self == 5"),
    date: ruled({ type: "string", format: "date-time" }, "self > timestamp('2020-01-01T00:00:00Z')"),
    time: ruled({ type: "string", format: "date-time" }, "self > timestamp('2020-01-01T00:00:00Z')"),
    day: ruled({ type: "string", format: "date" }, "self > timestamp('2020-01-01T00:00:00Z')"),
    span: ruled({ type: "string", format: "duration" }, "self > duration('1s')"),
    ...of("byte", "[true][self.size() + 1]", "bytes", "url-bytes", "plain-bytes"),
    ...of("date-time", "[true][self.getMilliseconds() + self.getFullYear()]", "local-time", "small-time", "no-time"),
    ...of("duration", "[true][self.getHours() + 1]", "words", "no-words", "long-words"),
    ...of("date", "self == timestamp('2020-01-01T00:00:00Z')", "late-day", "odd-day"),
    tree: ruled({ type: "object", additionalProperties: number }, "self.all(k, self[k] > 5)"),
    entry: ruled({ type: "object", additionalProperties: text }, "self.all(k, self[k] == 'z')"),
    items: ruled({ type: "array", maxItems: 5, items: { ...text, maxLength: 5 } }, "self.all(x, x == 'z')"),
  }
  const path = `${definitions}/things.${group}`
  return [
    ...definedWith(group, { count: number, ...asAny }),
    ...Object.entries(values).map(([name, value]) =>
      post(things, thing({ [name]: value }, { name }), { label: `POST ${name}` }),
    ),
    ...Object.entries(now).flatMap(([name, schema]) => [
      patch(path, mergePatch, { spec: typed({ ...asAny, [name]: schema }) }, { label: `PATCH ${name}` }),
      patch(
        `${things}/${name}?dryRun=All`,
        mergePatch,
        { spec: { count: 5 } },
        {
          label: `PATCH ${name} until its type is new`,
          untilText: ["evaluating rule", "failed rule", "no such overload", "Invalid value"],
        },
      ),
    ]),
  ]
}

function named(): RequestStep[] {
  const one = (label: string, metadata: object, more: object = {}): RequestStep => {
    const costly =
      "self.metadata.name.matches('^[a-z]+$') && self.metadata.name.split('').all(x, self.metadata.name.split('').all(y, x != y))"
    const openAPIV3Schema = ruled(
      { type: "object", properties: { kind: text, apiVersion: text, metadata, ...more } },
      costly,
    )
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }]
    const spec = { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions }
    return post(`${definitions}?dryRun=All`, { metadata: { name: `things.${group}` }, spec } as unknown as Json, {
      label: `POST ${label}`,
    })
  }
  const short = { ...text, maxLength: 5 }
  const object = (properties: object): object => ({ type: "object", properties })
  return [
    one("no metadata", { type: "object" }),
    one("a short name", object({ name: short })),
    one("a short name and another", object({ name: short, generateName: text })),
    one("only the other", object({ generateName: short })),
    one("a short name without types", object({ name: short, generateName: text }), { kind: { ...text, maxLength: 3 } }),
    one("a date as a name", object({ name: { ...text, format: "date" }, generateName: text })),
    one("a number as a name", object({ name: number, generateName: text })),
  ]
}

/** Each default costs less than one may; together they cost more than all may, so the deepest are not checked. */
function dear(): RequestStep[] {
  const numbers = `[${Array.from({ length: 50 }, (_, index) => index).join()}]`
  const costly = `${numbers}.all(x, ${numbers}.all(y, ${numbers}.all(z, z >= 0)))`
  const deep = (levels: number): object =>
    ruled(
      { type: "array", maxItems: 1, default: [], items: levels === 0 ? text : deep(levels - 1) },
      rule(costly, { message: `level ${levels}` }),
    )
  const one = (levels: number): RequestStep => {
    const openAPIV3Schema = { type: "object", properties: { list: deep(levels) } }
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }]
    const spec = { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions }
    const body = { metadata: { name: `things.${group}` }, spec } as unknown as Json
    return post(`${definitions}?dryRun=All`, body, { label: `POST ${levels} levels of defaults` })
  }
  return [one(1), one(20)]
}

function below(): RequestStep[] {
  const whole = { type: "object", "x-kubernetes-embedded-resource": true, ...free }
  const preset = { ...text, default: "x" }
  const fields = {
    presets: { ...free, additionalProperties: preset },
    presetItems: { ...free, items: preset },
    wholes: { ...free, additionalProperties: whole },
    wholeItems: { ...free, items: whole },
    wholeOrNot: { type: "object", additionalProperties: whole },
    nested: { ...free, additionalProperties: { ...free, additionalProperties: preset } },
    sets: { ...free, additionalProperties: { type: "array", "x-kubernetes-list-type": "set", items: text } },
    both: {
      ...free,
      items: { type: "object", properties: { a: preset } },
      additionalProperties: { type: "object", properties: { b: preset } },
    },
    numbers: { type: "array", "x-kubernetes-list-type": "set", items: { type: "number" } },
  }
  const pod = { apiVersion: "v1", kind: "Pod" }
  const raw = (spec: string): RequestStep => ({
    method: "POST",
    path: `${things}?dryRun=All`,
    label: `POST ${spec}`,
    body: `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"a"},"spec":${spec}}`,
  })
  return [
    ...definedWith(group, fields),
    ...tried([
      { presets: { a: null } },
      { presets: { a: "y", b: null } },
      { presetItems: [null, "y"] },
      { wholes: { a: { ...pod, metadata: { name: "a/b", bogus: 1 } } } },
      { wholes: { a: { ...pod, metadata: { name: "a", bogus: 1, creationTimestamp: null } } } },
      { wholes: { a: { ...pod, metadata: 5 } } },
      { wholes: { a: { kind: 5 } } },
      { wholes: { a: {} } },
      { wholes: [{ kind: 5 }] },
      { wholeItems: [{ ...pod, metadata: { name: "a", bogus: 1 } }, {}] },
      { wholeItems: { a: { kind: 5 } } },
      { wholeOrNot: [{ kind: 5 }] },
      { wholeOrNot: { a: { ...pod, metadata: { bogus: 1 } } } },
      { nested: { a: { b: null } } },
      { nested: { a: null } },
      { sets: { a: ["x", "x"] } },
      { both: [{}, { a: null }, {}] },
      { both: { x: {}, y: { b: null } } },
    ]),
    raw('{"numbers":[1.0,1.00]}'),
    raw('{"numbers":[9007199254740993,9007199254740992]}'),
    raw('{"numbers":[1.5,1.50]}'),
  ]
}
