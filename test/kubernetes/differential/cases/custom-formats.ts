// Formats, types and defaults that do not go together: in definitions, whose defaults are checked, and in objects.

import "../../../../apimachinery/schema/exact-integers.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { definedWith, definitions } from "./things.ts"

const group = "f@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function customFormatCases(): Scenario[] {
  return [
    { name: "a custom resource has values of another type than its formats", anyOrder: true, steps: values() },
    { name: "a definition has defaults that do not fit", anyOrder: true, steps: defaults() },
  ]
}

const formats =
  "date-time date datetime ipv4 ipv6 ip cidr mac uuid uuid3 byte email hostname uri duration password binary int32 int64 float double bsonobjectid isbn creditcard ssn hexcolor rgbcolor bogus".split(
    " ",
  )
const eitherKind = { "x-kubernetes-int-or-string": true }

const fields: Readonly<Record<string, object>> = {
  ...Object.fromEntries(formats.map((format) => [`text-${format}`, { type: "string", format }])),
  ...Object.fromEntries(
    ["int32", "int64", "float", "double", "date", "bogus"].flatMap((format) =>
      ["integer", "number", "boolean"].map((type) => [`${type}-${format}`, { type, format }]),
    ),
  ),
  "object-date": { type: "object", format: "date" },
  "list-date": { type: "array", format: "date", items: { type: "string" } },
  "items-date": { type: "array", items: { type: "string", format: "date" } },
  "entries-date": { type: "object", additionalProperties: { type: "string", format: "date" } },
  "nullable-date": { type: "string", format: "date", nullable: true },
  "either-int32": { ...eitherKind, format: "int32" },
  "either-date": { ...eitherKind, format: "date" },
  "either-pattern": { ...eitherKind, pattern: "^[0-9]+%$" },
  "either-listed": { ...eitherKind, enum: [1, "a"] },
  "either-bounded": { ...eitherKind, minimum: 2, maxLength: 2 },
  "either-any-of": { ...eitherKind, anyOf: [{ type: "integer" }, { type: "string" }] },
  "either-all-of": {
    ...eitherKind,
    allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "^a" }],
  },
  "either-nullable": { ...eitherKind, nullable: true },
  "free-date": { "x-kubernetes-preserve-unknown-fields": true, format: "date" },
}

/** No definition has these, but they are looked at with their defaults. */
const refused: Readonly<Record<string, object>> = {
  bogus: { type: "bogus" },
  "bogus-date": { type: "bogus", format: "date" },
  "bogus-int32": { type: "bogus", format: "int32" },
  "bogus-listed": { type: "bogus", enum: ["x"] },
  "bogus-bounded": { type: "bogus", minimum: 2, maxLength: 2, minItems: 1, minProperties: 1 },
  "bogus-nullable": { type: "bogus", nullable: true },
  null: { type: "null" },
  file: { type: "file" },
}

const tried: readonly Json[] = [
  "x",
  "",
  5,
  0,
  -1,
  1.5,
  3e9,
  1e300,
  2n ** 63n - 1n,
  true,
  null,
  {},
  { a: 1 },
  [],
  [1],
  ["x"],
  [null],
  "2024-01-02",
]

const ofAddresses = new Set(["text-ipv4", "text-ipv6", "text-cidr"])
const addresses = [
  "10.0.0.1",
  "010.0.0.1",
  "10.0.0.256",
  "::1",
  "::ffff:10.0.0.1",
  "::ffff:010.0.0.1",
  "fe80::1%eth0",
  "fe80::1%a.b",
  "1:2:3:4:5:6:7:8:9",
  "00001::",
  "10.0.0.0/8",
  "10.0.0.0/08",
  "010.0.0.0/8",
  "10.0.0.1/33",
  "::/128",
  "::/129",
  "::ffff:10.0.0.0/104",
  "fe80::1%eth0/64",
  "10.0.0.0/-1",
  "10.0.0.0/",
]

function values(): RequestStep[] {
  return [
    ...definedWith(group, fields),
    ...Object.keys(fields).flatMap((name) =>
      [...tried, ...(ofAddresses.has(name) ? addresses : [])].map((value) => {
        const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec: { [name]: value } }
        return post(`${things}?dryRun=All`, thing, { label: `POST ${JSON.stringify({ [name]: value })}` })
      }),
    ),
  ]
}

/** Formats of texts beyond these are the same. */
const telling = new Set(["text-date", "text-byte", "text-hostname", "text-int32", "text-bogus"])

function defaults(): RequestStep[] {
  const tellingFields = Object.entries({ ...fields, ...refused }).filter(
    ([name]) => !name.startsWith("text-") || telling.has(name),
  )
  return tellingFields.flatMap(([, field]) =>
    tried.map((value) => {
      const spec = { ...field, default: value } as Json
      const schema = { type: "object", properties: { spec } }
      const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }]
      const names = { plural: "things", kind: "Thing" }
      const body = { metadata: { name: `things.${group}` }, spec: { group, scope: "Cluster", names, versions } } as Json
      return post(`${definitions}?dryRun=All`, body, { label: `POST ${JSON.stringify(spec)}` })
    }),
  )
}
