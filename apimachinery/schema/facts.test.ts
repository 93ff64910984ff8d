import { describe, expect, test } from "vitest"
import { printGroupVersion } from "../object.ts"
import { bootstrapObjects, builtInResources, release, kindsOfTypes, schemaOf } from "./facts.ts"
import type { Schema } from "./schema.ts"

const groupVersions: Readonly<Record<string, readonly string[]>> = {
  v1: ["pods", "services", "configmaps", "secrets", "namespaces", "nodes", "events", "bindings", "serviceaccounts"],
  "admissionregistration.k8s.io/v1": ["mutatingwebhookconfigurations", "validatingadmissionpolicies"],
  "apiextensions.k8s.io/v1": ["customresourcedefinitions"],
  "apiregistration.k8s.io/v1": ["apiservices"],
  "apps/v1": ["deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions"],
  "authentication.k8s.io/v1": ["tokenreviews", "selfsubjectreviews"],
  "authorization.k8s.io/v1": ["subjectaccessreviews", "selfsubjectrulesreviews"],
  "autoscaling/v1": ["horizontalpodautoscalers"],
  "autoscaling/v2": ["horizontalpodautoscalers"],
  "batch/v1": ["jobs", "cronjobs"],
  "certificates.k8s.io/v1": ["certificatesigningrequests"],
  "coordination.k8s.io/v1": ["leases"],
  "discovery.k8s.io/v1": ["endpointslices"],
  "events.k8s.io/v1": ["events"],
  "flowcontrol.apiserver.k8s.io/v1": ["flowschemas", "prioritylevelconfigurations"],
  "networking.k8s.io/v1": ["ingresses", "networkpolicies", "ingressclasses", "servicecidrs", "ipaddresses"],
  "node.k8s.io/v1": ["runtimeclasses"],
  "policy/v1": ["poddisruptionbudgets"],
  "rbac.authorization.k8s.io/v1": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
  "resource.k8s.io/v1": ["resourceclaims", "deviceclasses"],
  "scheduling.k8s.io/v1": ["priorityclasses"],
  "storage.k8s.io/v1": ["storageclasses", "volumeattachments", "csidrivers"],
}

function find(group: string, resource: string) {
  const found = builtInResources().find((one) => one.group === group && one.resource === resource)
  if (found === undefined) throw new Error(`${resource} is not there`)
  return found
}

function schemaFor(group: string, version: string, kind: string): Schema {
  const schema = schemaOf({ group, version, kind })
  if (schema === undefined) throw new Error(`${kind} has no schema`)
  return schema
}

describe("builtInResources()", () => {
  test.each(Object.entries(groupVersions))("has %s with its verbs and schemas", (groupVersion, resources) => {
    const found = builtInResources().filter((one) => printGroupVersion(one) === groupVersion)
    expect(found.map((one) => one.resource)).toEqual(expect.arrayContaining([...resources]))
    for (const one of found) {
      expect(one.verbs.length, one.resource).toBeGreaterThan(0)
      expect(schemaOf(one), one.kind).toBeDefined()
      if (one.verbs.includes("list")) expect(schemaOf({ ...one, kind: one.listKind }), one.listKind).toBeDefined()
      for (const sub of one.subresources) expect(schemaOf(sub), `${one.resource}/${sub.name}`).toBeDefined()
    }
  })

  test("there are no other group versions", () => {
    expect(new Set(builtInResources().map(printGroupVersion))).toEqual(new Set(Object.keys(groupVersions)))
  })

  test("knows names, scope, subresources and field selectors", () => {
    expect(find("", "pods")).toMatchObject({
      singular: "pod",
      kind: "Pod",
      listKind: "PodList",
      namespaced: true,
      shortNames: ["po"],
      categories: ["all"],
      selectableFields: expect.arrayContaining(["spec.nodeName", "status.phase"]) as string[],
    })
    expect(find("apps", "deployments").subresources).toEqual([
      { name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] },
      { name: "status", group: "apps", version: "v1", kind: "Deployment", verbs: ["get", "patch", "update"] },
    ])
    expect(find("", "nodes").namespaced).toBe(false)
  })
})

describe("schemaOf()", () => {
  test.each([
    ["", "v1", "Status"],
    ["", "v1", "DeleteOptions"],
    ["apps", "v1", "DeleteOptions"],
    ["autoscaling", "v1", "Scale"],
    ["policy", "v1", "Eviction"],
    ["authentication.k8s.io", "v1", "TokenRequest"],
    ["meta.k8s.io", "v1", "PartialObjectMetadata"],
  ])("knows the helper kind %s/%s %s", (group, version, kind) => {
    expect(schemaOf({ group, version, kind })).toMatchObject({ type: "object" })
  })

  test.each(["NoSuchKind", "constructor", "__proto__"])("%s is unknown", (kind) => {
    expect(schemaOf({ group: "", version: "v1", kind })).toBeUndefined()
  })

  test("shares types, also recursive ones", () => {
    const pod = schemaFor("", "v1", "Pod").fields?.["spec"]?.schema
    const template = schemaFor("apps", "v1", "Deployment").fields?.["spec"]?.schema.fields?.["template"]?.schema
    expect(template?.fields?.["spec"]?.schema).toBe(pod)
    expect(schemaFor("apiextensions.k8s.io", "v1", "CustomResourceDefinition").name).toContain(
      "CustomResourceDefinition",
    )
  })

  test("has patch strategies, list types, protobuf numbers and defaults", () => {
    const spec = schemaFor("", "v1", "Pod").fields?.["spec"]?.schema
    expect(spec?.fields?.["volumes"]).toMatchObject({
      patchStrategy: ["merge", "retainKeys"],
      patchMergeKey: "name",
      listType: "map",
      listMapKeys: ["name"],
      protobuf: 1,
    })
    expect(spec?.fields?.["restartPolicy"]).toMatchObject({ default: "Always", protobuf: 3 })
    expect(spec?.required).toEqual(["containers"])
  })
})

describe("bootstrapObjects()", () => {
  test("are those of a new server, without its own", () => {
    const names = bootstrapObjects().map((one) => `${one.kind}/${one.metadata.name ?? ""}`)
    expect(names).toEqual(
      expect.arrayContaining([
        "Namespace/default",
        "Namespace/kube-system",
        "ClusterRole/cluster-admin",
        "ClusterRoleBinding/cluster-admin",
        "PriorityClass/system-node-critical",
        "FlowSchema/catch-all",
        "APIService/v1.apps",
      ]),
    )
    for (const { metadata } of bootstrapObjects()) {
      expect(metadata.uid ?? metadata.resourceVersion ?? metadata.creationTimestamp).toBeUndefined()
    }
  })

  test("aggregated cluster roles have their rules", () => {
    const admin = bootstrapObjects().find((one) => one.kind === "ClusterRole" && one.metadata.name === "admin")
    expect(((admin?.["rules"] ?? []) as unknown[]).length).toBeGreaterThan(10)
  })
})

test("all facts belong to one release, and the kinds of all types are known", () => {
  expect(release()).toMatch(/^v1\.\d+\.\d+$/)
  expect(kindsOfTypes().get("io.k8s.api.apps.v1.Deployment")).toEqual([
    { group: "apps", version: "v1", kind: "Deployment" },
  ])
})
