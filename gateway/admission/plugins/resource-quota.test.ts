import { describe, expect, test } from "vitest"
import { createKindsStub, type KindsStub, type Loose, verdict } from "../../testing/kinds.ts"
import { ResourceQuotaPlugin } from "./resource-quota.ts"

async function withQuota(hard: Loose, more: Loose = {}): Promise<KindsStub> {
  const kinds = createKindsStub({ plugins: [new ResourceQuotaPlugin()] })
  await limit(kinds, "q", hard, more)
  return kinds
}

/** A quota that a controller has counted, with nothing used. */
async function limit(kinds: KindsStub, name: string, hard: Loose, more: Loose = {}): Promise<void> {
  await kinds.create("resourcequotas", { metadata: { name }, spec: { hard, ...more } })
  const status = { hard, used: Object.fromEntries(Object.keys(hard).map((resource) => [resource, "0"])) }
  await report(kinds, name, status)
}

const report = (kinds: KindsStub, name: string, status: Loose): Promise<Loose> =>
  kinds.patch("resourcequotas", name, { status }, { subresource: "status" })

const pod = (name: string, cpu?: string, spec: Loose = {}): Loose => {
  const resources = cpu === undefined ? {} : { requests: { cpu } }
  return { metadata: { name }, spec: { containers: [{ name: "a", image: "b", resources }], ...spec } }
}
const used = async (kinds: KindsStub): Promise<Loose> => (await kinds.get("resourcequotas", "q"))["status"].used

test("concurrent writes are admitted up to the limit", async () => {
  await using kinds = await withQuota({ configmaps: "5", "count/secrets": "2" })
  const maps = Array.from({ length: 20 }, (_, n) =>
    verdict(kinds.create("configmaps", { metadata: { name: `c${n}` } })),
  )
  const secrets = Array.from({ length: 5 }, (_, n) => verdict(kinds.create("secrets", { metadata: { name: `s${n}` } })))
  expect((await Promise.all(maps)).filter((answer) => answer === "accepted")).toHaveLength(5)
  expect((await Promise.all(secrets)).filter((answer) => answer === "accepted")).toHaveLength(2)
  expect(await used(kinds)).toEqual({ configmaps: "5", "count/secrets": "2" })
})

test("the plugins of two gateways do not exceed the limit together", async () => {
  // Both have the same store, but their own turns: only the swap can prevent a conflict.
  const plugins = [new ResourceQuotaPlugin(), new ResourceQuotaPlugin()]
  await using kinds = createKindsStub({
    plugins: [
      {
        validate: (ctx, attributes) => plugins[Math.random() < 0.5 ? 0 : 1]!.validate(ctx, attributes),
      },
    ],
  })
  await limit(kinds, "q", { configmaps: "5" })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => verdict(kinds.create("configmaps", { metadata: { name: `c${n}` } }))),
  )
  expect(answers.filter((answer) => answer === "accepted").length).toBeLessThanOrEqual(5)
  expect(Number((await used(kinds))["configmaps"])).toBe(answers.filter((answer) => answer === "accepted").length)
})

test("a quota that is deleted before it is charged limits nothing", async () => {
  const plugin = new ResourceQuotaPlugin()
  let isPresent = false
  await using kinds = createKindsStub({
    plugins: [
      {
        async validate(ctx, attributes) {
          // After the quotas have been read.
          const pause = async (): Promise<void> => {
            if (isPresent) await kinds.delete("resourcequotas", "gone")
            isPresent = false
          }
          await plugin.validate({ ...ctx, pause }, attributes)
        },
      },
    ],
  })
  await limit(kinds, "gone", { configmaps: "0" })
  await limit(kinds, "stays", { configmaps: "0" })
  isPresent = true
  expect(await verdict(kinds.create("configmaps", { metadata: { name: "c" } }))).toContain("exceeded quota: stays,")
  await kinds.delete("resourcequotas", "stays")
  await limit(kinds, "gone", { configmaps: "0" })
  isPresent = true
  expect(await verdict(kinds.create("configmaps", { metadata: { name: "c" } }))).toBe("accepted")
})

test("reports the requested, used and limited amounts", async () => {
  await using kinds = await withQuota({ "requests.cpu": "1", pods: "3" })
  await kinds.create("pods", pod("p", "700m"))
  expect(await verdict(kinds.create("pods", pod("q", "700m")))).toBe(
    'pods "q" is forbidden: exceeded quota: q, requested: requests.cpu=700m, used: requests.cpu=700m, limited: requests.cpu=1',
  )
  expect(await used(kinds)).toEqual({ "requests.cpu": "700m", pods: "1" })
})

test("a pod must set the limited resources", async () => {
  await using kinds = await withQuota({ "requests.cpu": "1" })
  expect(await verdict(kinds.create("pods", pod("p")))).toBe(
    'pods "p" is forbidden: failed quota: q: must specify requests.cpu for: a',
  )
})

test("what limits is what the status says", async () => {
  await using kinds = createKindsStub({ plugins: [new ResourceQuotaPlugin()] })
  await kinds.create("resourcequotas", { metadata: { name: "q" }, spec: { hard: { configmaps: "0" } } })
  const add = (name: string): Promise<string> => verdict(kinds.create("configmaps", { metadata: { name } }))
  expect(await add("before-it-is-counted")).toBe("accepted")
  await report(kinds, "q", { hard: { configmaps: "2" }, used: { configmaps: "1" } })
  expect(await add("second")).toBe("accepted")
  expect(await add("third")).toContain(
    "exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2",
  )
  expect((await kinds.get("resourcequotas", "q"))["status"]).toEqual({
    hard: { configmaps: "2" },
    used: { configmaps: "2" },
  })
})

test("what is limited and not counted is refused", async () => {
  await using kinds = await withQuota({ configmaps: "2", "count/configmaps": "2", secrets: "2" })
  await report(kinds, "q", { used: { "count/configmaps": null } })
  expect(await verdict(kinds.create("configmaps", { metadata: { name: "c" } }))).toBe(
    'configmaps "c" is forbidden: status unknown for quota: q, resources: configmaps,count/configmaps',
  )
  expect(await verdict(kinds.create("secrets", { metadata: { name: "s" } }))).toBe("accepted")
})

test("only pods in the quota's scopes are counted", async () => {
  await using kinds = await withQuota({ pods: "0" }, { scopes: ["BestEffort"] })
  await kinds.create("pods", pod("burstable", "1"))
  expect(await verdict(kinds.create("pods", pod("best")))).toContain("exceeded quota: q")
})

describe("a quota for claims of a VolumeAttributesClass", () => {
  const claim = (name: string, volumeAttributesClassName?: string): Loose => ({
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "",
      resources: { requests: { storage: "1Gi" } },
      ...(volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName }),
    },
  })
  const scoped = (operator: string, values?: string[]): Loose => ({
    scopeSelector: {
      matchExpressions: [{ scopeName: "VolumeAttributesClass", operator, ...(values === undefined ? {} : { values }) }],
    },
  })

  test.each<[string, string[] | undefined, (string | undefined)[]]>([
    ["In", ["gold"], ["gold"]],
    ["NotIn", ["gold"], ["silver", undefined]],
    ["Exists", undefined, ["gold", "silver"]],
    ["DoesNotExist", undefined, [undefined]],
  ])("with operator %s %s counts claims of %s", async (operator, values, counted) => {
    await using kinds = await withQuota({ persistentvolumeclaims: "0" }, scoped(operator, values))
    for (const name of ["gold", "silver", undefined]) {
      const answer = await verdict(kinds.create("persistentvolumeclaims", claim(`c-${name}`, name)))
      expect(answer.includes("exceeded quota"), String(name)).toBe(counted.includes(name))
    }
  })

  test("counts one that is changing to the class", async () => {
    await using kinds = await withQuota(
      { persistentvolumeclaims: "1", "requests.storage": "5Gi" },
      scoped("In", ["gold"]),
    )
    await kinds.create("persistentvolumeclaims", claim("a"))
    const resource = { group: "", version: "v1", resource: "persistentvolumeclaims", namespaced: true }
    const object = await kinds.client.get(resource, "default", "a")
    const modifyVolumeStatus = { targetVolumeAttributesClassName: "gold", status: "InProgress" }
    await kinds.client.update(
      resource,
      { ...object, status: { phase: "Bound", modifyVolumeStatus } } as typeof object,
      { subresource: "status" },
    )
    expect(await used(kinds)).toEqual({ persistentvolumeclaims: "1", "requests.storage": "1Gi" })
  })
})

test("a dry run counts nothing", async () => {
  await using kinds = await withQuota({ configmaps: "1" })
  const resource = { group: "", version: "v1", resource: "configmaps", namespaced: true }
  const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "c", namespace: "default" } }
  await kinds.client.create(resource, object, { dryRun: true })
  await kinds.client.create(resource, object)
  expect(await used(kinds)).toEqual({ configmaps: "1" })
})

test("resources required by one quota are checked before the limits of another", async () => {
  await using kinds = await withQuota({ "requests.cpu": "1" })
  await limit(kinds, "a", { pods: "0" })
  expect(await verdict(kinds.create("pods", pod("p")))).toContain("failed quota: q: must specify requests.cpu for: a")
  expect(await verdict(kinds.create("pods", pod("p", "1")))).toContain("exceeded quota: a")
})

test("without pod-level resources, every container must set the limited resources", async () => {
  await using kinds = await withQuota({ "requests.cpu": "1" })
  expect(await verdict(kinds.create("pods", pod("p", undefined, { resources: {} })))).toContain("failed quota: q")
  const resources = { requests: { cpu: "1" } }
  expect(await verdict(kinds.create("pods", pod("p", undefined, { resources })))).toBe("accepted")
})

test("an update of a status is counted, and never rejected", async () => {
  await using kinds = await withQuota({ "requests.storage": "2Gi" })
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } }
  await kinds.create("persistentvolumeclaims", { metadata: { name: "c" }, spec })
  const status = { allocatedResources: { storage: "5Gi" } }
  await kinds.patch("persistentvolumeclaims", "c", { status }, { subresource: "status" })
  expect(await used(kinds)).toEqual({ "requests.storage": "5Gi" })
})

test("events and objects that are not stored are not counted", async () => {
  const review = "authorization.k8s.io/localsubjectaccessreviews"
  await using kinds = await withQuota({
    "count/events": "0",
    "count/localsubjectaccessreviews.authorization.k8s.io": "0",
  })
  const involvedObject = { kind: "Pod", name: "p", namespace: "default" }
  expect(await verdict(kinds.create("events", { metadata: { name: "e" }, involvedObject }))).toBe("accepted")
  const spec = { user: "a", resourceAttributes: { namespace: "default", verb: "get", resource: "pods" } }
  expect(await verdict(kinds.create(review, { metadata: {}, spec }))).not.toContain("exceeded quota")
})

test("devices are charged by the extended resource that their class offers", async () => {
  await using kinds = createKindsStub({ plugins: [new ResourceQuotaPlugin()] })
  const resources = "resource.k8s.io"
  const spec = { extendedResourceName: "example.com/gpu" }
  await kinds.create(`${resources}/deviceclasses`, { metadata: { name: "gold" }, spec })
  const hard = { "requests.example.com/gpu": "3", "requests.example.com/none": "0" }
  await limit(kinds, "q", hard)
  const claim = (name: string, count: number): Promise<unknown> => {
    const requests = [{ name: "r", exactly: { deviceClassName: "gold", count } }]
    return kinds.create(`${resources}/resourceclaims`, { metadata: { name }, spec: { devices: { requests } } })
  }
  await claim("a", 2)
  expect(await used(kinds)).toEqual({ "requests.example.com/gpu": "2", "requests.example.com/none": "0" })
  expect(await verdict(claim("b", 2))).toContain("exceeded quota: q, requested: requests.example.com/gpu=2")
})

// The pod may be as large as a body, and a namespace may have thousands of quotas.
test("what a pod uses is counted once for all quotas", async () => {
  const plugin = new ResourceQuotaPlugin()
  let reads = 0
  await using kinds = createKindsStub({
    plugins: [
      {
        validate(ctx, attributes) {
          const { object } = attributes
          if (object === undefined) return
          const counting = new Proxy(object, {
            get(target, name) {
              if (name === "spec") reads++
              return Reflect.get(target, name) as unknown
            },
          })
          return plugin.validate(ctx, { ...attributes, object: counting })
        },
      },
    ],
  })
  const quotas = ["a", "b", "c", "d", "e", "f"]
  for (const name of quotas) await limit(kinds, name, { "count/pods": "9", pods: "9" })
  reads = 0
  await kinds.create("pods", pod("p"))
  const many = reads
  for (const name of quotas.slice(1)) await kinds.delete("resourcequotas", name)
  reads = 0
  await kinds.create("pods", pod("q"))
  // Only whether it has what a quota requires is asked for each.
  expect(many - reads).toBe(quotas.length - 1)
})
