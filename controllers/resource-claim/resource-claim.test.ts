import { describe, expect, test, vi } from "vitest"
import type { KubeObject, Pod, ResourceClaim } from "../../apimachinery/object.ts"
import { conflict } from "../../apimachinery/status.ts"
import { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { events, pods, resourceClaims, resourceClaimTemplates } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { LateCluster } from "../testing/late-cluster.ts"
import { generatedPrefix } from "./pod-claims.ts"

const only = ["resource-claim"]
const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu", count: 1 } }] }
const template = {
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaimTemplate",
  metadata: { name: "gpus", namespace: "default" },
  spec: { metadata: { labels: { a: "b" } }, spec: { devices } },
} as KubeObject
const pod = (name: string, claim: object, spec: object = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { containers: [], resourceClaims: [{ name: "gpu", ...claim }], ...spec },
  }) as KubeObject
const ofTemplate = { resourceClaimTemplateName: "gpus" }

const claims = (harness: Harness): ResourceClaim[] => harness.cluster.all(resourceClaims)
const findPod = (harness: Harness, name: string): Pod | undefined => harness.cluster.find(pods, "default", name)

async function forgetClaims(harness: Harness, name: string): Promise<void> {
  const { status, ...rest } = findPod(harness, name)!
  const { resourceClaimStatuses: _, ...emptied } = status!
  await harness.cluster.update<Pod>(pods, { ...rest, status: emptied }, { subresource: "status" })
}

async function allocate(harness: Harness, claim: ResourceClaim, reservedFor: object[]): Promise<void> {
  const finalizers = ["resource.kubernetes.io/delete-protection"]
  const protectedClaim = { ...claim, metadata: { ...claim.metadata, finalizers } }
  const current = await harness.cluster.update<ResourceClaim>(resourceClaims, protectedClaim)
  const status = { allocation: { devices: { results: [] } }, reservedFor } as unknown as ResourceClaim["status"]
  await harness.cluster.update(resourceClaims, { ...current, status } as ResourceClaim, { subresource: "status" })
}

describe("a claim of a template", () => {
  test("that is taken from its pod is not replaced", async () => {
    await using harness = await startHarness({ only })
    await harness.create(resourceClaimTemplates, template)
    await harness.create(pods, pod("web", ofTemplate))
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1))
    const { name = "" } = claims(harness)[0]!.metadata
    await harness.change(resourceClaims, "default", name, { metadata: { ownerReferences: null } })
    await harness.create(pods, pod("later", ofTemplate))
    await eventually(() => expect(findPod(harness, "later")!.status?.resourceClaimStatuses).toHaveLength(1))
    expect(claims(harness)).toHaveLength(2)
  })

  test("that is taken from its pod and from its status is named again", async () => {
    await using harness = await startHarness({ only })
    await harness.create(resourceClaimTemplates, template)
    await harness.create(pods, pod("web", ofTemplate))
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1))
    const named = findPod(harness, "web")!.status?.resourceClaimStatuses
    const { name = "" } = claims(harness)[0]!.metadata
    await harness.change(resourceClaims, "default", name, { metadata: { ownerReferences: null } })
    await forgetClaims(harness, "web")
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toEqual(named))
    expect(claims(harness)).toHaveLength(1)
  })

  test("is created for the pod, named in its status, and recreated when it is deleted", async () => {
    await using harness = await startHarness({ only })
    await harness.create(resourceClaimTemplates, template)
    const { metadata } = await harness.create<Pod>(pods, pod("web", ofTemplate))
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1))
    const [claim] = claims(harness)
    expect(claim).toMatchObject({
      metadata: {
        labels: { a: "b" },
        annotations: { "resource.kubernetes.io/pod-claim-name": "gpu" },
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "web", uid: metadata.uid, controller: true }],
      },
      spec: { devices },
    })
    const { name = "" } = claim!.metadata
    expect(name).toMatch(/^web-gpu-/)
    expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toEqual([{ name: "gpu", resourceClaimName: name }])
    await harness.cluster.delete(resourceClaims, "default", name)
    await eventually(() => {
      expect(claims(harness)).toHaveLength(1)
      const [status] = findPod(harness, "web")!.status?.resourceClaimStatuses ?? []
      expect(status?.resourceClaimName).toBe(claims(harness)[0]!.metadata.name)
      expect(status?.resourceClaimName).not.toBe(name)
    })
  })

  test("is created once, although the status was not written and the cache does not show it", async () => {
    const clock = new FakeClock()
    const cluster = new LateCluster(resourceClaims, { clock })
    cluster.hold()
    await using harness = await startHarness({ only, clock, cluster })
    await harness.create(resourceClaimTemplates, template)
    cluster.fail = (verb, resource) =>
      verb === "patch" && resource === "pods" ? conflict(pods, "web", "modified") : undefined
    await harness.create(pods, pod("web", ofTemplate))
    const attempts = (): number => cluster.calls.get("patch pods") ?? 0
    await eventually(() => expect(attempts()).toBe(1))
    clock.advance(10)
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(claims(harness)).toHaveLength(1)
    cluster.fail = undefined
    cluster.release()
    await eventually(() => {
      clock.advance(100)
      expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1)
    })
    expect(claims(harness)).toHaveLength(1)
  })

  test("is looked for once with all others of its pod", async () => {
    using byIndex = vi.spyOn(TenantInformer.prototype, "byIndex")
    const cluster = new FakeCluster({})
    let refused = 0
    cluster.fail = (verb, resource) =>
      verb === "patch" && resource === "pods" && refused++ === 0 ? conflict(pods, "web", "modified") : undefined
    await using harness = await startHarness({ only, cluster })
    await harness.create(resourceClaimTemplates, template)
    const resourceClaims = Array.from({ length: 100 }, (_, n) => ({ name: `c${n}`, ...ofTemplate }))
    await harness.create(pods, pod("web", {}, { resourceClaims }))
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(100))
    expect(claims(harness)).toHaveLength(100)
    expect(byIndex.mock.calls.filter(([, index]) => index === "controller").length).toBeLessThan(100)
  })

  test("waits for its template and records an event, and no other pod is looked at", async () => {
    using list = vi.spyOn(TenantInformer.prototype, "list")
    await using harness = await startHarness({ only })
    await harness.create(pods, pod("web", ofTemplate))
    await eventually(() => {
      expect(harness.cluster.all(events)).toMatchObject([
        {
          reason: "FailedResourceClaimCreation",
          message:
            'PodResourceClaim gpu: resource claim template "gpus": resourceclaimtemplate.resource.k8s.io "gpus" not found',
        },
      ])
    })
    await harness.create(resourceClaimTemplates, template)
    await eventually(() => expect(claims(harness)).toHaveLength(1))
    expect(list.mock.calls.filter(([, namespace]) => namespace !== undefined)).toEqual([])
  })

  test("is deleted when the pod has finished, also if the pod names another that was made after an answer was lost", async () => {
    await using harness = await startHarness({ only })
    await harness.create(resourceClaimTemplates, template)
    const { metadata } = await harness.create<Pod>(pods, pod("web", ofTemplate))
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1))
    const [named] = claims(harness)
    await harness.create(resourceClaims, { ...named!, metadata: { ...named!.metadata, name: "unnamed", uid: "other" } })
    expect(named!.metadata.ownerReferences![0]!.uid).toBe(metadata.uid)
    await harness.setPod(findPod(harness, "web")!, "Succeeded", false)
    await eventually(() => expect(claims(harness)).toEqual([]))
  })

  test("is released and deleted when the pod has finished", async () => {
    await using harness = await startHarness({ only })
    await harness.create(resourceClaimTemplates, template)
    const created = await harness.create<Pod>(pods, pod("web", ofTemplate))
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1))
    const { name = "", uid } = created.metadata
    await allocate(harness, claims(harness)[0]!, [{ resource: "pods", name, uid }])
    await harness.setPod(findPod(harness, "web")!, "Succeeded", false)
    await eventually(() => expect(claims(harness)).toEqual([]))
  })
})

describe("a pod that has finished", () => {
  test("gets the name of a claim again that a user took from its status, and no claim stays", async () => {
    await using harness = await startHarness({ only })
    await harness.create(resourceClaimTemplates, template)
    await harness.create(pods, pod("web", ofTemplate))
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1))
    await harness.setPod(findPod(harness, "web")!, "Succeeded", false)
    await eventually(() => expect(claims(harness)).toEqual([]))
    const named = findPod(harness, "web")!.status?.resourceClaimStatuses
    await harness.cluster.delete(resourceClaimTemplates, "default", "gpus")
    await forgetClaims(harness, "web")
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toEqual(named))
    expect(claims(harness)).toEqual([])
  })

  test("before there was a template gets its claim, which does not stay", async () => {
    await using harness = await startHarness({ only })
    const created = await harness.create<Pod>(pods, pod("web", ofTemplate))
    await harness.setPod(created, "Succeeded", false)
    await harness.create(resourceClaimTemplates, template)
    await eventually(() => expect(findPod(harness, "web")!.status?.resourceClaimStatuses).toHaveLength(1))
    await eventually(() => expect(claims(harness)).toEqual([]))
  })
})

describe("a claim of a user", () => {
  const claim = {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "shared", namespace: "default" },
    spec: { devices },
  } as KubeObject

  test("is reserved for a pod with a node, and deallocated with the last one", async () => {
    await using harness = await startHarness({ only })
    await allocate(harness, await harness.create(resourceClaims, claim), [])
    const named = { resourceClaimName: "shared" }
    await harness.create(pods, pod("a", named, { nodeName: "n" }))
    await harness.create(pods, pod("b", named, { nodeName: "n" }))
    const reserved = (): unknown =>
      claims(harness)[0]!
        .status?.reservedFor?.map(({ name }) => name)
        .sort()
    await eventually(() => expect(reserved()).toEqual(["a", "b"]))
    await harness.cluster.delete(pods, "default", "a")
    await eventually(() => expect(reserved()).toEqual(["b"]))
    expect(claims(harness)[0]!.status?.allocation).toBeDefined()
    await harness.cluster.delete(pods, "default", "b")
    await eventually(() => {
      expect(claims(harness)[0]!.status?.allocation).toBeUndefined()
      expect(claims(harness)[0]!.metadata.finalizers ?? []).toEqual([])
    })
  })

  test("concerns the pods that use it, without a look at all others", async () => {
    using list = vi.spyOn(TenantInformer.prototype, "list")
    await using harness = await startHarness({ only })
    await harness.create(pods, pod("a", { resourceClaimName: "shared" }, { nodeName: "n" }))
    await allocate(harness, await harness.create(resourceClaims, claim), [])
    await eventually(() => expect(claims(harness)[0]!.status?.reservedFor).toHaveLength(1))
    expect(list.mock.calls.filter(([, namespace]) => namespace !== undefined)).toEqual([])
  })

  test("keeps consumers that are not pods", async () => {
    await using harness = await startHarness({ only })
    const other = { apiGroup: "x.example", resource: "things", name: "t", uid: "1" }
    const gone = { resource: "pods", name: "gone", uid: "2" }
    await allocate(harness, await harness.create(resourceClaims, claim), [other, gone])
    await eventually(() => expect(claims(harness)[0]!.status?.reservedFor).toEqual([other]))
  })
})

test("the name of a claim leaves room for the generated suffix", () => {
  expect(generatedPrefix("web", "gpu")).toBe("web-gpu-")
  const long = generatedPrefix("p".repeat(63), "c".repeat(63))
  expect(long).toMatch(/^p+-c+$/)
  expect(long.length).toBeLessThanOrEqual(58)
})
