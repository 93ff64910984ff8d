// Texts of policies and webhooks: white space around them, empty choices, and what is shown of lists that are too long.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const metadata = { name: "p-@{id}" }
const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }
const matchConstraints = { resourceRules: [rule] }

export function policyTextCases(): Scenario[] {
  return [
    { name: "texts of a policy are surrounded by white space", steps: spaces.flatMap(surrounded) },
    { name: "choices of a policy are empty", steps: emptyChoices() },
  ]
}

/** What Go and JavaScript take for white space is not the same. */
const spaces = ["\u0085", "\ufeff", "\u00a0", " \t\n\v\f\r", "\u200b", "\u0085true\u0085", "\ufefftrue", "\u2003true"]

const validating = (spec: object, label: string): RequestStep =>
  post(
    `${policies}/validatingadmissionpolicies?dryRun=All`,
    { metadata, spec: { matchConstraints, validations: [{ expression: "true" }], ...spec } } as Json,
    { label },
  )

function surrounded(text: string, index: number): RequestStep[] {
  const matchConditions = [{ name: "a", expression: text }]
  const mutations = [
    { patchType: "JSONPatch", jsonPatch: { expression: text } },
    { patchType: "ApplyConfiguration", applyConfiguration: { expression: text } },
  ]
  const webhook = {
    name: "a.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url: "https://a.example.com" },
    matchConditions,
  }
  return [
    validating({ validations: [{ expression: text }] }, `POST expression ${index}`),
    validating({ validations: [{ expression: "true", message: text }] }, `POST message ${index}`),
    validating({ validations: [{ expression: "true", messageExpression: text }] }, `POST its expression ${index}`),
    validating({ matchConditions }, `POST condition ${index}`),
    validating({ variables: [{ name: text, expression: text }] }, `POST variable ${index}`),
    validating({ auditAnnotations: [{ key: "a", valueExpression: text }] }, `POST annotation ${index}`),
    post(
      `${policies}/mutatingadmissionpolicies?dryRun=All`,
      { metadata, spec: { matchConstraints, mutations, reinvocationPolicy: "Never" } },
      { label: `POST mutations ${index}` },
    ),
    post(
      `${policies}/validatingwebhookconfigurations?dryRun=All`,
      { metadata, webhooks: [webhook] },
      { label: `POST webhook ${index}` },
    ),
  ]
}

function emptyChoices(): RequestStep[] {
  const auditAnnotations = Array.from({ length: 21 }, (_, index) => ({ key: `k${index}`, valueExpression: "'a'" }))
  return [
    validating({ failurePolicy: "" }, "POST without failure policy"),
    validating({ matchConstraints: { ...matchConstraints, matchPolicy: "" } }, "POST without match policy"),
    validating({ auditAnnotations }, "POST with many annotations"),
  ]
}
