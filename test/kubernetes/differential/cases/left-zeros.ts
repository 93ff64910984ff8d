// Updates that leave out zero values, which upstream prints and stores: what is written again is the same as before, also where it may
// not change.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const core = "/api/v1"
const space = "namespaces/@{ns}"
const labels = { a: "b" }
const container: Body = {
  name: "c",
  image: "i",
  livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: "X" }] } },
  env: [{ name: "E", valueFrom: { configMapKeyRef: { name: "n", key: "k" } } }],
}
const iscsi = { targetPortal: "10.0.0.1:3260", iqn: "iqn.2001-04.com.example:storage" }
const spec: Body = { containers: [container], volumes: [{ name: "v", iscsi }] }
const template: Body = { metadata: { labels }, spec }
const workload: Body = { spec: { selector: { matchLabels: labels }, template } }
const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }
const webhook = {
  name: "w.example.com",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { service: { name: "s", namespace: "n" } },
}
const never = { namespaceSelector: { matchLabels: { none: "@{id}" } } }

/** Path, apiVersion and kind, and what the object has beside its name. */
const objects: readonly [string, string, string, Body][] = [
  [
    `/apis/discovery.k8s.io/v1/${space}/endpointslices`,
    "discovery.k8s.io/v1",
    "EndpointSlice",
    { addressType: "IPv4", endpoints: [{ addresses: ["10.9.8.7"], hints: { forZones: [{ name: "a" }, {}] } }] },
  ],
  [`${core}/${space}/podtemplates`, "v1", "PodTemplate", { template }],
  [`${core}/${space}/pods`, "v1", "Pod", { spec }],
  [`/apis/apps/v1/${space}/deployments`, "apps/v1", "Deployment", workload],
  [`/apis/apps/v1/${space}/statefulsets`, "apps/v1", "StatefulSet", workload],
  [`/apis/apps/v1/${space}/daemonsets`, "apps/v1", "DaemonSet", workload],
  [
    `/apis/batch/v1/${space}/jobs`,
    "batch/v1",
    "Job",
    { spec: { template: { spec: { ...spec, restartPolicy: "Never" } } } },
  ],
  [
    `${core}/persistentvolumes`,
    "v1",
    "PersistentVolume",
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], iscsi } },
  ],
  [`/apis/scheduling.k8s.io/v1/priorityclasses`, "scheduling.k8s.io/v1", "PriorityClass", {}],
  [`/apis/apps/v1/${space}/controllerrevisions`, "apps/v1", "ControllerRevision", { data: { a: 1 } }],
  [
    `/apis/networking.k8s.io/v1/${space}/networkpolicies`,
    "networking.k8s.io/v1",
    "NetworkPolicy",
    { spec: { ingress: [{ from: [{ podSelector: {} }] }] } },
  ],
  [
    `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations`,
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    { webhooks: [{ ...webhook, ...never, rules: [rule] }] },
  ],
  [
    `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies`,
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    {
      spec: {
        matchConstraints: { ...never, resourceRules: [rule] },
        validations: [{ expression: "true" }],
        variables: [{ name: "v", expression: "1" }],
      },
    },
  ],
  [
    `/apis/resource.k8s.io/v1/${space}/resourceclaims`,
    "resource.k8s.io/v1",
    "ResourceClaim",
    {
      spec: {
        devices: {
          requests: [{ name: "r", exactly: { deviceClassName: "c" } }],
          config: [{ opaque: { driver: "d.example.com", parameters: {} } }],
        },
      },
    },
  ],
  [
    `/apis/rbac.authorization.k8s.io/v1/${space}/rolebindings`,
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    { roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "User", name: "u" }] },
  ],
]

export function leftZeroCases(): Scenario[] {
  return [{ name: "an update leaves out zeros as the create did", anyOrder: true, steps: objects.flatMap(again) }]
}

function again([path, apiVersion, kind, body]: (typeof objects)[number], index: number): RequestStep[] {
  const name = `z${index}-@{id}`
  const object: Body = { apiVersion, kind, metadata: { name }, ...body }
  const changed: Body = { ...object, metadata: { name, labels } }
  const at = `${path}/${name}`
  const revised = (of: Body): Body => ({
    ...of,
    metadata: { ...(of["metadata"] as Body), resourceVersion: "@{now.metadata.resourceVersion}" },
  })
  return [
    post(path, object, { save: "now" }),
    put(at, revised(object), { label: `PUT ${at} the same` }),
    { ...get(at), save: "now" },
    put(at, revised(changed), { label: `PUT ${at} with labels` }),
    patch(`${at}?fieldManager=m&force=true`, applyPatch, changed, { label: `APPLY ${at}` }),
    get(at, { label: `GET ${at} again` }),
  ]
}
