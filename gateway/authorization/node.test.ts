import { describe, expect, test } from "vitest"
import { parseFieldSelector } from "../../apimachinery/fields.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { notFound } from "../../apimachinery/status.ts"
import type { KubeList, ListOptions, Resource } from "../../client/rest.ts"
import type { User } from "../request/user.ts"
import { createNodeAuthorizer } from "./node.ts"
import type { RelationReader } from "./node-relations.ts"
import type { Attributes, Authorizer, Decision } from "./types.ts"
import { createUnionAuthorizer } from "./union.ts"

const object = (kind: string, name: string, spec: object, namespace?: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec,
  }) as KubeObject

const mirror = object("Pod", "mirror", { nodeName: "n", volumes: [{ name: "a", secret: { secretName: "m" } }] }, "ns")
mirror.metadata.annotations = { "kubernetes.io/config.mirror": "x" }
const volume = (claim: string): KubeObject => {
  const reference = (name: string): object => ({ namespace: "other", name: `${claim}-${name}` })
  const csi = { nodeStageSecretRef: reference("stage"), controllerPublishSecretRef: reference("publish") }
  return object("PersistentVolume", `${claim}-volume`, { claimRef: { namespace: "ns", name: claim }, csi })
}

const objects: Readonly<Record<string, readonly KubeObject[]>> = {
  pods: [
    object("Pod", "a", { nodeName: "n", volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }, "ns"),
    object("Pod", "b", { nodeName: "n", imagePullSecrets: [{ name: "s" }], serviceAccountName: "robot" }, "ns"),
    object("Pod", "c", { nodeName: "o", imagePullSecrets: [{ name: "t" }] }, "ns"),
    mirror,
  ],
  persistentvolumes: [volume("c"), volume("d")],
}

const reader: RelationReader = {
  get<T extends KubeObject>(resource: Resource, _namespace: string | undefined, name: string): Promise<T> {
    const found = objects[resource.resource]?.find(({ metadata }) => metadata.name === name)
    return found === undefined ? Promise.reject(notFound(resource, name)) : Promise.resolve(found as T)
  },
  list<T extends KubeObject>(resource: Resource, options: ListOptions = {}): Promise<KubeList<T>> {
    const [wanted] = parseFieldSelector(options.fieldSelector ?? "").requirements
    const items = (objects[resource.resource] ?? []).filter(
      (one) => wanted === undefined || (one as { spec?: { nodeName?: string } }).spec?.nodeName === wanted.value,
    )
    return Promise.resolve({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: "1" }, items: items as T[] })
  },
}

const node: User = { name: "system:node:n", groups: ["system:nodes"], extra: {} }
const rules = [{ apiGroups: [""], resources: ["services"], verbs: ["get"] }]
const nodes = createNodeAuthorizer({ reader, rules })

function asked(verb: string, what: string, more: Partial<Attributes> = {}): Attributes {
  const [path = "", name = ""] = what.split(" ")
  const [resource = "", subresource = ""] = path.split("/")
  const base = { user: node, verb, isResourceRequest: true, path: "", group: "", version: "v1", namespace: "ns" }
  return { ...base, resource, subresource, name, ...more }
}

describe("a node", () => {
  test.each<[string, string, Partial<Attributes>, string | true]>([
    ["get", "secrets s", {}, true],
    ["list", "secrets s", {}, true],
    ["get", "secrets t", {}, "no relationship found between node 'n' and this object"],
    ["get", "secrets m", {}, "no relationship found between node 'n' and this object"],
    ["get", "secrets c-stage", { namespace: "other" }, true],
    ["get", "secrets c-publish", { namespace: "other" }, "no relationship found between node 'n' and this object"],
    ["get", "secrets d-stage", { namespace: "other" }, "no relationship found between node 'n' and this object"],
    ["list", "secrets", {}, "No Object name found"],
    ["update", "secrets s", {}, "can only read resources of this type"],
    ["get", "persistentvolumeclaims c", {}, true],
    ["get", "persistentvolumes c-volume", { namespace: "" }, true],
    ["get", "persistentvolumes d-volume", { namespace: "" }, "no relationship found between node 'n' and this object"],
    ["create", "serviceaccounts/token robot", {}, true],
    ["create", "serviceaccounts/token default", {}, "no relationship found between node 'n' and this object"],
    ["get", "pods mirror", {}, true],
    ["get", "pods c", {}, "no relationship found between node 'n' and this object"],
    ["list", "pods", { fieldSelector: "spec.nodeName=n" }, true],
    [
      "list",
      "pods",
      { fieldSelector: "spec.nodeName!=n" },
      "can only list/watch pods with spec.nodeName field selector",
    ],
    [
      "list",
      "pods",
      { fieldSelector: "a\\,spec.nodeName=n" },
      "can only list/watch pods with spec.nodeName field selector",
    ],
    ["get", "services a", {}, true],
    ["list", "services", {}, ""],
    ["get", "nodes o", {}, "node 'n' cannot read 'o', only its own Node object"],
  ])("may %s %s %j: %s", async (verb, what, more, expected) => {
    const decision = await nodes(asked(verb, what, more))
    expect(decision).toEqual(
      expected === true ? { decision: "Allow", reason: "" } : { decision: "NoOpinion", reason: expected },
    )
  })

  test.each<[string, readonly string[]]>([
    ["system:node:n", []],
    ["n", ["system:nodes"]],
  ])("is not %s in %j", async (name, groups) => {
    const user = { name, groups, extra: {} }
    expect(await nodes(asked("get", "nodes n", { user }))).toEqual({ decision: "NoOpinion", reason: "" })
  })
})

test("what neither authorizer allows is denied for the reasons of both", async () => {
  let byRole: Decision = { decision: "NoOpinion", reason: "role" }
  const rbac = { authorize: () => byRole } as Partial<Authorizer> as Authorizer
  const both = createUnionAuthorizer(nodes, rbac)
  expect(await both.authorize(asked("list", "secrets"))).toEqual({
    decision: "NoOpinion",
    reason: "No Object name found\nrole",
  })
  expect(await both.authorize(asked("get", "secrets s"))).toMatchObject({ decision: "Allow" })
  byRole = { decision: "Allow", reason: "role" }
  expect(await both.authorize(asked("list", "secrets"))).toBe(byRole)
  // Without a promise: others pay nothing for nodes.
  expect(both.authorize(asked("list", "secrets", { user: { ...node, groups: [] } }))).toBe(byRole)
})
