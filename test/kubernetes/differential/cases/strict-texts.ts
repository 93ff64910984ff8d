// Bodies with duplicate and unknown fields: which are reported, and in which order.

import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"
const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

export function strictTextCases(): Scenario[] {
  return [
    { name: "duplicate and unknown fields", steps: validations.flatMap(ofKinds) },
    { name: "duplicate and unknown fields of an object of a definition", steps: ofCustom() },
  ]
}

const validations = ["Warn", "Strict", "Ignore"]
const root = "kube-root-ca.crt"

const head = '"kind":"ConfigMap","apiVersion":"v1"'
const mapTexts = [
  `{${head},"metadata":{"name":"${root}","name":"${root}","bogus":1},"data":{"a":"b","a":"c"},"zz":1,"aa":2}`,
  `{"zz":1,"zz":2,${head},"metadata":{"bogus":1,"bogus":2,"name":"${root}"}}`,
  `{"zz":{"a":1,"a":2,"b":{"c":1,"c":1}},${head},"metadata":{"name":"${root}","labels":{"a":"b","a":"c"}}}`,
  `{${head},${head},"metadata":{"name":"${root}"},"Data":{}}`,
]

const containers =
  '[{"name":"m","name":"m","image":"i","zz":1},{"zz":[{"a":1,"a":1}],"image":"i","name":"n","name":"o"}]'
const deployment = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"},"spec":{"replicas":1,"replicas":2,"bogus":1,
"selector":{"matchLabels":{"a":"b"},"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
"spec":{"containers":${containers},"aa":1}}}}`

const yaml = `zz: 1
zz: 2
kind: ConfigMap
apiVersion: v1
metadata:
  bogus: 1
  name: ${root}
  name: ${root}
`

function ofKinds(validation: string): RequestStep[] {
  const query = `?dryRun=All&fieldValidation=${validation}`
  return [
    ...mapTexts.flatMap((text, index) => [
      post(`${maps}${query}`, text, { label: `POST ${index}, ${validation}` }),
      put(`${maps}/${root}${query}`, text, { label: `PUT ${index}, ${validation}` }),
      patch(`${maps}/${root}${query}`, mergePatch, text, { label: `PATCH ${index}, ${validation}` }),
    ]),
    post(`${deployments}${query}`, deployment, { label: `POST deployment, ${validation}` }),
    post(`${maps}${query}`, yaml, { contentType: "application/yaml", label: `POST YAML, ${validation}` }),
  ]
}

function ofCustom(): RequestStep[] {
  const group = "strict@{id}.example.com"
  const type = `"kind":"Thing","apiVersion":"${group}/v1"`
  const texts = [
    `{${type},"metadata":{"name":"a","bogus":1,"name":"a","labels":{"a":"b","a":"b"}},"spec":{"zz":1,"a":1,"a":2,"zz":2},"aa":1}`,
    `{"zz":1,"zz":2,${type},"metadata":{"name":"a","bogus":1,"bogus":1}}`,
  ]
  const properties = { spec: { type: "object", properties: { a: { type: "integer" } } } }
  const schema = { openAPIV3Schema: { type: "object", properties } }
  const things = `/apis/${group}/v1/namespaces/@{ns}/things`
  return [
    post(definitions, {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    }),
    get(things, { untilCode: 200 }),
    ...validations.flatMap((validation) =>
      texts.flatMap((text, index) => [
        post(`${things}?dryRun=All&fieldValidation=${validation}`, text, { label: `POST ${index}, ${validation}` }),
        patch(
          `${things}/a?dryRun=All&fieldManager=m&fieldValidation=${validation}`,
          applyPatch,
          `{${type},"metadata":{"name":"a","name":"a"},"spec":{"a":1,"a":2}}`,
          { label: `APPLY ${index}, ${validation}` },
        ),
      ]),
    ),
    remove(`${definitions}/things.${group}`),
  ]
}
