// kubectl's annotation of what it has applied by itself: which conflicts it excuses when kubectl applies on the server, and how the
// server writes it.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions, group, things } from "./things.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const annotation = "kubectl.kubernetes.io/last-applied-configuration"

const map = (more: { [key: string]: Json } = {}): { [key: string]: Json } => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a" },
  ...more,
})
const data = { k: "v" }

const applied: Readonly<Record<string, string>> = {
  "the same": JSON.stringify(map({ data })),
  "another value": JSON.stringify(map({ data: { k: "other" } })),
  "another version": JSON.stringify(map({ apiVersion: "v2", data })),
  "another kind": JSON.stringify(map({ kind: "Secret", data })),
  "no kind": JSON.stringify(map({ kind: "", data })),
  "an unknown field": JSON.stringify(map({ data, zzz: 1 })),
  "an unknown list": JSON.stringify(map({ data, items: [] })),
  "a value of another type": JSON.stringify(map({ data: { k: 1 } })),
  "more than one": `${JSON.stringify(map({ data }))} {}`,
  nothing: "null",
  "a list": "[]",
}

const configurations: readonly Json[] = [
  map(),
  map({ data: {} }),
  map({ metadata: { name: "a", annotations: null } }),
  map({ metadata: { name: "a", annotations: {} } }),
  map({ metadata: { name: "a", annotations: { [annotation]: "x" } } }),
  map({ metadata: { name: "a", annotations: { [annotation]: "x", a: "b" }, labels: {} } }),
  map({ data: { k: "<a>&", "10": "a", "9": "b", é: "\u2028" } }),
]

const specs = ['{"a":9007199254740993}', '{"a":1.0}', '{"a":1e21}', '{"a":"<&>"}', '{"10":1,"9":2,"b":{"2":1,"1":2}}']

export function lastAppliedCases(): Scenario[] {
  const kubectl = (path: string, body: Json, more = ""): RequestStep =>
    patch(`${path}?fieldManager=kubectl${more}`, applyPatch, body, { label: `APPLY ${JSON.stringify(body)}${more}` })
  const before = (text: string): RequestStep =>
    post(`${maps}?fieldManager=before`, { metadata: { name: "a", annotations: { [annotation]: text } }, data })
  return [
    ...Object.entries(applied).map(([name, text]) => ({
      name: `kubectl has applied before: ${name}`,
      steps: [before(text), kubectl(`${maps}/a`, map({ data: { k: "changed" } }))],
    })),
    ...configurations.map((configuration, index) => ({
      name: `what kubectl has applied is kept up to date: configuration ${index + 1}`,
      steps: [before("y"), kubectl(`${maps}/a`, configuration, "&force=true")],
    })),
    {
      name: "what kubectl has applied of a custom resource is kept up to date",
      steps: [
        post(
          definitions,
          definitionOf(
            group,
            {},
            { schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } },
          ) as Json,
        ),
        ...specs.flatMap((spec, index) => {
          const [apiVersion, kind, name] = [`${group}/v1`, "Thing", `a${index}`]
          const text = `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${name}"},"spec":${spec}}`
          return [
            post(
              things,
              { apiVersion, kind, metadata: { name, annotations: { [annotation]: "y" } } },
              { untilCode: 201 },
            ),
            kubectl(`${things}/${name}`, text),
          ]
        }),
      ],
    },
  ]
}
