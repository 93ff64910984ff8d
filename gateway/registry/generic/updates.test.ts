import { expect, test } from "vitest"
import { faults, type Loose, shareKinds } from "../../testing/kinds.ts"

const { kinds, next } = shareKinds()
const badType =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const emptyCondition = [
  'status.conditions[0].type: Invalid value: "": name part must be non-empty',
  `status.conditions[0].type: Invalid value: "": ${badType}`,
  'status.conditions[0].status: Unsupported value: "": supported values: "False", "True", "Unknown"',
  "status.conditions[0].lastTransitionTime: Required value",
  "status.conditions[0].reason: Required value",
]
const badName =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const prefix = { metadata: { generateName: "bad name!" } }
const prefixFault = [`metadata.generateName: Invalid value: "bad name!": ${badName}`]
const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }]
const policy = {
  spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: "true" }] },
}

// kube-apiserver 1.36's messages.
test.each<[string, Loose, Loose, string, string[]]>([
  ["node.k8s.io/runtimeclasses", { handler: "a" }, prefix, "", prefixFault],
  ["admissionregistration.k8s.io/validatingwebhookconfigurations", {}, prefix, "", prefixFault],
  ["resource.k8s.io/resourceclaims", { spec: {} }, prefix, "", prefixFault],
  ["policy/poddisruptionbudgets", { spec: {} }, prefix, "", []],
  [
    "node.k8s.io/runtimeclasses",
    { handler: "a" },
    { handler: "", scheduling: { nodeSelector: { a: "b c" } } },
    "",
    [
      "handler: Required value",
      `scheduling.nodeSelector: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
      'handler: Invalid value: "": field is immutable',
    ],
  ],
  ["policy/poddisruptionbudgets", { spec: {} }, { status: { conditions: [{}] } }, "status", emptyCondition],
  [
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    policy,
    { status: { typeChecking: { expressionWarnings: [{ fieldRef: " " }] }, conditions: [{}] } },
    "status",
    [
      "status.typeChecking.expressionWarnings[0].warning: Required value",
      "status.typeChecking.expressionWarnings[0].fieldRef: Required value",
      ...emptyCondition,
    ],
  ],
])("an update of %s: %j to %j %s", async (what, object, patch, subresource, expected) => {
  const name = `${next()}.example.com`
  await kinds.create(what, { ...object, metadata: { name } })
  expect(await faults(kinds.patch(what, name, patch, subresource === "" ? {} : { subresource }))).toEqual(expected)
})

test.each<[string, Loose, Loose]>([
  ["networking.k8s.io/networkpolicies", { spec: { podSelector: {} } }, { spec: { egress: [] } }],
  ["admissionregistration.k8s.io/mutatingwebhookconfigurations", {}, { webhooks: [] }],
])("%s counts an added empty list as a change", async (what, object, patch) => {
  const name = `${next()}.example.com`
  await kinds.create(what, { ...object, metadata: { name } })
  const changed = await kinds.patch(what, name, patch)
  expect(changed["metadata"].generation).toBe(2)
})

const template = (labels?: Loose): Loose => ({
  ...(labels === undefined ? {} : { metadata: { labels } }),
  spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] },
})
const claim = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } }

test.each<[string, Loose, boolean]>([
  ["persistentvolumeclaims", claim, true],
  ["batch/jobs", { spec: { template: template() } }, true],
  ["batch/jobs", { spec: { template: template({ a: "b" }) } }, false],
  ["configmaps", { data: { a: "b" } }, false],
])("the first update of %s %j without a change is written: %s", async (what, object, isWritten) => {
  const name = `${next()}.example.com`
  const revision = ({ metadata }: Loose): string => metadata.resourceVersion
  const made = await kinds.create(what, { metadata: { name }, ...object })
  const dry = await kinds.patch(what, name, {}, { dryRun: true })
  const first = await kinds.patch(what, name, {})
  expect(revision(dry)).toBe(revision(made))
  expect(revision(first) !== revision(made)).toBe(isWritten)
  expect(revision(await kinds.patch(what, name, {}))).toBe(revision(first))
})

test("a job without labels gets those of its template, including generated ones", async () => {
  const name = `${next()}.example.com`
  const { metadata } = await kinds.create("batch/jobs", {
    metadata: { name },
    spec: { template: template({ a: "b" }) },
  })
  expect(metadata.labels).toMatchObject({ a: "b", "job-name": name, "controller-uid": metadata.uid })
})
