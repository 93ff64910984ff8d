// Patches of webhooks.

import { describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import { jsonPatch, reviewed } from "../../testing/webhook-server.ts"
import { configMaps, verdict, WebhookTenant } from "./testing/webhook-tenant.ts"

const hooks = WebhookTenant.open()

describe("a patch of a webhook", () => {
  const stored = async (name: string): Promise<Loose> =>
    (await hooks.call("GET", `${configMaps}/${name}`)).json() as Loose

  test("is stored, and passed to later webhooks", async () => {
    hooks.answer = (given) =>
      given.path.startsWith("/0")
        ? reviewed(given, jsonPatch({ op: "add", path: "/data", value: { first: "1" } }))
        : reviewed(given, jsonPatch({ op: "add", path: "/data/second", value: "2" }))
    await hooks.configure("Mutating", {}, {})
    const name = hooks.fresh()
    expect(await verdict(hooks.create(name))).toBe("accepted")
    expect((await stored(name))["data"]).toEqual({ first: "1", second: "2" })
  })

  test("is passed on as it is written, and converted when all are done", async () => {
    hooks.answer = (given) =>
      given.path.startsWith("/0")
        ? reviewed(given, jsonPatch({ op: "add", path: "/stringData", value: { a: "first" } }))
        : reviewed(given, jsonPatch({ op: "replace", path: "/stringData/a", value: "second" }))
    const rules = [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"] }]
    await hooks.configure("Mutating", { rules }, { rules })
    const { code, json } = await hooks.call("POST", "/api/v1/namespaces/default/secrets", {
      metadata: { name: hooks.fresh() },
    })
    expect(code).toBe(201)
    expect(json()).toMatchObject({ type: "Opaque", data: { a: Buffer.from("second").toString("base64") } })
    expect(hooks.server.calls[1]?.body["request"].object).toMatchObject({ type: "Opaque", stringData: { a: "first" } })
  })

  const labels = { a: "b" }
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
  const selected = { selector: { matchLabels: labels }, template }
  const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
  test.each<[string, Loose, Loose, Loose, Loose]>([
    [
      "statefulsets",
      { ...selected, volumeClaimTemplates: [{ metadata: { name: "v" }, spec: claimSpec }] },
      { op: "replace", path: "/spec/volumeClaimTemplates/0/kind", value: "X" },
      { volumeClaimTemplates: [expect.objectContaining({ apiVersion: "v1", kind: "X" })] },
      { volumeClaimTemplates: [{ apiVersion: "v1", kind: "PersistentVolumeClaim" }] },
    ],
    [
      "daemonsets",
      selected,
      { op: "add", path: "/spec/updateStrategy", value: { type: "OnDelete", rollingUpdate: {} } },
      { updateStrategy: { type: "OnDelete", rollingUpdate: {} } },
      { updateStrategy: { type: "OnDelete", rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
    ],
  ])(
    "of %s is passed on without what only the internal version sets",
    async (resource, spec, operation, shown, made) => {
      hooks.answer = (given) => reviewed(given, given.path.startsWith("/0") ? jsonPatch(operation) : {})
      const rules = [{ operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: [resource] }]
      await hooks.configure("Mutating", { rules }, { rules })
      const at = `/apis/apps/v1/namespaces/default/${resource}`
      const { json, text } = await hooks.call("POST", at, { metadata: { name: hooks.fresh() }, spec })
      const given = hooks.server.calls[1]?.body["request"].object.spec as Loose
      expect(Object.fromEntries(Object.keys(shown).map((field) => [field, given[field]]))).toEqual(shown)
      expect((json() as Loose)["spec"], text).toMatchObject(made)
    },
  )

  test.each<[string, Loose, string, Loose]>([
    [
      "deployments",
      { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
      "/spec/strategy/rollingUpdate",
      { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    ],
    [
      "statefulsets",
      { updateStrategy: { type: "OnDelete", rollingUpdate: {} } },
      "/spec/updateStrategy/rollingUpdate",
      { updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 0 } } },
    ],
  ])("of %s may mend what it is shown with the zeros of the internal version", async (resource, given, path, shown) => {
    hooks.answer = (call) => reviewed(call, jsonPatch({ op: "remove", path }))
    const rules = [{ operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: [resource] }]
    await hooks.configure("Mutating", { rules })
    const at = `/apis/apps/v1/namespaces/default/${resource}`
    const spec = { ...selected, ...given }
    const { code, text } = await hooks.call("POST", at, { metadata: { name: hooks.fresh() }, spec })
    expect(code, text).toBe(201)
    expect(hooks.server.calls[0]?.body["request"].object.spec).toMatchObject(shown)
  })

  test("gives a namespace labels by which later webhooks are selected", async () => {
    hooks.answer = (given) =>
      reviewed(
        given,
        given.path.startsWith("/0") ? jsonPatch({ op: "add", path: "/metadata/labels/a", value: "b" }) : {},
      )
    const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"] }]
    await hooks.configure("Mutating", { rules }, { rules, namespaceSelector: { matchLabels: { a: "b" } } })
    await hooks.call("POST", "/api/v1/namespaces", { metadata: { name: hooks.fresh(), labels: { c: "d" } } })
    expect(hooks.server.calls.map(({ path }) => path.slice(0, 2))).toEqual(["/0", "/1"])
  })

  test("is validated", async () => {
    hooks.answer = (given) => reviewed(given, jsonPatch({ op: "add", path: "/data", value: { "a b": "1" } }))
    await hooks.configure("Mutating", {})
    expect(await verdict(hooks.create())).toMatch(/^422 ConfigMap ".*" is invalid: data\[a b\]: Invalid value: "a b"/)
  })

  test.each<[string, Loose, string]>([
    [
      "that removes a missing field",
      { op: "remove", path: "/metadata/none" },
      "500 Internal error occurred: error in remove for path: '/metadata/none': Unable to remove nonexistent key: none: missing value",
    ],
    ["with an unknown operation", { op: "bogus", path: "/a" }, "500 Internal error occurred: Unexpected kind: bogus"],
    [
      "with a wrong type",
      { op: "add", path: "/data", value: 5 },
      "500 Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string",
    ],
    ["with an unknown field", { op: "add", path: "/nothing", value: 5 }, "accepted"],
    ["that removes the namespace", { op: "remove", path: "/metadata/namespace" }, "accepted"],
    [
      "with another namespace",
      { op: "replace", path: "/metadata/namespace", value: "other" },
      "400 the namespace of the provided object does not match the namespace sent on the request",
    ],
  ])("%s", async (_, operation, expected) => {
    hooks.answer = (given) => reviewed(given, jsonPatch(operation))
    await hooks.configure("Mutating", {})
    expect(await verdict(hooks.create())).toContain(expected)
  })

  test("gives an object of the cluster no namespace", async () => {
    hooks.answer = (given) => reviewed(given, jsonPatch({ op: "add", path: "/metadata/namespace", value: "other" }))
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["clusterroles"] }]
    await hooks.configure("Mutating", { rules })
    const at = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    const role = { metadata: { name: hooks.fresh() }, rules: [] }
    expect(await verdict(hooks.call("POST", at, role))).toBe("accepted")
    const changed = { ...role, metadata: { ...role.metadata, labels: { a: "b" } } }
    const { json } = await hooks.call("PUT", `${at}/${role.metadata.name}`, changed)
    const { metadata } = json() as { metadata: Loose }
    expect(metadata).toMatchObject(changed.metadata)
    expect(metadata).not.toHaveProperty("namespace")
  })

  test.each<[string, Loose, Loose, string]>([
    [
      "takes away what was given empty",
      { binaryData: {} },
      { op: "add", path: "/metadata/labels/a", value: "b" },
      "accepted",
    ],
    [
      "gives what is empty",
      {},
      { op: "add", path: "/binaryData", value: {} },
      "binaryData: Forbidden: field is immutable",
    ],
  ])("%s", async (_, given, operation, expected) => {
    const name = hooks.fresh()
    const map = { metadata: { name, labels: { c: "d" } }, immutable: true }
    await hooks.call("POST", configMaps, map)
    hooks.answer = (call) => reviewed(call, jsonPatch(operation))
    await hooks.configure("Mutating", {})
    expect(await verdict(hooks.call("PUT", `${configMaps}/${name}`, { ...map, ...given }))).toContain(expected)
  })

  test("of a scale is refused under the name of the request", async () => {
    const operations = [
      { op: "add", path: "/metadata/name", value: "other" },
      { op: "add", path: "/spec/replicas", value: -1 },
    ]
    const labels = { a: "b" }
    const at = "/apis/apps/v1/namespaces/default/deployments"
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } }
    const name = hooks.fresh()
    await hooks.call("POST", at, { metadata: { name }, spec: { selector: { matchLabels: labels }, template } })
    hooks.answer = (given) => reviewed(given, jsonPatch(...operations))
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["deployments/scale"] }]
    await hooks.configure("Mutating", { rules })
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas: 2 } }
    expect(await verdict(hooks.call("PUT", `${at}/${name}/scale`, scale))).toContain(
      `422 Scale.autoscaling "${name}" is invalid: spec.replicas: Invalid value: -1`,
    )
  })

  test("of a delete is rejected", async () => {
    const name = hooks.fresh()
    await hooks.create(name)
    hooks.answer = (given) => reviewed(given, jsonPatch({ op: "add", path: "/x", value: 1 }))
    await hooks.configure("Mutating", {})
    expect(await verdict(hooks.call("DELETE", `${configMaps}/${name}`))).toBe(
      '500 Internal error occurred: admission webhook "hook-0.example.com" attempted to modify the object, which is not supported for this operation',
    )
  })

  test("of another version has the defaults of that version, and is refused in its words", async () => {
    const rules = [{ operations: ["*"], apiGroups: ["autoscaling"], apiVersions: ["v2"], resources: ["*"] }]
    await hooks.configure("Mutating", { rules })
    const at = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" }
    const create = (name: string, operation: Loose): Promise<string> => {
      hooks.answer = (given) => reviewed(given, jsonPatch(operation))
      return verdict(hooks.call("POST", at("v1"), { metadata: { name }, spec: { maxReplicas: 2, scaleTargetRef } }))
    }
    const behavior = { scaleUp: { stabilizationWindowSeconds: 3 } }
    expect(await create("a", { op: "add", path: "/spec/behavior", value: behavior })).toBe("accepted")
    const { spec } = (await hooks.call("GET", `${at("v2")}/a`)).json() as { spec: Loose }
    expect(spec["behavior"].scaleUp).toMatchObject({ stabilizationWindowSeconds: 3, selectPolicy: "Max" })
    expect(await create("b", { op: "add", path: "/spec/maxReplicas", value: "x" })).toBe(
      "500 Internal error occurred: json: cannot unmarshal string into Go struct field HorizontalPodAutoscalerSpec.spec.maxReplicas of type int32",
    )
  })

  test("is defaulted, and passes the built-in plugins again", async () => {
    hooks.answer = (given) =>
      reviewed(given, jsonPatch({ op: "add", path: "/spec/containers/-", value: { name: "side", image: "car" } }))
    await hooks.configure("Mutating", {
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    })
    await hooks.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } })
    const { json } = await hooks.call("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name: hooks.fresh() },
      spec: { containers: [{ name: "a", image: "b" }] },
    })
    const [, side] = (json() as Loose)["spec"].containers
    expect(side).toMatchObject({ name: "side", terminationMessagePath: "/dev/termination-log" })
    expect(side.volumeMounts[0].mountPath).toBe("/var/run/secrets/kubernetes.io/serviceaccount")
  })

  test.each<[string, string, Loose, Loose]>([
    [
      "pods",
      "/api/v1/namespaces/default/pods",
      { containers: [{ name: "a", image: "b" }] },
      { op: "remove", path: "/spec/restartPolicy" },
    ],
    [
      "horizontalpodautoscalers",
      "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
      { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
      { op: "add", path: "/spec/metrics", value: [] },
    ],
  ])(
    "of %s that removes a default is a change, although it is there again",
    async (resource, path, spec, operation) => {
      hooks.answer = (given) => reviewed(given, given.path.startsWith("/0") ? {} : jsonPatch(operation))
      const rules = [{ operations: ["CREATE"], apiGroups: ["*"], apiVersions: ["*"], resources: [resource] }]
      // The first patch of a write always changes the managers.
      const again = { rules, reinvocationPolicy: "IfNeeded" }
      await hooks.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } })
      await hooks.configure("Mutating", { rules }, again, { rules })
      const metadata = { name: hooks.fresh() }
      expect(await verdict(hooks.call("POST", path, { metadata, spec }))).toBe("accepted")
      expect(hooks.server.calls.map((call) => call.path.slice(0, 2))).toEqual(["/0", "/1", "/2", "/1"])
    },
  )

  test("makes earlier webhooks run again with reinvocationPolicy IfNeeded", async () => {
    hooks.answer = (given) =>
      given.path.startsWith("/0")
        ? reviewed(given, {})
        : reviewed(given, jsonPatch({ op: "add", path: "/data", value: { second: "2" } }))
    await hooks.configure("Mutating", { reinvocationPolicy: "IfNeeded" }, {})
    await hooks.create()
    expect(hooks.server.calls.map(({ path }) => path.slice(0, 2))).toEqual(["/0", "/1", "/0"])
    expect(hooks.server.calls[2]?.body["request"].object.data).toEqual({ second: "2" })
  })
})
