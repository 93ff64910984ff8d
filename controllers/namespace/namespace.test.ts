import { describe, expect, test } from "vitest"
import type { KubeObject, Namespace, Pod } from "../../apimachinery/object.ts"
import { noSuchPath } from "../../apimachinery/status.ts"
import { configMaps, namespaces, pods, secrets, serviceAccounts } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { widgets } from "../testing/widgets.ts"

const object = (apiVersion: string, kind: string, name: string, finalizers?: string[]): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: "team", ...(finalizers === undefined ? {} : { finalizers }) },
})

async function createTeam(harness: Harness): Promise<void> {
  await harness.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } })
}

const find = (harness: Harness): Namespace | undefined => harness.cluster.find<Namespace>(namespaces, undefined, "team")

describe("a deleted namespace", () => {
  test("is emptied, including custom resources, and removed", async () => {
    await using harness = await startHarness({ only: ["namespace"] })
    harness.cluster.extra.push(widgets)
    await createTeam(harness)
    await harness.create(configMaps, object("v1", "ConfigMap", "a"))
    await harness.create(secrets, object("v1", "Secret", "b"))
    await harness.create(widgets, object("example.com/v1", "Widget", "c"))
    await harness.create(configMaps, {
      ...object("v1", "ConfigMap", "other"),
      metadata: { name: "other", namespace: "default" },
    })
    await harness.cluster.delete(namespaces, undefined, "team")
    await eventually(() => expect(find(harness)).toBeUndefined())
    expect(harness.cluster.all(widgets)).toEqual([])
    expect(harness.cluster.all(secrets)).toEqual([])
    expect(harness.cluster.all(configMaps).map(({ metadata }) => metadata.name)).toEqual(["other"])
  })

  test("is emptied one by one of what its server does not delete together", async () => {
    await using harness = await startHarness({ only: ["namespace"] })
    const { cluster } = harness
    cluster.extra.push(widgets)
    const together = cluster.deleteCollection.bind(cluster)
    cluster.deleteCollection = (resource, ...rest) =>
      resource.resource === "widgets" ? Promise.reject(noSuchPath()) : together(resource, ...rest)
    await createTeam(harness)
    for (const name of ["a", "b"]) await harness.create(widgets, object("example.com/v1", "Widget", name))
    await cluster.delete(namespaces, undefined, "team")
    await eventually(() => expect(find(harness)).toBeUndefined())
    expect(cluster.all(widgets)).toEqual([])
  })

  test("is emptied while other finalizers remain", async () => {
    await using harness = await startHarness({ only: ["namespace"] })
    await createTeam(harness)
    await harness.create(configMaps, object("v1", "ConfigMap", "a"))
    await harness.cluster.update(
      namespaces,
      { ...find(harness)!, spec: { finalizers: ["example.com/b", "example.com/a"] } },
      { subresource: "finalize" },
    )
    await harness.cluster.delete(namespaces, undefined, "team")
    await eventually(() => expect(harness.cluster.all(configMaps)).toEqual([]))
    expect(find(harness)!.spec!.finalizers).toHaveLength(2)
  })

  const conditions = (harness: Harness): Record<string, unknown> =>
    Object.fromEntries((find(harness)?.status?.conditions ?? []).map((item) => [item.type, item]))

  test("waits for its pods before other objects are deleted, and does not count them", async () => {
    await using harness = await startHarness({ only: ["namespace"] })
    await createTeam(harness)
    await harness.create(pods, object("v1", "Pod", "p", ["test/hold"]))
    await harness.create(configMaps, object("v1", "ConfigMap", "a"))
    await harness.cluster.delete(namespaces, undefined, "team")
    await eventually(() =>
      expect(conditions(harness)).toMatchObject({
        NamespaceDeletionDiscoveryFailure: { status: "False", reason: "ResourcesDiscovered" },
        NamespaceDeletionGroupVersionParsingFailure: { status: "False", reason: "ParsedGroupVersions" },
        NamespaceDeletionContentFailure: { status: "False", reason: "ContentDeleted" },
        NamespaceContentRemaining: { status: "False", reason: "ContentRemoved" },
        NamespaceFinalizersRemaining: { status: "False", reason: "ContentHasNoFinalizers" },
      }),
    )
    expect(harness.cluster.find(configMaps, "team", "a")).toBeDefined()
    await harness.change<Pod>(pods, "team", "p", { metadata: { finalizers: null } })
    await eventually(() => expect(find(harness)).toBeUndefined())
  })

  test("is emptied of available resources and waits for unavailable APIs", async () => {
    await using harness = await startHarness({ only: ["namespace"] })
    harness.cluster.unavailableAPIs = ["b.example.com/v1", "a.example.com/v1"]
    await createTeam(harness)
    await harness.create(configMaps, object("v1", "ConfigMap", "a"))
    await harness.cluster.delete(namespaces, undefined, "team")
    const each = ["a", "b"].map(
      (name) => `${name}.example.com/v1: stale GroupVersion discovery: ${name}.example.com/v1`,
    )
    const list = `unable to retrieve the complete list of server APIs: ${each.join(", ")}`
    const message = `Discovery failed for some groups, 2 failing: ${list}`
    await eventually(() =>
      expect(conditions(harness)).toMatchObject({
        NamespaceDeletionDiscoveryFailure: { status: "True", reason: "DiscoveryFailed", message },
        NamespaceContentRemaining: { status: "False", reason: "ContentRemoved" },
      }),
    )
    expect(harness.cluster.all(configMaps)).toEqual([])
    harness.cluster.unavailableAPIs = []
    await eventually(() => expect(find(harness)).toBeUndefined())
  })

  test("reports what it waits for", async () => {
    await using harness = await startHarness({ only: ["namespace"] })
    await createTeam(harness)
    await harness.create(configMaps, object("v1", "ConfigMap", "a", ["test/hold"]))
    await harness.cluster.delete(namespaces, undefined, "team")
    await eventually(() =>
      expect(conditions(harness)).toMatchObject({
        NamespaceDeletionContentFailure: { status: "False", reason: "ContentDeleted" },
        NamespaceContentRemaining: {
          status: "True",
          reason: "SomeResourcesRemain",
          message: "Some resources are remaining: configmaps. has 1 resource instances",
        },
        NamespaceFinalizersRemaining: {
          status: "True",
          reason: "SomeFinalizersRemain",
          message: "Some content in the namespace has finalizers remaining: test/hold in 1 resource instances",
        },
      }),
    )
    await harness.change(configMaps, "team", "a", { metadata: { finalizers: null } })
    await eventually(() => expect(find(harness)).toBeUndefined())
  })
})

describe("a new namespace", () => {
  const only = ["serviceaccount", "root-ca-certificate-publisher"]

  test("gets its default service account and root certificates, also after they are deleted", async () => {
    await using harness = await startHarness({ only })
    await createTeam(harness)
    await eventually(() => {
      expect(harness.cluster.find(serviceAccounts, "team", "default")).toBeDefined()
      expect(harness.cluster.find(configMaps, "team", "kube-root-ca.crt")).toMatchObject({
        data: { "ca.crt": "-----BEGIN CERTIFICATE-----\n" },
      })
    })
    await harness.cluster.delete(serviceAccounts, "team", "default")
    await harness.cluster.delete(configMaps, "team", "kube-root-ca.crt")
    await eventually(() => {
      expect(harness.cluster.find(serviceAccounts, "team", "default")).toBeDefined()
      expect(harness.cluster.find(configMaps, "team", "kube-root-ca.crt")).toBeDefined()
    })
  })

  test.each([{ data: { "ca.crt": "forged" } }, { metadata: { annotations: { "kubernetes.io/description": "" } } }])(
    "has its root certificates restored after %j, and not written without a difference",
    async (forged) => {
      await using harness = await startHarness({ only })
      const find = (): KubeObject | undefined => harness.cluster.find(configMaps, "default", "kube-root-ca.crt")
      await eventually(() => expect(find()).toBeDefined())
      await harness.change(configMaps, "default", "kube-root-ca.crt", forged)
      await eventually(() => {
        expect(find()).toMatchObject({
          metadata: { annotations: { "kubernetes.io/description": expect.stringContaining("CA bundle") } },
          data: { "ca.crt": "-----BEGIN CERTIFICATE-----\n" },
        })
      })
      expect(harness.cluster.calls.get("update configmaps")).toBe(1)
    },
  )
})
