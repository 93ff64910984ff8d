import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { silentLog } from "../../../client/log.ts"
import type { Resource } from "../../../client/rest.ts"
import { baseRevision } from "../../../storage/base-layer.ts"
import { createMemoryStore } from "../../../storage/memory/store.ts"
import type { Store } from "../../../storage/types.ts"
import { eventually } from "../../../test/harness/eventually.ts"
import type { RequestInfo } from "../../request/request-info.ts"
import type { User } from "../../request/user.ts"
import { createControlPlaneStub } from "../../testing/control-plane-stub.ts"
import { comparePrecedence, type FlowObject, Flows, type FlowSchemaSpec, indexRules } from "./classification.ts"
import { FlowView } from "./flow-view.ts"

const anyResource = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }
function schema(name: string, matchingPrecedence: number, rule: object, level = "level"): FlowObject {
  const rules = [rule] as FlowSchemaSpec["rules"]
  const spec = { matchingPrecedence, priorityLevelConfiguration: { name: level }, rules }
  return { name, uid: name, key: name, spec, rules: indexRules(rules) }
}
const none = (): string => ""
const levels = new Map([["level", { name: "level", uid: "l", key: "", spec: {}, rules: [] }]])
const byGroup = (name: string): object => ({ kind: "Group", group: { name } })
const byUser = (name: string): object => ({ kind: "User", user: { name } })
const byAccount = (namespace: string, name: string): object => ({
  kind: "ServiceAccount",
  serviceAccount: { namespace, name },
})

const pods: RequestInfo = {
  isResourceRequest: true,
  verb: "get",
  path: "/api/v1/namespaces/a/pods/p",
  group: "",
  version: "v1",
  namespace: "a",
  resource: "pods",
  subresource: "",
  name: "p",
  rest: "",
}
const health: RequestInfo = { ...pods, isResourceRequest: false, path: "/healthz/ping", namespace: "", resource: "" }
const jane: User = { name: "jane", groups: ["system:authenticated"], extra: {} }
const account: User = { ...jane, name: "system:serviceaccount:a:b" }

describe("classify()", () => {
  const resources = { resourceRules: [anyResource] }
  const one = { ...anyResource, verbs: ["get"], resources: ["pods/status"], namespaces: ["a"], clusterScope: false }
  const paths = (...nonResourceURLs: string[]): object => ({
    subjects: [byUser("*")],
    nonResourceRules: [{ verbs: ["get"], nonResourceURLs }],
  })
  test.each<[string, boolean, object, Partial<RequestInfo>, User?]>([
    ["a user", true, { subjects: [byUser("jane")], ...resources }, {}],
    ["another user", false, { subjects: [byUser("joe")], ...resources }, {}],
    ["any user", true, { subjects: [byUser("*")], ...resources }, {}],
    ["a group", true, { subjects: [byGroup("system:authenticated")], ...resources }, {}],
    ["another group", false, { subjects: [byGroup("system:masters")], ...resources }, {}],
    ["a service account", true, { subjects: [byAccount("a", "b")], ...resources }, {}, account],
    ["any service account of a namespace", true, { subjects: [byAccount("a", "*")], ...resources }, {}, account],
    ["another service account", false, { subjects: [byAccount("a", "c")], ...resources }, {}, account],
    ["any group", true, { subjects: [byGroup("*")], ...resources }, {}],
    ["no group", false, { subjects: [byGroup("jane")], ...resources }, {}],
    ["service accounts of another namespace", false, { subjects: [byAccount("b", "*")], ...resources }, {}, account],
    ["one of several subjects", true, { subjects: [byUser("joe"), byUser("jane")], ...resources }, {}],
    ["a subresource", true, { subjects: [byUser("*")], resourceRules: [one] }, { subresource: "status" }],
    ["the resource of a subresource", false, { subjects: [byUser("*")], resourceRules: [one] }, {}],
    ["another verb", false, { subjects: [byUser("*")], resourceRules: [one] }, { subresource: "status", verb: "list" }],
    [
      "another namespace",
      false,
      { subjects: [byUser("*")], resourceRules: [one] },
      { subresource: "status", namespace: "b" },
    ],
    [
      "no namespace",
      false,
      { subjects: [byUser("*")], resourceRules: [one] },
      { subresource: "status", namespace: "" },
    ],
    ["no path", false, paths("*"), {}],
    ["any path", true, paths("*"), health],
    ["a path", true, paths("/healthz/ping"), health],
    ["a path below another", true, paths("/healthz"), health],
    ["a path below a wildcard", true, paths("/healthz/*"), health],
    ["another path", false, paths("/health"), health],
  ])("%s is matched: %s", (_, matches, rule, info, user = jane) => {
    const flows = new Flows([schema("s", 1, rule)], levels, none)
    const found = flows.classify(user, { ...pods, ...info })
    expect(found?.headers["x-kubernetes-pf-flowschema-uid"]).toBe(matches ? "s" : undefined)
  })

  test("goes through the groups of a user once, and through the subjects of a schema once for all requests", () => {
    const names = Array.from({ length: 1000 }, (_, index) => String(index))
    let reads = 0
    const counted = <T>(items: T[]): T[] =>
      new Proxy(items, {
        get(target, key) {
          reads++
          return Reflect.get(target, key) as unknown
        },
      })
    const subjects = counted(names.map((name) => byGroup(`other-${name}`)))
    const schemas = [schema("s", 1, { subjects, ...resources })]
    for (let count = 0; count < 10; count++) {
      const flows = new Flows(schemas, levels, none)
      expect(flows.classify(jane, pods)).toBeUndefined()
    }
    expect(reads).toBeLessThan(10 * names.length)
    const flows = new Flows(schemas, levels, none)
    reads = 0
    expect(flows.classify({ ...jane, groups: counted(names) }, pods)).toBeUndefined()
    expect(reads).toBeLessThan(10 * names.length)
  })

  test("returns the first schema by precedence and name whose level exists", () => {
    const all = { subjects: [byUser("*")], ...resources }
    const schemas = [schema("d", 5, all), schema("c", 2, all), schema("b", 2, all), schema("a", 1, all, "none")]
    const flows = new Flows(schemas.toSorted(comparePrecedence), levels, none)
    expect(flows.classify(jane, pods)).toMatchObject({ schema: "b", level: "level" })
    expect(flows.classify(jane, pods)?.headers).toEqual({
      "x-kubernetes-pf-flowschema-uid": "b",
      "x-kubernetes-pf-prioritylevel-uid": "l",
    })
  })
})

test("a view sees every acknowledged write", async () => {
  await using store = createMemoryStore()
  await using view = new FlowView({
    store,
    baseObject: () => undefined,
    baseUid: none,
    initial: new Map(),
    client: () => createControlPlaneStub({ store }).client,
    log: silentLog,
  })
  const prefix = "/registry/flowcontrol.apiserver.k8s.io/"
  const write = (key: string, object: object | undefined) =>
    store.txn({
      compare: [],
      operations: [
        object === undefined
          ? { type: "delete", key: prefix + key }
          : { type: "put", key: prefix + key, value: Buffer.from(JSON.stringify(object)) },
      ],
    })
  const uid = async (): Promise<string | undefined> =>
    (await view.current()).classify(jane, pods)?.headers["x-kubernetes-pf-flowschema-uid"]
  expect(await uid()).toBeUndefined()
  const { spec } = schema("s", 1, { subjects: [byUser("*")], resourceRules: [anyResource] })
  await write("flowschemas/s", { metadata: { name: "s", uid: "one" }, spec })
  expect(await uid()).toBeUndefined()
  await write("prioritylevelconfigurations/level", { metadata: { name: "level", uid: "l" } })
  expect(await uid()).toBe("one")
  await write("prioritylevelconfigurations/level", undefined)
  expect(await uid()).toBeUndefined()
})

test("a change of a schema does not look at the others", async () => {
  const store = createMemoryStore()
  const prefix = "/registry/flowcontrol.apiserver.k8s.io/flowschemas/"
  let looks = 0
  const level = {
    get name() {
      looks++
      return "level"
    },
  }
  const keys = Array.from({ length: 100 }, (_, n) => `${prefix}s${n}`)
  const others = new Map(
    keys.map((key) => [key, { metadata: { name: key }, spec: { priorityLevelConfiguration: level } }]),
  )
  const items = keys.map((key) => ({ key, value: Buffer.from(""), modRevision: baseRevision }))
  const base = { revision: store.revision, range: () => ({ items, revision: store.revision }) }
  await using view = new FlowView({
    store: { ...base, watch: store.watch.bind(store) } as unknown as Store,
    baseObject: (key) => others.get(key) as unknown as KubeObject,
    baseUid: none,
    initial: new Map(),
    client: () => createControlPlaneStub({ store }).client,
    log: silentLog,
  })
  await view.current()
  looks = 0
  const value = Buffer.from(JSON.stringify({ metadata: { name: "one" }, spec: {} }))
  for (const key of [`${prefix}one`, `${prefix}one`]) {
    await store.txn({ compare: [], operations: [{ type: "put", key, value }] })
  }
  await store.txn({ compare: [], operations: [{ type: "delete", key: `${prefix}one` }] })
  expect(looks).toBe(0)
})

describe("a flow schema's Dangling condition", () => {
  const [schemas, priorities] = ["flowschemas", "prioritylevelconfigurations"].map((resource) => ({
    group: "flowcontrol.apiserver.k8s.io",
    version: "v1",
    resource,
    namespaced: false,
  })) as [Resource, Resource]
  const { client, flows } = createControlPlaneStub()
  const level = {
    metadata: { name: "low" },
    spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
  } as unknown as KubeObject
  const named = (name: string): KubeObject => {
    const rules = [{ subjects: [byUser("*")], resourceRules: [anyResource] }]
    return { metadata: { name }, spec: { priorityLevelConfiguration: { name: "low" }, rules } } as unknown as KubeObject
  }
  const hasCondition = (name: string, status: string, reason: string): Promise<true> =>
    eventually(async () => {
      const { metadata, ...object } = await client.get<KubeObject>(schemas, undefined, name)
      const time = expect.stringMatching(/^\d{4}-/) as unknown
      const message = expect.stringContaining('named "low"') as unknown
      const condition = { type: "Dangling", status, reason, message, lastTransitionTime: time }
      expect(object).toMatchObject({ status: { conditions: [condition] } })
      const manager = "api-priority-and-fairness-config-consumer-v1"
      expect(metadata.managedFields).toContainEqual(
        expect.objectContaining({ manager, operation: "Apply", subresource: "status" }),
      )
      return true
    })

  test("is set for existing schemas", async () => {
    await client.create(schemas, named("early"))
    await flows.current()
    await hasCondition("early", "True", "NotFound")
  })

  test("follows creations and deletions of levels", async () => {
    await flows.current()
    await client.create(schemas, named("late"))
    await hasCondition("late", "True", "NotFound")
    await client.create(priorities, level)
    for (const name of ["early", "late"]) await hasCondition(name, "False", "Found")
    await client.delete(priorities, undefined, "low")
    for (const name of ["early", "late"]) await hasCondition(name, "True", "NotFound")
  })

  test("is restored after other writers", async () => {
    const conditions = [{ type: "Dangling", status: "Unknown" }]
    const options = { type: "merge", subresource: "status" } as const
    const { metadata } = await client.patch(schemas, undefined, "late", { status: { conditions } }, options)
    await eventually(async () => {
      const now = await client.get<KubeObject>(schemas, undefined, "late")
      return now.metadata.resourceVersion !== metadata.resourceVersion
    })
    await hasCondition("late", "True", "NotFound")
  })
})
