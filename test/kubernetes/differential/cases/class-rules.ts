// Classes of volumes, backends of ingresses and others: empty choices, too many parameters, and names of other things.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const storage = "/apis/storage.k8s.io/v1"
const classes = `${storage}/storageclasses`
const ingresses = "/apis/networking.k8s.io/v1/namespaces/@{ns}/ingresses"
const metadata = { name: "c-@{id}" }

export function classRuleCases(): Scenario[] {
  return [
    { name: "a storage class has empty choices", steps: emptyChoices() },
    { name: "parameters of volumes are too many", steps: manyParameters(), anyOrder: true },
    { name: "an ingress has another resource behind it", steps: resourceBackends() },
    { name: "hosts of an ingress have wildcards", steps: wildcards() },
    { name: "an autoscaler watches resources of a container", steps: containerResources() },
    { name: "texts of an event are as long as they may be", steps: longTexts() },
  ]
}

function emptyChoices(): RequestStep[] {
  const object = (more: object): Json => ({ metadata, provisioner: "example.com/a", ...more })
  return [
    post(`${classes}?dryRun=All`, object({ volumeBindingMode: "" }), { label: "POST without mode" }),
    post(classes, object({ reclaimPolicy: "", parameters: { a: "b" } }), { label: "POST without policy" }),
    patch(`${classes}/c-@{id}`, mergePatch, { reclaimPolicy: null }, { label: "PATCH the policy" }),
    patch(`${classes}/c-@{id}`, mergePatch, { parameters: { a: null } }, { label: "PATCH the parameters" }),
    put(`${classes}/c-@{id}`, object({ reclaimPolicy: "" }), { label: "PUT without parameters" }),
    remove(`${classes}/c-@{id}`),
  ]
}

function manyParameters(): RequestStep[] {
  const of = (count: number, size: number, first = "k"): Json =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [index === 0 ? first : `k${index}`, "v".repeat(size)]),
    )
  const all: readonly [string, Json][] = [
    ["513, one without name", of(513, 1, "")],
    ["512, one without name", of(512, 1, "")],
    ["300 long ones", of(300, 1000)],
  ]
  return all.flatMap(([label, parameters]) => [
    post(`${classes}?dryRun=All`, { metadata, provisioner: "a", parameters }, { label: `POST class, ${label}` }),
    post(
      `${storage}/volumeattributesclasses?dryRun=All`,
      { metadata, driverName: "a", parameters },
      { label: `POST attributes, ${label}` },
    ),
  ])
}

function resourceBackends(): RequestStep[] {
  const resources: readonly Json[] = [
    {},
    { apiGroup: "", kind: "a", name: "b" },
    { apiGroup: "A_", kind: "a/b", name: "a%b" },
    { apiGroup: "example.com", kind: ".", name: ".." },
    { kind: "a", name: "b" },
  ]
  return resources.map((resource, index) =>
    post(
      `${ingresses}?dryRun=All`,
      { metadata: { name: "a" }, spec: { defaultBackend: { resource } } },
      { label: `POST ${index}` },
    ),
  )
}

function wildcards(): RequestStep[] {
  const long = "a.".repeat(125)
  const hosts = [
    "*",
    "*.",
    "*.a",
    "a.*",
    "*.*.a",
    "*.A",
    `*.${long}b`,
    `*.${long}bb`,
    `*.${"a".repeat(64)}.b`,
    "*.1.2.3.4",
  ]
  return hosts.map((host, index) =>
    post(
      `${ingresses}?dryRun=All`,
      { metadata: { name: "a" }, spec: { rules: [{ host }], tls: [{ hosts: [host] }] } },
      { label: `POST host ${index}` },
    ),
  )
}

function containerResources(): RequestStep[] {
  const names = [
    "cpu",
    "foo",
    "storage",
    "hugepages-2Mi",
    "hugepages-",
    "a/b",
    "a/b/c",
    "requests.a/b",
    "pods",
    "-a",
    "é",
  ]
  return names.map((name) =>
    post(
      "/apis/autoscaling/v2/namespaces/@{ns}/horizontalpodautoscalers?dryRun=All",
      {
        metadata: { name: "a" },
        spec: {
          maxReplicas: 3,
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" },
          metrics: [
            {
              type: "ContainerResource",
              containerResource: { name, container: "c", target: { type: "Utilization", averageUtilization: 50 } },
            },
          ],
        },
      },
      { label: `POST metric of ${name}` },
    ),
  )
}

function longTexts(): RequestStep[] {
  const event = {
    metadata: { name: "a" },
    eventTime: "2024-01-02T03:04:05.678901Z",
    reportingController: "example.com/a",
    reportingInstance: "a",
    action: "a",
    reason: "a",
    type: "Normal",
    regarding: { namespace: "@{ns}" },
  }
  const texts: readonly object[] = [
    { reason: "é".repeat(64) },
    { reason: "é".repeat(65) },
    { action: "é".repeat(65), reportingInstance: "é".repeat(65) },
    { note: "é".repeat(513) },
  ]
  return texts.map((text, index) =>
    post(
      "/apis/events.k8s.io/v1/namespaces/@{ns}/events?dryRun=All",
      { ...event, ...text },
      { label: `POST event ${index}` },
    ),
  )
}
