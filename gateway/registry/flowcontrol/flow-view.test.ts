import { describe, expect, test } from "vitest"
import { silentLog } from "../../../client/log.ts"
import { createMemoryStore } from "../../../storage/memory/store.ts"
import type { RequestInfo, User } from "../../request/context.ts"
import { Flows, type FlowSchemaSpec } from "./classification.ts"
import { FlowView } from "./flow-view.ts"

const anyResource = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }
const schema = (name: string, matchingPrecedence: number, rule: object, level = "level") => ({
  name,
  uid: name,
  key: name,
  spec: { matchingPrecedence, priorityLevelConfiguration: { name: level }, rules: [rule] } as FlowSchemaSpec,
})
const none = (): string => ""
const levels = new Map([["level", { name: "level", uid: "l", key: "", spec: {} }]])
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
    ["any of a namespace", true, { subjects: [byAccount("a", "*")], ...resources }, {}, account],
    ["those of another namespace", false, { subjects: [byAccount("b", "*")], ...resources }, {}, account],
    ["one of several subjects", true, { subjects: [byUser("joe"), byUser("jane")], ...resources }, {}],
    ["a subresource", true, { subjects: [byUser("*")], resourceRules: [one] }, { subresource: "status" }],
    ["its resource", false, { subjects: [byUser("*")], resourceRules: [one] }, {}],
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
    ["what is below a path", true, paths("/healthz"), health],
    ["what is below a star", true, paths("/healthz/*"), health],
    ["another path", false, paths("/health"), health],
  ])("%s is matched: %s", (_, matches, rule, info, user = jane) => {
    const flows = new Flows([schema("s", 1, rule)], levels, none)
    const found = flows.classify(user, { ...pods, ...info })
    expect(found?.["x-kubernetes-pf-flowschema-uid"]).toBe(matches ? "s" : undefined)
  })

  test("the first by precedence counts, then by name, if its level is there", () => {
    const all = { subjects: [byUser("*")], ...resources }
    const schemas = [schema("d", 5, all), schema("c", 2, all), schema("b", 2, all), schema("a", 1, all, "none")]
    const flows = new Flows(schemas, levels, none)
    expect(flows.classify(jane, pods)).toEqual({
      "x-kubernetes-pf-flowschema-uid": "b",
      "x-kubernetes-pf-prioritylevel-uid": "l",
    })
  })
})

test("a view sees every acknowledged write", async () => {
  await using store = createMemoryStore()
  await using view = new FlowView({ store, baseObject: () => undefined, baseUid: none, log: silentLog })
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
    (await view.current()).classify(jane, pods)?.["x-kubernetes-pf-flowschema-uid"]
  expect(await uid()).toBeUndefined()
  const { spec } = schema("s", 1, { subjects: [byUser("*")], resourceRules: [anyResource] })
  await write("flowschemas/s", { metadata: { name: "s", uid: "one" }, spec })
  expect(await uid()).toBeUndefined()
  await write("prioritylevelconfigurations/level", { metadata: { name: "level", uid: "l" } })
  expect(await uid()).toBe("one")
  await write("prioritylevelconfigurations/level", undefined)
  expect(await uid()).toBeUndefined()
})
