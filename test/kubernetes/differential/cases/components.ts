// ComponentStatuses, which are never stored. Both servers have one of the same name: their store.

import { get, post, remove, type RequestStep, type Scenario, watch } from "../scenario.ts"
import { asMetadata, asMetadataList, asTable, asYaml } from "../generate/life-scenarios.ts"

const path = "/api/v1/componentstatuses"
const one = `${path}/etcd-0`
const only = `${path}?fieldSelector=metadata.name%3Detcd-0`

const forms = [asTable, asMetadataList, asMetadata, asYaml, { accept: "application/vnd.kubernetes.protobuf" }]

function asForms(what: string): RequestStep[] {
  return forms.map((headers) => get(what, { headers, label: `GET ${what} as ${headers.accept}` }))
}

export function componentCases(): Scenario[] {
  const none = ["labelSelector=a%3Db", "fieldSelector=metadata.name%3Dx", "fieldSelector=metadata.name%3Dx&limit=1"]
  const more = [
    "limit=1",
    "limit=x",
    "pretty=true",
    "labelSelector=%21a",
    "resourceVersion=0",
    "resourceVersion=99999999999",
    "resourceVersion=x",
    "resourceVersionMatch=Exact",
    "resourceVersion=1&resourceVersionMatch=Exact",
    "continue=x",
    "sendInitialEvents=true",
  ].map((query) => `${only}&${query}`)
  const bad = ["fieldSelector=spec.x%3Dy", "fieldSelector=%3Dx", "labelSelector=,,%3D"].map(
    (query) => `${path}?${query}`,
  )
  return [
    {
      name: "component statuses, one by one and as a list",
      steps: [
        get(one),
        get(`${one}?resourceVersion=x`),
        get(`${one}?resourceVersion=99999999999`),
        get(`${path}/missing`),
        get(only),
        ...asForms(one),
        ...asForms(only),
        ...[...more, ...bad, ...none.map((query) => `${path}?${query}`)].map((each) => get(each)),
      ],
    },
    {
      name: "parts of a control plane are neither written nor watched",
      steps: [
        watch(`${path}?watch=1`),
        watch("/api/v1/watch/componentstatuses"),
        post(path, { metadata: { name: "a" } }),
        remove(one),
        remove(path),
        get(`${one}/status`),
        get("/api/v1/namespaces/@{ns}/componentstatuses"),
      ],
    },
  ]
}
