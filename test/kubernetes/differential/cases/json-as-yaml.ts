// JSON that is sent as YAML: some of it means something else there, or nothing. Also how a text that is no object is quoted.

import { applyPatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions, group, things } from "./things.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const yaml = { contentType: "application/yaml" }

const map = (value: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"${value}"}}`
const mapWith = (key: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{${key}"v"}}`

const values = [
  "\\/",
  "\\\\/",
  "\\\\\\/",
  "\\ud83d\\ude00",
  "\\ud800",
  "\\udc00",
  "\\\\ud83d",
  "\\uD7FF",
  "\\uE000",
  "\\uFFFE",
  "\\u0000",
  "\\u0085",
  "\\b\\f",
  "\x7f",
  "\t",
  "\u0080",
  "\u0085",
  "\u2028",
  "\ufeff",
  "\ufffe",
  "\u{1f600}",
]
const keys = [
  ...[1000, 1022, 1023, 1024, 2000].map((length) => `"${"k".repeat(length)}":`),
  '"k"\n:',
  '"k":\n',
  '"k"\t:\t',
  '"k" :',
  '"k" \r\n :',
]
/** Several faults, of which the order counts. */
const faulty = [
  '{"z":1,"b":1,"metadata":{"y":1,"x":2,"name":"a"},"a":2}',
  '{"z":1,"z":2,"b":1,"b":2,"a":1,"metadata":{"name":"a"}}',
  '{"data":{"k":1},"binaryData":{"a":2},"metadata":{"name":"a"}}',
]
const odd = [
  '\n{"a":1}',
  ' {"a":1}',
  '\t{"a":1}',
  '{ "a": 1 }',
  "a: 1\nb: 2\n",
  '{"b":"<é>","a":2}',
  "null",
  " ",
  "\t[",
  "[",
  '{"apiVersion":"apps/","kind":"ConfigMap"}',
  '{ "apiVersion":"apps/", "kind":"ConfigMap" }',
  ' {"kind":null}',
]

export function jsonAsYamlCases(): Scenario[] {
  const sent = (body: string): RequestStep[] => [
    post(`${maps}?dryRun=All`, body, { ...yaml, label: `YAML ${JSON.stringify(body)}` }),
    patch(`${maps}/a?dryRun=All&fieldManager=x`, applyPatch, body, { label: `APPLY ${JSON.stringify(body)}` }),
    post(`${maps}?dryRun=All`, body, { label: `JSON ${JSON.stringify(body)}` }),
  ]
  return [
    { name: "texts in JSON are sent as YAML", steps: values.flatMap((value) => sent(map(value))) },
    { name: "keys in JSON are sent as YAML", steps: keys.flatMap((key) => sent(mapWith(key))) },
    {
      name: "faults in JSON that is sent as YAML have an order",
      steps: faulty.flatMap((body) =>
        ["Warn", "Strict", "Ignore"].flatMap((validation) => [
          post(`${maps}?dryRun=All&fieldValidation=${validation}`, body, {
            ...yaml,
            label: `POST ${body} ${validation}`,
          }),
          put(`${maps}/a?dryRun=All&fieldValidation=${validation}`, body, {
            ...yaml,
            label: `PUT ${body} ${validation}`,
          }),
        ]),
      ),
    },
    {
      name: "a text that is no object, or no custom resource, is quoted",
      steps: [
        post(definitions, definitionOf(group, {}, { schema: { openAPIV3Schema: { type: "object" } } })),
        post(things, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } }, { untilCode: 201 }),
        ...odd.flatMap((body) =>
          [maps, things].flatMap((path) => [
            post(path, body, { label: `JSON ${JSON.stringify(body)} to ${path}` }),
            post(path, body, { ...yaml, label: `YAML ${JSON.stringify(body)} to ${path}` }),
            put(`${path}/a`, body, { label: `PUT ${JSON.stringify(body)} to ${path}` }),
          ]),
        ),
      ],
    },
  ]
}
