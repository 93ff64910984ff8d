// Policies that see objects in a version into which the webhook converts them, or does not.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, remove, type RequestStep } from "../scenario.ts"
import { group, servedBy, thing, v1, type Webhook } from "./kind.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"

/** What the webhook does with the object that they would see. */
const modes = ["stamp", "another name", "another version", "no metadata", "metadata text", "labels text", "text"]
const failurePolicies = ["Fail", "Ignore"]

interface Kind {
  kind: "mutating" | "validating"
  spec: object
}

/** What the policies see. */
const seen = ["metadata.resourceVersion", "spec.host", "spec.hostPort", "spec.preset", "spec.extra", "spec.stamp"]
  .map((field) => `string(has(object.${field}))`)
  .join(" + ")
/** Of v2, which has fields that v1 lacks. */
const added = "JSONPatch{op: 'add', path: '/spec/port', value: '5'}"

const mutating: Kind = {
  kind: "mutating",
  spec: {
    reinvocationPolicy: "Never",
    mutations: [
      {
        patchType: "JSONPatch",
        jsonPatch: {
          expression: `[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'seen': ${seen}}}, ${added}]`,
        },
      },
    ],
  },
}
const validating: Kind = {
  kind: "validating",
  spec: {
    validations: [
      { expression: "object.metadata.name != 'refused'", message: "seen" },
      {
        expression: "object.spec.mode == {} || !object.metadata.name.endsWith('-shown')",
        messageExpression: seen,
      },
    ],
  },
}

export function seenByPolicies(webhook: Webhook): RequestStep[] {
  return [...servedBy(webhook), ...[mutating, validating].flatMap(seenBy)]
}

function seenBy({ kind, spec }: Kind): RequestStep[] {
  const object = (name: string, failurePolicy: string, mode: object = {}): Json =>
    thing("v1", name, { hostPort: "a:1", mode } as Json, {
      metadata: { name, labels: { policy: kind, fails: failurePolicy } },
    })
  const change = (failurePolicy: string): Json => ({ metadata: { labels: { policy: kind, fails: failurePolicy } } })
  return failurePolicies.flatMap((failurePolicy) => [
    ...policy({ kind, spec: { ...spec, failurePolicy } }, failurePolicy),
    post(`${v1}?dryRun=All`, object("refused", failurePolicy), {
      untilText: "seen",
      label: `POST until ${kind} ${failurePolicy}`,
    }),
    ...modes.flatMap((mode, index) => {
      const name = `${kind}-${failurePolicy.toLowerCase()}-${index}`
      const label = (what: string) => ({ label: `${what} ${kind} ${failurePolicy}: ${mode}` })
      return [
        post(v1, object(name, failurePolicy, { v2: mode }), label("POST")),
        post(v1, thing("v1", `${name}-old`, { hostPort: "a:1", mode: { v2: mode } }), label("POST unseen")),
        patch(`${v1}/${name}-old`, mergePatch, change(failurePolicy), label("PATCH")),
        post(v1, object(`${name}-shown`, failurePolicy, { v2: mode }), label("POST shown")),
      ]
    }),
    ...removed(kind, failurePolicy),
  ])
}

const nameOf = (kind: string, failurePolicy: string): string => `${kind}-${failurePolicy.toLowerCase()}-@{id}`

function policy({ kind, spec }: Kind, failurePolicy: string): RequestStep[] {
  const metadata = { name: nameOf(kind, failurePolicy) }
  const matchConstraints = {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
    objectSelector: { matchLabels: { policy: kind, fails: failurePolicy } },
    resourceRules: [
      { apiGroups: [group], apiVersions: ["v2"], operations: ["CREATE", "UPDATE"], resources: ["things"] },
    ],
  }
  const validationActions = kind === "validating" ? { validationActions: ["Deny"] } : {}
  return [
    post(`${policies}/${kind}admissionpolicies`, { metadata, spec: { ...spec, matchConstraints } } as Json),
    post(`${policies}/${kind}admissionpolicybindings`, {
      metadata,
      spec: { policyName: metadata.name, ...validationActions },
    }),
  ]
}

function removed(kind: string, failurePolicy: string): RequestStep[] {
  return ["bindings", ""].map((bindings) =>
    remove(`${policies}/${kind}admissionpolic${bindings === "" ? "ies" : "ybindings"}/${nameOf(kind, failurePolicy)}`),
  )
}
