// Patches that give an object another apiVersion: one of its group that is not served, one in which it is served too, one of another
// group, and one that nobody knows.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

type Body = Record<string, Json>

interface Patched {
  path: string
  object: Body
  kind: string
  apiVersion: string
  versions: readonly string[]
  /** With fields that some of the versions lack or read otherwise. */
  changes: readonly Body[]
}

const space = "namespaces/@{ns}"
const selector = { matchLabels: { a: "b" } }
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const labels = { metadata: { labels: { x: "y" } } }

const kinds: readonly Patched[] = [
  {
    path: `/apis/apps/v1/${space}/deployments`,
    kind: "Deployment",
    apiVersion: "apps/v1",
    object: { spec: { selector, template } },
    versions: ["apps/v1beta2", "apps/v2", "v1", "batch/v1"],
    changes: [labels, { bogus: 1 }, { spec: { replicas: 2 } }, { spec: { replicas: "x" } }],
  },
  {
    path: `/apis/apps/v1/${space}/statefulsets`,
    kind: "StatefulSet",
    apiVersion: "apps/v1",
    object: { spec: { selector, template, serviceName: "s" } },
    versions: ["apps/v1beta2", "extensions/v1beta1"],
    changes: [labels, { spec: { updateStrategy: null } }, { spec: { podManagementPolicy: "<x>" } }],
  },
  {
    path: `/apis/apps/v1/${space}/daemonsets`,
    kind: "DaemonSet",
    apiVersion: "apps/v1",
    object: { spec: { selector, template } },
    versions: ["apps/v1beta2", "apps/v1beta1"],
    changes: [labels, { spec: { updateStrategy: null } }],
  },
  {
    path: `/apis/batch/v1/${space}/cronjobs`,
    kind: "CronJob",
    apiVersion: "batch/v1",
    object: {
      spec: {
        schedule: "1 1 * * *",
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
      },
    },
    versions: ["batch/v1beta1", "batch/v2alpha1"],
    changes: [labels, { spec: { suspend: true, concurrencyPolicy: null } }],
  },
  {
    path: `/apis/coordination.k8s.io/v1/${space}/leases`,
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    object: { spec: { holderIdentity: "a" } },
    versions: ["coordination.k8s.io/v1beta1", "coordination.k8s.io/v1alpha2"],
    changes: [labels, { spec: { strategy: "OldestEmulationVersion", preferredHolder: "b" } }],
  },
  {
    path: `/apis/events.k8s.io/v1/${space}/events`,
    kind: "Event",
    apiVersion: "events.k8s.io/v1",
    object: {
      eventTime: "2024-01-02T03:04:05.678901Z",
      reportingController: "example.com/a",
      reportingInstance: "a",
      action: "A",
      reason: "A",
      type: "Normal",
      regarding: { namespace: "@{ns}" },
    } as Body,
    versions: ["events.k8s.io/v1beta1", "v1"],
    changes: [labels, { note: "n" }, { message: "n" }],
  },
  {
    path: `/apis/rbac.authorization.k8s.io/v1/${space}/rolebindings`,
    kind: "RoleBinding",
    apiVersion: "rbac.authorization.k8s.io/v1",
    object: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
      subjects: [{ kind: "ServiceAccount", name: "s" }],
    } as Body,
    versions: ["rbac.authorization.k8s.io/v1beta1"],
    changes: [
      labels,
      {
        subjects: [
          { kind: "User", name: "u" },
          { kind: "User", name: "*" },
        ],
      },
    ],
  },
  {
    path: `/apis/node.k8s.io/v1/runtimeclasses`,
    kind: "RuntimeClass",
    apiVersion: "node.k8s.io/v1",
    object: { handler: "h" },
    versions: ["node.k8s.io/v1beta1"],
    changes: [labels, { handler: null }],
  },
  {
    path: `/apis/storage.k8s.io/v1/csidrivers`,
    kind: "CSIDriver",
    apiVersion: "storage.k8s.io/v1",
    object: { spec: {} },
    versions: ["storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1"],
    changes: [labels, { spec: { attachRequired: null, storageCapacity: true } }],
  },
  {
    path: `/apis/apiregistration.k8s.io/v1/apiservices`,
    kind: "APIService",
    apiVersion: "apiregistration.k8s.io/v1",
    object: {
      spec: {
        group: "p@{id}.example.com",
        version: "v1",
        groupPriorityMinimum: 1,
        versionPriority: 1,
        service: { namespace: "a", name: "b" },
        insecureSkipTLSVerify: true,
      },
    },
    versions: ["apiregistration.k8s.io/v1beta1"],
    changes: [labels],
  },
  {
    path: `/api/v1/${space}/configmaps`,
    kind: "ConfigMap",
    apiVersion: "v1",
    object: { data: { a: "b" } },
    versions: ["v2", "apps/v1"],
    changes: [labels],
  },
]

/** In versions of other defaults, of which none is missing: not even labels. */
const older: readonly Patched[] = [
  ["Deployment", ["apps/v1beta1", "extensions/v1beta1"]] as const,
  ["StatefulSet", ["apps/v1beta1"]] as const,
  ["ReplicaSet", ["extensions/v1beta1", "apps/v1beta1"]] as const,
].map(([kind, versions]) => ({
  path: `/apis/apps/v1/${space}/${kind.toLowerCase()}s`,
  kind,
  apiVersion: "apps/v1",
  object: {
    metadata: { name: nameOf(kind), labels: { a: "b" } },
    spec: { selector, template, ...(kind === "StatefulSet" ? { serviceName: "s" } : {}) },
  },
  versions,
  changes: [labels, { bogus: 1 }, { status: { replicas: "x" } }],
}))

function nameOf(kind: string): string {
  return kind === "APIService" ? "v1.p@{id}.example.com" : "a@{id}"
}

export function patchedVersionCases(): Scenario[] {
  return [
    ...older.map((kind) => ({
      name: `a ${kind.kind} is patched in older versions`,
      steps: [...steps(kind), ...unselected(kind)],
    })),
    ...kinds.map((kind) => ({ name: `a ${kind.kind} is patched in other versions`, steps: steps(kind) })),
    ...older.map((kind) => ({ name: `a ${kind.kind} is patched in versions of other defaults`, steps: unlike(kind) })),
  ]
}

/** Upstream writes their status by itself, once it has found that there is no such Service. */
const isBusy = (kind: string): boolean => kind === "APIService"

/** Older versions select by the labels of the template. */
const unselected = ({ path, kind, versions }: Patched): RequestStep[] =>
  versions.flatMap((apiVersion) =>
    [mergePatch, strategicPatch].map((type) =>
      patch(
        `${path}/${nameOf(kind)}?dryRun=All`,
        type,
        { apiVersion, spec: { selector: null } },
        { label: `${type} ${apiVersion} without a selector` },
      ),
    ),
  )

function steps({ path, object, kind, apiVersion, versions, changes }: Patched): RequestStep[] {
  const name = nameOf(kind)
  const one = `${path}/${name}`
  const metadata = { name }
  return [
    post(`${path}?fieldManager=m`, { apiVersion, kind, metadata, ...object }, { label: "POST" }),
    ...(isBusy(kind) ? [get(one, { label: "GET with status", untilText: "is not present" })] : []),
    ...versions.flatMap((version) =>
      changes.flatMap((change) =>
        ["", "Strict", "Ignore"].flatMap((validation) => {
          const query = `dryRun=All&fieldManager=n&fieldValidation=${validation}`
          const about = `${version} ${validation} ${JSON.stringify(change)}`
          const body = { apiVersion: version, ...change }
          const operations = Object.entries(body).map(([field, value]) => ({ op: "add", path: `/${field}`, value }))
          return [
            patch(`${one}?${query}`, mergePatch, body, { label: `MERGE ${about}` }),
            patch(`${one}?${query}`, strategicPatch, body, { label: `STRATEGIC ${about}` }),
            patch(`${one}?${query}`, jsonPatch, operations, { label: `JSON ${about}` }),
            patch(`${one}?${query}&force=true`, applyPatch, { ...body, kind }, { label: `APPLY ${about}` }),
          ]
        }),
      ),
    ),
    ...(isBusy(kind) ? [] : versions).flatMap((version) => [
      patch(
        `${one}?fieldManager=o`,
        mergePatch,
        { apiVersion: version, ...labels },
        { label: `MERGE ${version} for good` },
      ),
      patch(
        `${one}/status?fieldManager=o`,
        mergePatch,
        { apiVersion: version, ...labels },
        { label: `MERGE status ${version}` },
      ),
      patch(one, mergePatch, { apiVersion: version, kind: "Other" }, { label: `MERGE another kind ${version}` }),
      get(one, { label: `GET after ${version}` }),
    ]),
  ]
}

/** What the older versions have as defaults, and what only they have. */
function unlike({ path, kind, object, versions }: Patched): RequestStep[] {
  const name = nameOf(kind)
  const one = `${path}/${name}`
  const spec = (object["spec"] ?? {}) as Body
  const { selector: _, ...unselecting } = spec
  const changes: Body[] = [
    ...[
      { replicas: null },
      { revisionHistoryLimit: null },
      { progressDeadlineSeconds: null },
      { strategy: null },
      { strategy: { type: null, rollingUpdate: null } },
      { strategy: { type: "Recreate" } },
      { strategy: { type: "Recreate", rollingUpdate: null } },
      { strategy: { rollingUpdate: { maxSurge: null } } },
      { updateStrategy: null },
      { updateStrategy: { type: "RollingUpdate", rollingUpdate: null } },
      { podManagementPolicy: null, persistentVolumeClaimRetentionPolicy: null },
      { selector: null, template: { metadata: { labels: { a: "c" } } } },
      { selector: null, template: { metadata: { labels: null } } },
      { selector: null, template: { metadata: { labels: { a: 5 } } } },
      { rollbackTo: { revision: 3 } },
      { rollbackTo: {} },
      { rollbackTo: null },
      { rollbackTo: "x" },
      { rollbackTo: { revision: "x" } },
      { rollbackTo: { revision: 1.5 } },
      { rollbackTo: { revision: 3, foo: 1 } },
      { rollbackTo: { revision: null } },
      { selector: null, strategy: 5 },
      { selector: null, strategy: { type: 5 } },
    ].map((changed): Body => ({ spec: changed })),
    { metadata: { labels: null } },
    { metadata: { labels: {} } },
    { spec: { rollbackTo: { revision: 3 } }, metadata: { annotations: { "deprecated.deployment.rollback.to": "7" } } },
  ]
  return [
    post(path, { metadata: { name, annotations: { x: "y" } }, spec }),
    ...versions.flatMap((apiVersion) => [
      ...changes.map((change) =>
        patch(`${one}?dryRun=All`, mergePatch, { apiVersion, ...change } as Json, {
          label: `MERGE ${apiVersion} ${JSON.stringify(change)}`,
        }),
      ),
      ...[spec, unselecting, { ...unselecting, selector: null }, {}, null].map((value) =>
        patch(
          `${one}?dryRun=All`,
          jsonPatch,
          [
            { op: "add", path: "/apiVersion", value: apiVersion },
            { op: "replace", path: "/spec", value },
          ] as Json,
          { label: `JSON ${apiVersion} ${JSON.stringify(value)}` },
        ),
      ),
    ]),
  ]
}
