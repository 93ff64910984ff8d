// Deletes that take the last finalizer of an object, by their propagation policy; and how often admission is asked about deletes.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, jsonPatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"
const apps = "/apis/apps/v1/namespaces/@{ns}"
const admission = "/apis/admissionregistration.k8s.io/v1"
const background = "propagationPolicy=Background"

export function lastFinalizerCases(): Scenario[] {
  return [
    { name: "a delete takes the last finalizer", steps: ["orphan", "foregroundDeletion"].flatMap(released) },
    { name: "a delete takes the last finalizer of every kind", steps: kinds() },
    { name: "a pod's last finalizer is taken", steps: pods() },
    { name: "admission is asked about dry deletes", steps: admitted() },
  ]
}

function released(finalizer: string, index: number): RequestStep[] {
  const url = `${core}/configmaps/a${index}`
  const deletion = (preconditions: Json, name: string): RequestStep =>
    remove(url, { propagationPolicy: "Background", preconditions }, { label: `DELETE ${finalizer} with ${name}` })
  return [
    post(`${core}/configmaps`, { metadata: { name: `a${index}`, finalizers: [finalizer] } }, { save: `a${index}` }),
    ...[background, "propagationPolicy=Orphan", "propagationPolicy=Foreground", "orphanDependents=false"].map((query) =>
      remove(`${url}?${query}&dryRun=All`),
    ),
    remove(`${url}?${background}&dryRun=All`, undefined, {
      headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
      label: `DELETE ${finalizer}, its metadata`,
    }),
    deletion({ resourceVersion: `@{a${index}.metadata.resourceVersion}` }, "its version"),
    get(url),
    deletion({ uid: `@{a${index}.metadata.uid}` }, "its uid"),
    get(url, { label: `GET ${finalizer} after it` }),
  ]
}

function kinds(): RequestStep[] {
  const finalizers = ["orphan"]
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } }
  const spec = { selector: { matchLabels: { a: "b" } }, template }
  const made: [string, string, Json][] = [
    [apps, "deployments", spec],
    [apps, "daemonsets", spec],
    [core, "services", { clusterIP: "None", selector: { a: "b" } }],
    [core, "serviceaccounts", null],
    ["/apis/policy/v1/namespaces/@{ns}", "poddisruptionbudgets", { minAvailable: 1 }],
  ]
  return made.flatMap(([path, resource, own]) => [
    post(`${path}/${resource}`, { metadata: { name: "a", finalizers }, ...(own === null ? {} : { spec: own }) }),
    remove(`${path}/${resource}/a?${background}&dryRun=All`),
    remove(`${path}/${resource}/a?${background}`),
  ])
}

const pod = (name: string, spec: { [key: string]: Json } = {}, finalizers: string[] = []): RequestStep =>
  post(`${core}/pods`, { metadata: { name, finalizers }, spec: { containers: [{ name: "c", image: "i" }], ...spec } })

const onNode = { nodeName: "nowhere-@{id}" }

function pods(): RequestStep[] {
  const url = `${core}/pods/a`
  return [
    pod("a", onNode, ["orphan"]),
    remove(`${url}?dryRun=All&gracePeriodSeconds=0&${background}`),
    remove(`${url}?dryRun=All&${background}`),
    get(url, { save: "a" }),
    remove(url, {
      propagationPolicy: "Background",
      gracePeriodSeconds: 0,
      preconditions: { resourceVersion: "@{a.metadata.resourceVersion}" },
    }),
    get(url, { label: "GET the pod after it" }),
    pod("b", onNode, ["a.example/b"]),
    ...["0", "5", "0&propagationPolicy=Orphan"].map((query) => remove(`${core}/pods/b?gracePeriodSeconds=${query}`)),
    patch(`${core}/pods/b`, jsonPatch, [{ op: "replace", path: "/metadata/finalizers", value: [] }]),
    get(`${core}/pods/b`),
  ]
}

function admitted(): RequestStep[] {
  const name = "marked-@{id}"
  const url = `${core}/pods`
  return [
    post(`${admission}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], resources: ["pods", "configmaps"], operations: ["DELETE"] },
          ],
        },
        validations: [
          { expression: "!has(oldObject.metadata.deletionTimestamp)", messageExpression: "'marked'" },
          { expression: "oldObject.metadata.name != 'probe'" },
        ],
      },
    }),
    post(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    }),
    post(`${core}/configmaps`, { metadata: { name: "probe" } }),
    remove(`${core}/configmaps/probe?dryRun=All`, undefined, { untilCode: 422 }),
    pod("a"),
    pod("b", onNode),
    pod("c", onNode, ["a.example/b"]),
    ...["a?dryRun=All", "b?dryRun=All&gracePeriodSeconds=0", "b?dryRun=All"].map((end) => remove(`${url}/${end}`)),
    ...["c?dryRun=All", "c?dryRun=All&gracePeriodSeconds=0"].map((end) => remove(`${url}/${end}`)),
    remove(`${url}/b?gracePeriodSeconds=0`),
    get(`${url}/b`),
    remove(`${url}/a`),
    get(`${url}/a`),
    ...["c", "c?", "c?gracePeriodSeconds=1", "c?gracePeriodSeconds=0"].map((end) => remove(`${url}/${end}`)),
    remove(`${admission}/validatingadmissionpolicybindings/${name}`),
    remove(`${admission}/validatingadmissionpolicies/${name}`),
  ]
}
