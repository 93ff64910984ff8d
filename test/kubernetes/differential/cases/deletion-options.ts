// The delete options that admission sees.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, remove, type RequestStep, type Scenario, withQuery } from "../scenario.ts"

const group = "/apis/admissionregistration.k8s.io/v1"
const namespace = "/api/v1/namespaces/@{ns}"

export function deletionOptionCases(): Scenario[] {
  return [
    {
      name: "admission sees the delete options",
      steps: [
        post(`${namespace}/configmaps`, { metadata: { name: "a" } }),
        post(`${namespace}/pods`, pod("p", {})),
        post(`${namespace}/pods`, pod("q", { nodeName: "nowhere-@{id}", terminationGracePeriodSeconds: 7 })),
        post(`${group}/validatingadmissionpolicies`, policy),
        post(`${group}/validatingadmissionpolicybindings`, binding),
        remove(`${namespace}/configmaps/a?dryRun=All`, undefined, { untilCode: 422 }),
        ...["configmaps/a", "pods/p", "pods/q", "configmaps", "pods"].flatMap(deletions),
        remove(`${group}/validatingadmissionpolicybindings/told-@{id}`),
        remove(`${group}/validatingadmissionpolicies/told-@{id}`),
      ],
    },
  ]
}

function pod(name: string, spec: { [key: string]: Json }): Json {
  return { metadata: { name }, spec: { containers: [{ name: "c", image: "i" }], ...spec } }
}

function deletions(path: string): RequestStep[] {
  const url = `${namespace}/${path}`
  return [
    remove(url),
    ...queries.map((query) => remove(withQuery(url, query))),
    ...bodies.map((body) => remove(url, body, { label: `${path}, ${JSON.stringify(body)}` })),
  ]
}

const queries = [
  "propagationPolicy=Background",
  "orphanDependents=true",
  "gracePeriodSeconds=3&dryRun=All",
  "gracePeriodSeconds=-5",
  // Collections are listed as of this revision: of another one, the servers forget at different times how they were.
  "resourceVersion=0",
]

const bodies: Json[] = [
  {},
  { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Foreground", gracePeriodSeconds: 0 },
  { preconditions: { uid: "x", resourceVersion: "1" } },
  { dryRun: ["All"], propagationPolicy: "Orphan" },
]

const fields = ["kind", "apiVersion", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "dryRun"]
const shown = (field: string): string =>
  `(has(request.options.${field}) ? ' ${field} ' + string(request.options.${field}${field === "dryRun" ? "[0]" : ""}) : '')`
const preconditions =
  "(has(request.options.preconditions) ? ' preconditions ' + (has(request.options.preconditions.uid) ? request.options.preconditions.uid : '-') + (has(request.options.preconditions.resourceVersion) ? request.options.preconditions.resourceVersion : '-') : '')"

const policy = {
  metadata: { name: "told-@{id}" },
  spec: {
    failurePolicy: "Fail",
    matchConstraints: {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
      resourceRules: [
        { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps", "pods"], operations: ["DELETE"] },
      ],
    },
    validations: [
      {
        expression: "false",
        messageExpression: `'told' + ${[...fields.map(shown), preconditions].join(" + ")} + ' dry ' + string(request.dryRun)`,
      },
    ],
  },
}

const binding = {
  metadata: { name: "told-@{id}" },
  spec: { policyName: "told-@{id}", validationActions: ["Deny"] },
}
