// What new objects are refused for.

import { describe, expect, test } from "vitest"
import { faults, type Loose, shareKinds, verdict } from "../testing/kinds.ts"
import { never, selected, template } from "../testing/workloads.ts"

const { kinds, next } = shareKinds()

// kube-apiserver 1.36's messages, except for values that it prints as Go structs.
describe("validation", () => {
  const email =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
  test.each<[string, Loose, string[]]>([
    [
      "apps/deployments",
      { spec: { template: template() } },
      [
        "spec.selector: Required value",
        'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
      ],
    ],
    [
      "apps/deployments",
      { spec: selected({ template: template({ restartPolicy: "Never" }) }) },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      "apps/deployments",
      { spec: selected({ replicas: -1, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }) },
      [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
      ],
    ],
    [
      "batch/jobs",
      { spec: { template: template() } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      "batch/jobs",
      { spec: { completionMode: "Indexed", completions: -1, template: never } },
      ["spec.completions: Invalid value: -1: must be greater than or equal to 0"],
    ],
    [
      "batch/cronjobs",
      { spec: { schedule: "x", jobTemplate: { spec: { template: never } } } },
      ['spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]'],
    ],
    [
      "configmaps",
      { data: { "a b": "c" } },
      [
        "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    ["secrets", { type: "kubernetes.io/tls" }, ["data[tls.crt]: Required value", "data[tls.key]: Required value"]],
    [
      "persistentvolumeclaims",
      { spec: {} },
      [
        "spec.accessModes: Required value: at least 1 access mode is required",
        "spec.resources[storage]: Required value",
      ],
    ],
    [
      "resourcequotas",
      { spec: { hard: { pods: "-1" } } },
      ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      "policy/poddisruptionbudgets",
      { spec: { minAvailable: 1, maxUnavailable: 1 } },
      [
        'spec: Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [
      "networking.k8s.io/ingresses",
      { spec: {} },
      ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"],
    ],
    [
      "rbac.authorization.k8s.io/roles",
      { rules: [{ apiGroups: [""], resources: ["pods"] }] },
      ["rules[0].verbs: Required value: verbs must contain at least one value"],
    ],
    [
      "scheduling.k8s.io/priorityclasses",
      { value: 2_000_000_000 },
      ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    ],
    [
      "networking.k8s.io/networkpolicies",
      { spec: { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.1/8" } }] }] } },
      [
        'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
      ],
    ],
    ["serviceaccounts", { metadata: { labels: { "a b": "c" } } }, [`metadata.labels: Invalid value: "a b": ${email}`]],
  ])("of %s", async (what, object, expected) => {
    const whole = { ...object, metadata: { name: next(), ...object["metadata"] } }
    expect(await faults(kinds.create(what, whole))).toEqual(expected)
  })
})

const long = (field: string): object => ({ [field]: `true${" ".repeat(90_000)}` })
const several = (make: () => object): object[] => Array.from({ length: 6 }, make)
const served = { group: "example.com", names: { plural: "as", kind: "A" }, scope: "Namespaced" }
const validated = { type: "object", "x-kubernetes-validations": several(() => ({ ...long("rule"), message: "a" })) }
const hook = { name: "a.example.com", clientConfig: { url: "https://a" }, sideEffects: "None" }

test.each<[string, Loose, string]>([
  [
    "apiextensions.k8s.io/customresourcedefinitions",
    {
      metadata: { name: "as.example.com" },
      spec: {
        ...served,
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: validated } }],
      },
    },
    "spec.versions",
  ],
  [
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    { metadata: { name: "a" }, spec: { validations: several(() => long("expression")) } },
    "spec",
  ],
  [
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
    {
      metadata: { name: "a" },
      webhooks: several(() => ({
        ...hook,
        admissionReviewVersions: ["v1"],
        matchConditions: [{ name: "a", ...long("expression") }],
      })),
    },
    "webhooks",
  ],
])("all expressions of an object together are limited: %s", async (what, object, field) => {
  expect(await verdict(kinds.create(what, object))).toContain(
    `is invalid: ${field}: Too long: all expressions together must not have more than 524288 characters`,
  )
})
