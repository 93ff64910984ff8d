// What is answered and never stored is looked at by its kind's own rules before a policy is asked about it.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, remove, type RequestStep, type Scenario, type User } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const authorization = "/apis/authorization.k8s.io/v1"
const authentication = "/apis/authentication.k8s.io/v1"
const admission = "/apis/admissionregistration.k8s.io/v1"
/** The policy refuses what this user asks, and what is asked of the namespace. */
const as: User = { name: "asker-@{id}", groups: ["system:masters"] }

export function admittedReviewCases(): Scenario[] {
  return [
    { name: "reviews have faults before they are admitted", steps: reviews() },
    { name: "reviews have metadata that is the server's", steps: metadata() },
  ]
}

function metadata(): RequestStep[] {
  const then = "2020-01-01T00:00:00Z"
  const given: { [key: string]: Json }[] = [
    { uid: "x", creationTimestamp: then, deletionTimestamp: then, deletionGracePeriodSeconds: 3, selfLink: "x" },
    { resourceVersion: "1" },
    { name: "x", uid: "y" },
    { finalizers: [], labels: {}, ownerReferences: [] },
  ]
  const resourceAttributes = { namespace: "@{ns}", verb: "get", resource: "pods" }
  const bodies: [string, Json][] = [
    [`${authorization}/subjectaccessreviews`, { user: "x", resourceAttributes }],
    [`${authorization}/selfsubjectaccessreviews`, { resourceAttributes }],
    [`${authorization}/namespaces/@{ns}/localsubjectaccessreviews`, { user: "x", resourceAttributes }],
    [`${authentication}/tokenreviews`, { token: "x" }],
    [`${authentication}/selfsubjectreviews`, {}],
  ]
  return given.flatMap((more, index) => [
    ...bodies.map(([path, spec]) => post(path, { metadata: more, spec }, { label: `POST ${path} ${index}` })),
    post(`${core}/bindings?dryRun=All`, { metadata: { name: "a", ...more }, target: { name: "n" } }),
    post(`${core}/pods/a/eviction?dryRun=All`, { metadata: { name: "a", ...more } }),
  ])
}

function reviews(): RequestStep[] {
  const name = "reviews-@{id}"
  const groups = ["authorization.k8s.io", "authentication.k8s.io"]
  const ofCore = ["bindings", "serviceaccounts/token", "pods/binding", "pods/eviction", "configmaps"]
  const asked: Json = {
    namespace: "x",
    user: "x",
    resourceAttributes: { namespace: "@{ns}", verb: "get", resource: "pods" },
  }
  const each = (path: string, kinds: readonly string[], specs: readonly Json[]): RequestStep[] =>
    kinds.flatMap((kind) =>
      specs.map((spec, index) => post(`${path}/${kind}`, { spec }, { as, label: `POST ${kind} ${index}` })),
    )
  const accesses = [
    "subjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "namespaces/@{ns}/localsubjectaccessreviews",
  ]
  return [
    post(`${admission}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            { apiGroups: groups, apiVersions: ["v1"], resources: ["*"], operations: ["CREATE"] },
            { apiGroups: [""], apiVersions: ["v1"], resources: ofCore, operations: ["CREATE"] },
          ],
        },
        validations: [
          {
            expression: "request.userInfo.username != 'asker-@{id}' && request.namespace != '@{ns}'",
            messageExpression: "'asked ' + request.kind.kind + ' ' + request.name + ' ' + request.namespace",
          },
        ],
      },
    }),
    post(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    }),
    post(`${core}/configmaps?dryRun=All`, { metadata: { name: "probe" } }, { untilCode: 422 }),
    ...each(authorization, accesses, [{}, asked]),
    ...each(authentication, ["tokenreviews", "selfsubjectreviews"], [{}, { token: "x" }]),
    post(`${core}/bindings`, { metadata: { name: "a" } }, { label: "POST a binding to nothing" }),
    post(`${core}/bindings`, { metadata: { name: "a" }, target: { name: "n" } }),
    post(`${core}/bindings`, { target: { name: "n" } }, { label: "POST a binding of nothing" }),
    post(`${core}/pods/a/binding`, { metadata: { name: "b" } }),
    post(`${core}/pods/a/eviction`, { metadata: { name: "a" } }),
    post(`${core}/serviceaccounts/default/token`, { spec: { expirationSeconds: 1 } }),
    remove(`${admission}/validatingadmissionpolicybindings/${name}`),
    remove(`${admission}/validatingadmissionpolicies/${name}`),
  ]
}
