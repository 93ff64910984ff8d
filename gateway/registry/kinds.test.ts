import { afterAll, describe, expect, test } from "vitest"
import { createKindsStub, faults, type Loose, verdict } from "../testing/kinds.ts"
import { builtInDefinitions } from "./definitions.ts"
import { kinds as extensions } from "./kinds.ts"

const kinds = createKindsStub()
let count = 0

afterAll(() => kinds[Symbol.asyncDispose]())

/** A unique name, so that the tests can share one control plane. */
const next = (): string => `n${++count}`

const template = (spec: Loose = {}): Loose => ({
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "a", image: "b" }], ...spec },
})
const selected = (more: Loose = {}): Loose => ({ selector: { matchLabels: { a: "b" } }, template: template(), ...more })
const never = template({ restartPolicy: "Never" })

test("every extension belongs to an existing resource", () => {
  const known = new Set(builtInDefinitions().map(({ group, resource }) => `${group}/${resource}`))
  expect(Object.keys(extensions).filter((key) => !known.has(key))).toEqual([])
})

describe("defaults", () => {
  test.each<[string, Loose, Loose]>([
    [
      "apps/deployments",
      { spec: selected() },
      {
        spec: {
          replicas: 1,
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
          revisionHistoryLimit: 10,
          progressDeadlineSeconds: 600,
          template: { spec: { restartPolicy: "Always", containers: [{ imagePullPolicy: "Always" }] } },
        },
      },
    ],
    ["apps/replicasets", { spec: selected() }, { spec: { replicas: 1 } }],
    [
      "apps/statefulsets",
      { spec: selected({ serviceName: "s" }) },
      {
        spec: {
          podManagementPolicy: "OrderedReady",
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        },
      },
    ],
    [
      "apps/daemonsets",
      { spec: selected() },
      { spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } },
    ],
    [
      "replicationcontrollers",
      { spec: { template: template() } },
      { metadata: { labels: { a: "b" } }, spec: { replicas: 1, selector: { a: "b" } } },
    ],
    [
      "batch/jobs",
      { spec: { template: never } },
      { spec: { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false } },
    ],
    [
      "batch/cronjobs",
      { spec: { schedule: "* * * * *", jobTemplate: { spec: { template: never } } } },
      {
        spec: { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
      },
    ],
    ["secrets", { stringData: { a: "b" } }, { type: "Opaque", data: { a: "Yg==" } }],
    ["policy/poddisruptionbudgets", { spec: { selector: {} } }, { spec: { selector: {} } }],
    [
      "networking.k8s.io/networkpolicies",
      { spec: { podSelector: {}, egress: [] } },
      { spec: { policyTypes: ["Ingress"] } },
    ],
    [
      "rbac.authorization.k8s.io/rolebindings",
      { roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "User", name: "u" }] },
      { roleRef: { apiGroup: "rbac.authorization.k8s.io" }, subjects: [{ apiGroup: "rbac.authorization.k8s.io" }] },
    ],
    [
      "storage.k8s.io/storageclasses",
      { provisioner: "x.y/z" },
      { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
    ],
    [
      "persistentvolumeclaims",
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1" } } } },
      { spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } },
    ],
  ])("of %s", async (what, object, expected) => {
    const made = await kinds.create(what, { ...object, metadata: { name: next() } })
    expect(made).toMatchObject(expected)
  })

  test("a job selects its own pods by its uid", async () => {
    const name = next()
    const { metadata, spec } = await kinds.create("batch/jobs", { metadata: { name }, spec: { template: never } })
    const uid = { "batch.kubernetes.io/controller-uid": metadata.uid }
    expect(spec.selector).toEqual({ matchLabels: uid })
    const labels = { ...uid, "controller-uid": metadata.uid, "job-name": name, "batch.kubernetes.io/job-name": name }
    expect(spec.template.metadata.labels).toMatchObject(labels)
  })
})

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

describe("immutable fields", () => {
  test.each<[string, Loose, unknown, string]>([
    [
      "configmaps",
      { immutable: true, data: {} },
      { data: { a: "b" } },
      "data: Forbidden: field is immutable when `immutable` is set",
    ],
    [
      "configmaps",
      { immutable: true },
      { immutable: false },
      "immutable: Forbidden: field is immutable when `immutable` is set",
    ],
    [
      "secrets",
      { immutable: true, data: {} },
      { stringData: { a: "b" } },
      "data: Forbidden: field is immutable when `immutable` is set",
    ],
    ["secrets", {}, { type: "x" }, 'type: Invalid value: "x": field is immutable'],
    [
      "apps/deployments",
      { spec: selected() },
      { spec: { selector: { matchLabels: { c: "d" } }, template: { metadata: { labels: { c: "d" } } } } },
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable',
    ],
    [
      "apps/statefulsets",
      { spec: selected({ serviceName: "s" }) },
      { spec: { serviceName: "t" } },
      "updates to statefulset spec for fields other than",
    ],
    [
      "batch/jobs",
      { spec: { template: never } },
      { spec: { completions: 4 } },
      "spec.completions: Invalid value: 4: field is immutable",
    ],
    [
      "persistentvolumeclaims",
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
      { spec: { accessModes: ["ReadWriteMany"] } },
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    ],
    [
      "rbac.authorization.k8s.io/rolebindings",
      { roleRef: { kind: "Role", name: "r" } },
      { roleRef: { name: "s" } },
      "cannot change roleRef",
    ],
    [
      "storage.k8s.io/storageclasses",
      { provisioner: "x.y/z" },
      { provisioner: "x.y/a" },
      'provisioner: Invalid value: "x.y/a": field is immutable',
    ],
  ])("of %s", async (what, object, patch, expected) => {
    const name = next()
    await kinds.create(what, { ...object, metadata: { name } })
    expect(await verdict(kinds.patch(what, name, patch))).toContain(expected)
  })

  test("generation is incremented by changes of spec, not of metadata or status", async () => {
    const name = next()
    await kinds.create("apps/deployments", { metadata: { name }, spec: selected() })
    const generation = async (patch: unknown, subresource?: string): Promise<number> =>
      (await kinds.patch("apps/deployments", name, patch, subresource === undefined ? {} : { subresource }))["metadata"]
        .generation
    expect(await generation({ metadata: { labels: { x: "y" } } })).toBe(1)
    expect(await generation({ status: { observedGeneration: 1 }, spec: { replicas: 7 } }, "status")).toBe(1)
    expect(await generation({ spec: { replicas: 3 } })).toBe(2)
  })

  test.each(["apps/deployments", "apps/replicasets"])(
    "fractions of seconds are not printed, but count as a change: %s",
    async (what) => {
      const name = next()
      const { template } = selected()
      const creationTimestamp = "2026-01-01T00:00:00.5Z"
      const spec = selected({ template: { ...template, metadata: { ...template.metadata, creationTimestamp } } })
      await kinds.create(what, { metadata: { name }, spec })
      expect(await kinds.patch(what, name, {})).toMatchObject({ metadata: { generation: 1 } })
      expect(await kinds.patch(what, name, { spec })).toMatchObject({
        metadata: { generation: 2 },
        spec: { template: { metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } } },
      })
    },
  )

  test("fractions of seconds count as a change of a volume claim template and of a job's start time", async () => {
    const name = next()
    const time = "2026-01-01T00:00:00.5Z"
    const claim = { metadata: { name: "c", creationTimestamp: time }, spec: { accessModes: ["ReadWriteOnce"] } }
    const volumeClaimTemplates = [{ ...claim, spec: { ...claim.spec, resources: { requests: { storage: "1" } } } }]
    const spec = selected({ volumeClaimTemplates })
    await kinds.create("apps/statefulsets", { metadata: { name }, spec })
    expect(await verdict(kinds.patch("apps/statefulsets", name, {}))).toBe("accepted")
    expect(await verdict(kinds.patch("apps/statefulsets", name, { spec }))).toContain("updates to statefulset spec")
    await kinds.create("batch/jobs", { metadata: { name }, spec: { template: never } })
    const start = (): Promise<unknown> =>
      kinds.patch("batch/jobs", name, { status: { startTime: time } }, { subresource: "status" })
    expect(await verdict(start())).toBe("accepted")
    expect(await verdict(start())).toContain("field is immutable for unsuspended job once set")
  })
})

describe("scale", () => {
  test.each(["apps/deployments", "apps/replicasets", "apps/statefulsets"])("of %s", async (what) => {
    const name = next()
    await kinds.create(what, {
      metadata: { name },
      spec: selected({ serviceName: what.endsWith("statefulsets") ? "s" : undefined }),
    })
    const scaled = await kinds.patch(what, name, { spec: { replicas: 5 } }, { subresource: "scale" })
    expect(scaled).toMatchObject({ kind: "Scale", spec: { replicas: 5 }, status: { replicas: 0, selector: "a=b" } })
    expect((await kinds.get(what, name))["spec"].replicas).toBe(5)
    expect(await verdict(kinds.patch(what, name, { spec: { replicas: -5 } }, { subresource: "scale" }))).toBe(
      `Scale.autoscaling "${name}" is invalid: spec.replicas: Invalid value: -5: must be greater than or equal to 0`,
    )
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
