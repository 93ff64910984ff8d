// Policies that mutate custom resources, of which upstream checks little before: the types of their fields when a configuration is
// applied, and that they are of a kind when a patch has been.

import { post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { group, served, thing, things } from "./things.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"

export function policyCustomValueCases(): Scenario[] {
  return [{ name: "policies mutate custom resources that do not fit", anyOrder: true, steps: unfit() }]
}

/** By the name of the object that it mutates. */
const mutations: Readonly<Record<string, string>> = {
  applied: "Object{metadata: Object.metadata{labels: {'a': 'b'}}}",
  within: "Object{spec: Object.spec{port: 5}}",
  removed: "[JSONPatch{op: 'remove', path: '/kind'}]",
  mistyped: "[JSONPatch{op: 'add', path: '/kind', value: {'a': 'b'}}]",
  emptied: "[JSONPatch{op: 'replace', path: '/kind', value: ''}]",
  versioned: "[JSONPatch{op: 'replace', path: '/apiVersion', value: 5}]",
}

const withoutKind: readonly string[] = ["removed", "emptied"]

function unfit(): RequestStep[] {
  const names = Object.keys(mutations)
  const marks = "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'seen': 'yes'}}]"
  const faults = [{}, { size: "x" }, { size: 1.5, tags: "t" }, { parts: [{ name: 5 }, "p"] }, { labels: { a: 1 } }]
  return [
    ...served,
    ...Object.entries({ ...mutations, last: marks }).flatMap(([name, expression]) => policy(name, expression)),
    post(`${things}?dryRun=All`, thing({ size: 1 }, "last"), { untilText: '"seen"' }),
    ...names.flatMap((name) =>
      // Upstream records no managers of what does not fit, and the message shows the object.
      (withoutKind.includes(name) ? faults.slice(0, 1) : faults).map((fault) =>
        post(`${things}?dryRun=All`, thing({ size: 1, ...fault }, name), {
          label: `POST ${name} ${JSON.stringify(fault)}`,
        }),
      ),
    ),
    ...[...names, "last"].flatMap((name) =>
      ["mutatingadmissionpolicybindings", "mutatingadmissionpolicies"].map((kind) =>
        remove(`${policies}/${kind}/${name}-@{id}`),
      ),
    ),
  ]
}

function policy(name: string, expression: string): RequestStep[] {
  const metadata = { name: `${name}-@{id}` }
  const spec = {
    reinvocationPolicy: "Never",
    matchConstraints: {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
      resourceRules: [{ apiGroups: [group], apiVersions: ["*"], operations: ["CREATE"], resources: ["things"] }],
    },
    matchConditions: [{ name: "one", expression: `object.metadata.name == '${name}'` }],
    mutations: [
      expression.startsWith("[")
        ? { patchType: "JSONPatch", jsonPatch: { expression } }
        : { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
    ],
  }
  return [
    post(`${policies}/mutatingadmissionpolicies`, { metadata, spec }),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata, spec: { policyName: metadata.name } }),
  ]
}
