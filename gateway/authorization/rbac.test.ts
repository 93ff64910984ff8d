import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { silentLog } from "../../client/log.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { Store } from "../../storage/types.ts"
import type { User } from "../request/user.ts"
import { refusal } from "./messages.ts"
import { PolicyView } from "./policy-view.ts"
import { type Bound, createRBACAuthorizer, grantsTo, type Policy } from "./rbac.ts"
import { covers, compactRules, printRule } from "./rules.ts"
import type { Attributes, Authorizer } from "./types.ts"

const prefix = "/registry/rbac.authorization.k8s.io/"
let store: Store
let view: PolicyView
let authorizer: Authorizer

beforeEach(() => {
  store = createMemoryStore()
  view = new PolicyView({ store, prefix, log: silentLog })
  authorizer = createRBACAuthorizer(view)
})

afterEach(async () => {
  await view[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

const put = (key: string, value: object) =>
  store.txn({
    compare: [],
    operations: [{ type: "put", key: prefix + key, value: Buffer.from(JSON.stringify(value)) }],
  })

const remove = (key: string) => store.txn({ compare: [], operations: [{ type: "delete", key: prefix + key }] })

const bob: User = { name: "bob", groups: ["dev", "system:authenticated"], extra: {} }
const robot: User = { name: "system:serviceaccount:ns:robot", groups: ["system:serviceaccounts"], extra: {} }

const asking = (verb: string, what: string, more: Partial<Attributes> = {}): Attributes => {
  const [resource = "", subresource = ""] = what.split("/")
  const base = {
    user: bob,
    verb,
    isResourceRequest: true,
    path: "",
    group: "",
    version: "v1",
    namespace: "ns",
    name: "",
  }
  return { ...base, resource, subresource, ...more }
}

const url = (verb: string, path: string): Attributes => ({
  ...asking(verb, ""),
  isResourceRequest: false,
  path,
  namespace: "",
})

const allowed = async (attributes: Attributes) => (await authorizer.authorize(attributes)).decision === "Allow"

const bind = (rules: object[], subjects: object[] = [{ kind: "User", name: "bob" }]) =>
  Promise.all([
    put("clusterroles/r", { rules }),
    put("clusterrolebindings/b", { subjects, roleRef: { kind: "ClusterRole", name: "r" } }),
  ])

describe("RBAC authorizer", () => {
  test.each<[string, object, Attributes, boolean]>([
    ["a verb", { apiGroups: [""], resources: ["pods"], verbs: ["get"] }, asking("get", "pods"), true],
    ["another verb", { apiGroups: [""], resources: ["pods"], verbs: ["get"] }, asking("list", "pods"), false],
    ["another group", { apiGroups: ["apps"], resources: ["pods"], verbs: ["get"] }, asking("get", "pods"), false],
    ["every group", { apiGroups: ["*"], resources: ["pods"], verbs: ["*"] }, asking("patch", "pods"), true],
    ["no subresource", { apiGroups: [""], resources: ["pods"], verbs: ["get"] }, asking("get", "pods/log"), false],
    ["a subresource", { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] }, asking("get", "pods/log"), true],
    [
      "that subresource of all",
      { apiGroups: [""], resources: ["*/scale"], verbs: ["get"] },
      asking("get", "pods/scale"),
      true,
    ],
    ["another of all", { apiGroups: [""], resources: ["*/scale"], verbs: ["get"] }, asking("get", "pods/log"), false],
    ["all resources", { apiGroups: [""], resources: ["*"], verbs: ["get"] }, asking("get", "pods/log"), true],
    [
      "a name",
      { apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: ["a"] },
      asking("get", "pods", { name: "a" }),
      true,
    ],
    [
      "another name",
      { apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: ["a"] },
      asking("get", "pods", { name: "b" }),
      false,
    ],
    [
      "a name, asked for all",
      { apiGroups: [""], resources: ["pods"], verbs: ["list"], resourceNames: ["a"] },
      asking("list", "pods"),
      false,
    ],
    ["a URL", { nonResourceURLs: ["/healthz"], verbs: ["get"] }, url("get", "/healthz"), true],
    ["URLs below", { nonResourceURLs: ["/healthz/*"], verbs: ["get"] }, url("get", "/healthz/etcd"), true],
    ["URLs elsewhere", { nonResourceURLs: ["/healthz/*"], verbs: ["get"] }, url("get", "/metrics"), false],
    ["all URLs but no resources", { nonResourceURLs: ["*"], verbs: ["*"] }, asking("get", "pods"), false],
  ])("a rule for %s", async (_what, rule, attributes, expected) => {
    await bind([rule])
    expect(await allowed(attributes)).toBe(expected)
  })

  // A tenant may bind a role as large as a body thousands of times.
  test("a role that many bindings give is asked once", async () => {
    await put("clusterroles/r", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] })
    for (let count = 0; count < 100; count++) {
      const subjects = [{ kind: "User", name: "bob" }]
      await put(`clusterrolebindings/b${count}`, { subjects, roleRef: { kind: "ClusterRole", name: "r" } })
    }
    const [{ verbs = [] } = {}] = (await view.current()).clusterRoles.get("r") ?? []
    const asked = vi.spyOn(verbs as string[], "includes")
    expect(await allowed(asking("list", "pods"))).toBe(false)
    expect(asked).toHaveBeenCalledTimes(2)
  })

  // A tenant may have tens of thousands of them.
  test("bindings of roles that are gone are named to those alone who may not do what they ask for", async () => {
    const names = Array.from({ length: 2500 }, (_, index) => `gone-${index}`)
    let read = 0
    const bindings = names.map((name): Bound => {
      const roleRef = {
        kind: "ClusterRole",
        get name() {
          read++
          return name
        },
      }
      return { binding: { name, subjects: [], roleRef }, subject: { kind: "User", name: "bob" } }
    })
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]
    const own = { name: "own", subjects: [], roleRef: { kind: "ClusterRole", name: "r" } }
    const bound = [...bindings, { binding: own, subject: { kind: "User", name: "bob" } }]
    const policy: Policy = {
      roles: new Map(),
      clusterRoles: new Map([["r", rules]]),
      bindingsOf: (_user, namespace) => (namespace === "" ? bound : []),
      namespaces: () => [],
    }
    let pauses = 0
    const among = createRBACAuthorizer({ current: () => Promise.resolve(policy) }, () => void pauses++)
    expect((await among.authorize(asking("get", "pods"))).decision).toBe("Allow")
    expect(read).toBe(names.length)
    pauses = 0
    const { reason } = await among.authorize(asking("list", "pods"))
    expect(reason).toBe(
      `RBAC: [${names.map((name) => `clusterrole.rbac.authorization.k8s.io "${name}" not found`).join(", ")}]`,
    )
    expect(pauses).toBeGreaterThan(names.length + 2)
  })

  test("lists rules as far as there is room", async () => {
    const verbs = Array.from({ length: 100_000 }, (_, index) => `verb-${index}`)
    const rule = { apiGroups: [""], resources: ["pods"], verbs }
    await put("clusterroles/r", { rules: [rule] })
    for (let count = 0; count < 1000; count++) {
      const subjects = [{ kind: "User", name: "bob" }]
      await put(`clusterrolebindings/b${count}`, { subjects, roleRef: { kind: "ClusterRole", name: "r" } })
    }
    const { rules, isIncomplete } = await authorizer.rulesFor(bob, "ns")
    expect([rules.length, isIncomplete]).toEqual([Math.floor((4 * 2 ** 20) / JSON.stringify([rule]).length), true])
    expect(grantsTo(await view.current(), bob).length).toBeLessThan(1_000_000)
  })

  const readPods = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]

  test.each<[string, object, User, boolean]>([
    ["a user", { kind: "User", name: "bob" }, bob, true],
    ["a group", { kind: "Group", name: "dev" }, bob, true],
    ["another group", { kind: "Group", name: "ops" }, bob, false],
    ["a service account", { kind: "ServiceAccount", name: "robot", namespace: "ns" }, robot, true],
    ["a service account elsewhere", { kind: "ServiceAccount", name: "robot", namespace: "other" }, robot, false],
    ["a service account of no namespace", { kind: "ServiceAccount", name: "robot" }, robot, false],
  ])("a binding of %s", async (_what, subject, user, expected) => {
    await bind(readPods, [subject])
    expect(await allowed(asking("get", "pods", { user }))).toBe(expected)
  })

  test("a role binding applies to its namespace, which is also the default one of its accounts", async () => {
    await put("clusterroles/r", { rules: readPods })
    await put("roles/ns/r", { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }] })
    await put("rolebindings/ns/a", {
      subjects: [{ kind: "ServiceAccount", name: "robot" }],
      roleRef: { kind: "ClusterRole", name: "r" },
    })
    await put("rolebindings/ns/b", { subjects: [{ kind: "User", name: "bob" }], roleRef: { kind: "Role", name: "r" } })
    expect(await allowed(asking("get", "pods", { user: robot }))).toBe(true)
    expect(await allowed(asking("get", "pods", { user: robot, namespace: "other" }))).toBe(false)
    expect(await allowed(asking("get", "pods", { user: robot, namespace: "" }))).toBe(false)
    expect(await allowed(asking("get", "secrets"))).toBe(true)
    expect(await allowed(asking("get", "pods"))).toBe(false)
  })

  test("applies changes immediately", async () => {
    expect(await allowed(asking("get", "pods"))).toBe(false)
    await bind(readPods)
    expect(await allowed(asking("get", "pods"))).toBe(true)
    await put("clusterroles/r", { rules: [] })
    expect(await allowed(asking("get", "pods"))).toBe(false)
    await put("clusterroles/r", { rules: readPods })
    await remove("clusterrolebindings/b")
    expect(await allowed(asking("get", "pods"))).toBe(false)
  })

  test("system:masters may do anything", async () => {
    expect(await allowed(asking("get", "pods", { user: { ...bob, groups: ["system:masters"] } }))).toBe(true)
  })

  test("a binding of a missing role is reported in the refusal", async () => {
    await put("clusterrolebindings/b", {
      subjects: [{ kind: "User", name: "bob" }],
      roleRef: { kind: "ClusterRole", name: "gone" },
    })
    const attributes = asking("list", "deployments", { group: "apps" })
    const { decision, reason } = await authorizer.authorize(attributes)
    expect(decision).toBe("NoOpinion")
    expect(refusal(attributes, reason).message).toBe(
      'deployments.apps is forbidden: User "bob" cannot list resource "deployments" in API group "apps" in the namespace "ns": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    )
  })

  test("lists the rules of a user", async () => {
    await bind(readPods)
    expect(await authorizer.rulesFor(bob, "ns")).toEqual({ rules: readPods, missing: [] })
  })
})

describe("refusal()", () => {
  test.each([
    [
      asking("get", "pods", { name: "x" }),
      'pods "x" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "ns"',
    ],
    [
      asking("create", "pods/exec", { name: "x" }),
      'pods "x" is forbidden: User "bob" cannot create resource "pods/exec" in API group "" in the namespace "ns"',
    ],
    [
      asking("list", "nodes", { namespace: "" }),
      'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [url("get", "/foo"), 'forbidden: User "bob" cannot get path "/foo"'],
  ])("has the message of kube-apiserver", (attributes, message) => {
    expect(refusal(attributes, "").message).toBe(message)
  })
})

describe("covers()", () => {
  const rule = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]) => ({
    apiGroups,
    resources,
    verbs,
    ...(resourceNames === undefined ? {} : { resourceNames }),
  })
  test.each([
    ["the same", [rule([""], ["pods"], ["get"])], [rule([""], ["pods"], ["get"])], 0],
    ["less", [rule([""], ["pods"], ["get", "list"])], [rule([""], ["pods"], ["get"])], 0],
    [
      "a rule that two rules cover together",
      [rule([""], ["pods"], ["get"]), rule([""], ["secrets"], ["get"])],
      [rule([""], ["pods", "secrets"], ["get"])],
      0,
    ],
    ["more", [rule([""], ["pods"], ["get"])], [rule([""], ["pods"], ["*"])], 1],
    [
      "a single name of an allowed resource",
      [rule([""], ["pods"], ["get"])],
      [rule([""], ["pods"], ["get"], ["a"])],
      0,
    ],
    ["all names if only one is allowed", [rule([""], ["pods"], ["get"], ["a"])], [rule([""], ["pods"], ["get"])], 1],
    ["a subresource of a wildcard", [rule([""], ["*/scale"], ["get"])], [rule([""], ["pods/scale"], ["get"])], 0],
  ])("%s", (_what, held, wanted, missing) => {
    expect(covers(held, wanted)).toHaveLength(missing)
  })

  test("missing rules are printed in compact form", () => {
    const missing = covers([], [rule([""], ["pods"], ["get", "list"])])
    expect(compactRules(missing).map(printRule)).toEqual(['{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'])
  })
})
