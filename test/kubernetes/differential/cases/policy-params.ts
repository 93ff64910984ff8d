// Parameters of policies for namespaces: those of a namespace are in itself.

import { applyPatch, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const namespaces = "/api/v1/namespaces"
const name = "n-@{id}"
const labels = { policy: "@{id}" }

export function policyParamCases(): Scenario[] {
  return [
    { name: "parameters of a policy for namespaces", steps: [...policy(), ...requests()] },
    { name: "parameters of a policy are of a kind that has no lists", steps: withoutLists() },
  ]
}

function withoutLists(): RequestStep[] {
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }
  const metadata = { name: "w-@{id}" }
  const spec = {
    paramKind: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" },
    matchConstraints: {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
      resourceRules: [rule],
    },
    validations: [{ expression: "false" }],
  }
  const paramRef = { name: "p", parameterNotFoundAction: "Allow" }
  return [
    post(`${policies}/validatingadmissionpolicies`, { metadata, spec }),
    post(`${policies}/validatingadmissionpolicybindings`, {
      metadata,
      spec: { policyName: "w-@{id}", validationActions: ["Deny"], paramRef },
    }),
    post(`${maps}?dryRun=All`, { metadata: { name: "a" } }, { untilText: "not yet synced" }),
    patch(`${policies}/validatingadmissionpolicies/w-@{id}`, mergePatch, { spec: { failurePolicy: "Ignore" } }),
    post(maps, { metadata: { name: "a" } }, { untilCode: 201, label: "POST when ignored" }),
  ]
}

/** Denies everything, and says with which parameters. */
function policy(): RequestStep[] {
  const rule = {
    apiGroups: [""],
    apiVersions: ["v1"],
    operations: ["*"],
    resources: ["namespaces", "namespaces/status", "namespaces/finalize"],
  }
  const metadata = { name: "p-@{id}" }
  return [
    post(`${policies}/validatingadmissionpolicies`, {
      metadata,
      spec: {
        // Upstream stops following other kinds for good when the last policy that uses them ends.
        paramKind: { apiVersion: "v1", kind: "LimitRange" },
        matchConstraints: { objectSelector: { matchLabels: labels }, resourceRules: [rule] },
        validations: [
          {
            expression: "false",
            messageExpression:
              "'parameter in ' + params.metadata.namespace + ' for ' + request.namespace + ', ' + string(namespaceObject == null)",
          },
        ],
      },
    }),
    post(`${policies}/validatingadmissionpolicybindings`, {
      metadata,
      spec: {
        policyName: "p-@{id}",
        validationActions: ["Deny"],
        paramRef: { name: "p", parameterNotFoundAction: "Deny" },
      },
    }),
  ]
}

function requests(): RequestStep[] {
  const changed = { metadata: { name, labels } }
  const other = `other-@{id}`
  return [
    post(`${namespaces}?dryRun=All`, changed, { untilText: "no params found", label: "POST before" }),
    post(namespaces, { metadata: { name } }),
    post(`${namespaces}/${name}/limitranges`, { metadata: { name: "p" }, spec: { limits: [] } }),
    patch(`${namespaces}/${name}`, mergePatch, changed, { untilText: `parameter in ${name}` }),
    put(`${namespaces}/${name}`, changed),
    put(`${namespaces}/${name}/status`, changed),
    put(`${namespaces}/${name}/finalize`, changed),
    post(namespaces, changed, { label: "POST again" }),
    post(`${namespaces}?dryRun=All`, { metadata: { generateName: "gen-", labels } }, { label: "POST generated" }),
    patch(
      `${namespaces}/${other}?fieldManager=a`,
      applyPatch,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: other, labels } },
      { label: "APPLY new" },
    ),
  ]
}
