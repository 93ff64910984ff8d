// What is made of pods and service accounts: names that do not agree, tokens bound to what there is not, containers to debug with.

import type { Json } from "../../../../apimachinery/object.ts"
import { asTable } from "../generate/life-scenarios.ts"
import { applyPatch, mergePatch, patch, post, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const pods = `${core}/pods`
const accounts = `${core}/serviceaccounts`
const spec = { containers: [{ name: "main", image: "busybox" }] }

export function podAndAccountCases(): Scenario[] {
  return [
    { name: "tokens are bound to what there is not", steps: bound() },
    { name: "an account's secrets are merged without names", steps: merged() },
    { name: "what is made of a pod has another name", steps: names() },
    { name: "containers to debug with have what they may not", steps: debugging() },
    { name: "a claim's source is no change", steps: sources() },
    { name: "an address has a parent in capitals", steps: parents() },
  ]
}

function bound(): RequestStep[] {
  const references: Json[] = [
    {},
    { kind: "X" },
    { kind: "Pod" },
    { kind: "Pod", apiVersion: "v1" },
    { kind: "Pod", apiVersion: "v2", name: "x" },
    { kind: "Pod", apiVersion: "a/b/c", name: "x" },
    { kind: "Pod", apiVersion: "apps/v1", name: "x" },
    { kind: "Deployment", apiVersion: "apps/v1", name: "x" },
    { kind: "Secret", name: 'a"b' },
    { kind: "Node", name: "x" },
  ]
  return [
    post(accounts, { metadata: { name: "a" } }),
    ...references.map((boundObjectRef, index) =>
      post(`${accounts}/a/token`, { spec: { boundObjectRef } }, { label: `POST token ${index}` }),
    ),
  ]
}

function merged(): RequestStep[] {
  const merge = (secrets: Json, label: string): RequestStep =>
    patch(`${accounts}/a`, strategicPatch, { secrets }, { label })
  return [
    post(accounts, { metadata: { name: "a" }, secrets: [{}] }),
    merge([{ namespace: "x" }], "PATCH without"),
    merge([{ name: "x" }, { namespace: "x" }], "PATCH one without"),
    merge([{ name: "x" }], "PATCH with"),
    merge([{ $patch: "delete", name: "x" }, { namespace: "x" }], "PATCH and delete"),
  ]
}

function names(): RequestStep[] {
  const target = { name: "n" }
  return [{}, { metadata: { name: "a" } }, { metadata: { name: "b" } }].flatMap((body, index) => [
    post(`${pods}/a/eviction`, body, { label: `POST eviction ${index}` }),
    post(`${pods}/a/binding`, body, { label: `POST binding ${index}` }),
    post(`${pods}/a/binding`, { ...body, target }, { label: `POST binding with target ${index}` }),
    post(`${pods}?dryRun=All`, { metadata: { name: "b" }, spec: { ...spec, serviceAccountName: `a"${index}\n` } }),
  ])
}

function debugging(): RequestStep[] {
  const containers: Json[] = [
    { resources: {} },
    { resources: { requests: {} } },
    { resources: { requests: { cpu: "1" } }, ports: [], lifecycle: {}, resizePolicy: [] },
    { livenessProbe: {}, ports: [{ containerPort: 80 }], restartPolicy: "Always" },
  ]
  return [
    post(pods, { metadata: { name: "a" }, spec }),
    ...containers.map((more, index) => {
      const ephemeralContainers = [{ name: "debugger", image: "busybox", ...(more as object) }]
      const path = `${pods}/a/ephemeralcontainers?dryRun=All`
      return patch(path, strategicPatch, { spec: { ephemeralContainers } }, { label: `PATCH ${index}` })
    }),
  ]
}

function sources(): RequestStep[] {
  const claims = `${core}/persistentvolumeclaims`
  const filled = { kind: "PersistentVolumeClaim", name: "b" }
  const wanted = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
  return [
    post(claims, { metadata: { name: "a" }, spec: { ...wanted, dataSourceRef: filled } }),
    patch(`${claims}/a`, mergePatch, {}, { label: "PATCH nothing" }),
    patch(`${claims}/a`, mergePatch, { metadata: { labels: { a: "b" } } }, { label: "PATCH labels" }),
    patch(
      `${claims}/a?fieldManager=b&force=true`,
      applyPatch,
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "a" },
        spec: { ...wanted, dataSource: filled },
      },
      { label: "APPLY the older" },
    ),
  ]
}

function parents(): RequestStep[] {
  const path = "/apis/networking.k8s.io/v1/ipaddresses"
  const parentRef = { group: "Example.com", resource: "UPPER", namespace: "Default", name: "Minimal" }
  return [
    post(
      `${path}?dryRun=All`,
      { metadata: { name: "2001:db8::9:@{number}" }, spec: { parentRef } },
      { headers: asTable },
    ),
  ]
}
