// Values at the edge of what their types hold: amounts of 64 bits, names that lead elsewhere, texts that are too long.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1/namespaces/@{ns}"
const dry = "?dryRun=All"
const main = { name: "main", image: "busybox" }
const labels = { a: "b" }

export function edgeCases(): Scenario[] {
  return [
    { name: "amounts are at the edge of 64 bits", anyOrder: true, steps: amounts.split(" ").flatMap(ofAmount) },
    { name: "pods run as accounts of any name", steps: accounts.flatMap(ofAccount) },
    { name: "templates search any domains", steps: searches.flatMap(ofSearches) },
    { name: "a slice's nodes are selected by empty lists", steps: terms.map(ofTerms) },
  ]
}

const amounts =
  "9223372036854775807 9223372036854775808 9223372036854775809 -9223372036854775808 -9223372036854775809 " +
  "9E 8Ei 7Ei 9.3E 10E 1e30 9223372036854775807m 1e-10 18446744073709551616 123456789012345678901234567890 1E100 " +
  "9223372036854775.808k 5. .5 1K"

function ofAmount(amount: string): RequestStep[] {
  const label = (of: string): { label: string } => ({ label: `${of} ${amount}` })
  const resources = (more: Body): Body => ({ metadata: { name: "a" }, spec: { containers: [{ ...main, ...more }] } })
  const accessModes = ["ReadWriteOnce"]
  return [
    post(
      `/api/v1/persistentvolumes${dry}`,
      { metadata: { name: "a-@{id}" }, spec: { capacity: { storage: amount }, accessModes, hostPath: { path: "/a" } } },
      label("volume"),
    ),
    post(
      `${core}/persistentvolumeclaims${dry}`,
      { metadata: { name: "a" }, spec: { resources: { requests: { storage: amount } }, accessModes } },
      label("claim"),
    ),
    post(
      `${core}/resourcequotas${dry}`,
      { metadata: { name: "a" }, spec: { hard: { cpu: amount, pods: amount } } },
      label("quota"),
    ),
    post(`${core}/pods${dry}`, resources({ resources: { requests: { memory: amount } } }), label("pod's memory")),
    post(
      `${core}/pods${dry}`,
      resources({ resources: { limits: { "example.com/a": amount } } }),
      label("pod's device"),
    ),
  ]
}

const accounts = ["a/b", "/", "default/", "..", "a%b", "Bad_Name", "-a", " a", "a.b", "a".repeat(254)]

function ofAccount(name: string): RequestStep[] {
  const pod = (spec: Body): Body => ({ metadata: { name: "a" }, spec: { containers: [main], ...spec } })
  const short = name.slice(0, 20)
  return [
    post(`${core}/pods${dry}`, pod({ serviceAccountName: name }), { label: `pod of ${short}` }),
    post(`${core}/pods${dry}`, pod({ serviceAccount: name }), { label: `pod of ${short}, as it was once` }),
    post(
      `/apis/apps/v1/namespaces/@{ns}/deployments${dry}`,
      {
        metadata: { name: "a" },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [main], serviceAccountName: name } },
        },
      },
      { label: `template of ${short}` },
    ),
  ]
}

const long = "a".repeat(60)
const searches: string[][] = [
  ["a".repeat(300)],
  [`${"A".repeat(300)}`],
  Array.from({ length: 33 }, (_, index) => `a${index}.example`),
  Array.from({ length: 20 }, (_, index) => `${long}.${long}.${index}`),
  Array.from({ length: 40 }, (_, index) => `${long}.${index}`),
  [".", "a.b.", "", "_a.b", "A.b", "a..b"],
]

function ofSearches(list: string[]): RequestStep[] {
  const template = { metadata: { labels }, spec: { containers: [main], dnsConfig: { searches: list } } }
  const label = (of: string): { label: string } => ({ label: `${of}, ${list.length} of ${list[0]?.length ?? 0}` })
  return [
    post(`${core}/podtemplates${dry}`, { metadata: { name: "a" }, template }, label("template")),
    post(
      `${core}/replicationcontrollers${dry}`,
      { metadata: { name: "a" }, spec: { selector: labels, template } },
      label("replication controller"),
    ),
    post(
      `/apis/apps/v1/namespaces/@{ns}/deployments${dry}`,
      { metadata: { name: "a" }, spec: { selector: { matchLabels: labels }, template } },
      label("deployment"),
    ),
  ]
}

const exists = { key: "a", operator: "Exists" }
const terms: Body[][] = [
  [],
  [{}],
  [{ matchFields: [] }],
  [{ matchExpressions: [], matchFields: [] }],
  [{ matchExpressions: [exists], matchFields: [] }],
  [{ matchExpressions: [exists] }, { matchFields: [] }],
  [{ matchExpressions: [{}] }, { matchFields: [{ key: "metadata.name" }] }],
  [
    { matchExpressions: [{ ...exists, values: [] }], matchFields: [] },
    { matchExpressions: [], matchFields: [exists] },
  ],
]

function ofTerms(nodeSelectorTerms: Body[]): RequestStep {
  const pool = { name: "p", generation: 1, resourceSliceCount: 1 }
  return post(
    `/apis/resource.k8s.io/v1/resourceslices${dry}`,
    {
      metadata: { name: "a-@{id}" },
      spec: { driver: "d.example.com", pool, nodeSelector: { nodeSelectorTerms }, devices: [{ name: "a" }] },
    },
    { label: JSON.stringify(nodeSelectorTerms) },
  )
}
