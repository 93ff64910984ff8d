// Conditions of webhooks: what they see, what becomes of those that cannot be evaluated or cost too much.

import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { post, remove, type RequestStep } from "../scenario.ts"
import { map, validating, within, writes } from "./matching.ts"
import { maps, rule, type WebhookScenario } from "./scenario.ts"

export function conditionScenarios(): WebhookScenario[] {
  return [
    { name: "conditions decide", hooks: validating(...conditioned), steps: writes() },
    ...[
      ...faultyConditions.map((expression) => [expression, ["true", expression]] as const),
      ...dearConditions,
    ].flatMap(([what, expressions]) =>
      ["Fail", "Ignore"].map((failurePolicy) => ({
        name: `a condition cannot be evaluated: ${what}, ${failurePolicy}`,
        hooks: validating({
          failurePolicy,
          matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
        }),
        steps: [post(maps, map("a", { data: { a: "b" } })), remove(`${maps}/a`)],
      })),
    ),
    { name: "conditions see the caller and what it may do", hooks: validating(...ofCallers), steps: byCallers() },
  ]
}

const conditioned: readonly Loose[] = [
  [["a", 'request.operation == "CREATE"']],
  [
    ["a", 'request.resource.resource == "pods"'],
    ["b", "request.subResource != ''"],
  ],
  [["a", "object != null && has(object.data)"]],
  [["a", "oldObject != null"]],
  [["a", "request.dryRun == false && has(request.options.fieldManager)"]],
  [["a", "object.metadata.name.startsWith('p')"]],
  [["a", "request.name == '' || request.namespace == ''"]],
  [["a", "namespaceObject == null"]],
].map((conditions) => ({
  ...within,
  failurePolicy: "Ignore",
  rules: [rule("*/*", { scope: "Namespaced" })],
  matchConditions: conditions.map(([name, expression]) => ({ name, expression })),
}))

const faultyConditions = [
  "object.data.none == 'x'",
  "object.none == 'x'",
  "oldObject.data.a == 'b'",
  "object.data.a == 'b' && int(object.data.a) > 1",
  "[1, 2].map(x, x / 0).size() == 2",
]

// Each call may cost 1,000,000, all conditions of a webhook together 2,500,000.
const long = (length: number): string => `'${"a".repeat(length)}'.replace('a', '${"b".repeat(100)}')`
const dear = `${long(94)}.contains(${long(94)})`
const tooDear = `${long(120)}.contains(${long(120)})`

const dearConditions: readonly (readonly [what: string, expressions: readonly string[]])[] = [
  ["one costs too much", [tooDear]],
  ["one costs too much, another is false", [tooDear, "false"]],
  ["two cost much", [dear, dear]],
  ["three cost too much", [dear, dear, dear]],
  ["three cost too much, another is false", ["false", dear, dear, dear]],
]

const ofCallers: readonly Loose[] = [
  "authorizer.group('').resource('pods').namespace(request.namespace).check('create').allowed()",
  "!authorizer.requestResource.check('delete').allowed()",
  "has(request.userInfo.extra)",
  "request.userInfo.groups.exists(g, g == 'system:masters')",
  "authorizer.serviceAccount(request.namespace, 'default').group('').resource('secrets').check('get').allowed()",
].map((expression) => ({ ...within, matchConditions: [{ name: "a", expression }] }))

function byCallers(): RequestStep[] {
  const user = { "impersonate-user": "jane", "impersonate-extra-a": "b" }
  return [
    post("/apis/rbac.authorization.k8s.io/v1/namespaces/@{ns}/rolebindings", {
      metadata: { name: "a" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:aggregate-to-edit" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "jane" }],
    }),
    post(maps, map("a")),
    post(maps, map("b"), { headers: user, untilCode: 201 }),
  ]
}
