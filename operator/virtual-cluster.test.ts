import { beforeEach, expect, test } from "vitest"
import { adoptAnnotation } from "../apimachinery/tenancy.ts"
import { systemClock } from "../client/clock.ts"
import { EventRecorder } from "../client/events.ts"
import { clusterVersions, namespaces, virtualClusters } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { FakeTenants } from "../syncer/testing/fake-tenants.ts"
import { Reports } from "./reports.ts"
import type { VirtualCluster } from "./types.ts"
import { VirtualClusterReconciler } from "./virtual-cluster.ts"

let superCluster: FakeCluster
let isVersionKnown: boolean
let reconciler: VirtualClusterReconciler

const current = (): VirtualCluster => superCluster.find<VirtualCluster>(virtualClusters, "default", "acme")!

/** Counts the reads from the super cluster during the work. */
async function reads(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const get = superCluster.get.bind(superCluster)
  superCluster.get = (...request: Parameters<typeof get>) => {
    count++
    return get(...request) as never
  }
  await work()
  superCluster.get = get
  return count
}

beforeEach(async () => {
  isVersionKnown = true
  superCluster = new FakeCluster({ isSuper: true })
  const tenants = Object.assign(new FakeTenants(), {
    create: (request: object) => Promise.resolve({ ...request, uid: "u" }),
    delete: () => Promise.resolve(),
    kubeconfig: () => Promise.resolve("clusters: []"),
    address: () => Promise.resolve({ server: "https://one", certificateAuthority: "ca" }),
  })
  const events = new EventRecorder({ component: "test" })
  reconciler = new VirtualClusterReconciler({
    superClient: superCluster,
    tenants: tenants as never,
    events,
    clock: systemClock,
    hasVersion: () => isVersionKnown,
  })
  const base = { apiVersion: "tenancy.x-k8s.io/v1alpha1" }
  await superCluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } })
  await superCluster.create(clusterVersions, { ...base, kind: "ClusterVersion", metadata: { name: "default" } })
  await superCluster.create<VirtualCluster>(virtualClusters, {
    ...base,
    kind: "VirtualCluster",
    metadata: { name: "acme", namespace: "default" },
    spec: { clusterVersionName: "default" },
  })
  await reconciler.reconcile(current())
  await events.drained()
  expect(current().status?.phase).toBe("Running")
})

test("the event of its own status update is skipped once", async () => {
  expect(await reads(() => reconciler.reconcile(current()))).toBe(0)
  expect(await reads(() => reconciler.reconcile(current()))).toBeGreaterThan(0)
})

test("a later change is reconciled", async () => {
  superCluster.edit(virtualClusters, "default", "acme", { metadata: { labels: { a: "b" } } })
  expect(await reads(() => reconciler.reconcile(current()))).toBeGreaterThan(0)
})

test.each(["its own", "an adopted"])(
  "another reason is not taken for the report that %s tenant runs",
  async (whose) => {
    superCluster.edit(virtualClusters, "default", "acme", {
      metadata: { annotations: { [adoptAnnotation]: "earlier" } },
    })
    const events = new EventRecorder({ component: "test" })
    const reports = new Reports({ superClient: superCluster, events, clock: systemClock })
    const report = (message: string): Promise<void> =>
      reports.report(current(), { phase: "Running", reason: "Runs", message })
    await report("first")
    expect(reports.isOwnChange(current())).toBe(true)
    await report("second")
    const uid = whose === "its own" ? current().metadata.uid! : "earlier"
    reports.demand({ namespace: "default", name: "acme", uid })
    expect(reports.isOwnChange(current())).toBe(false)
    await events.drained()
  },
)

test("the ClusterVersion is read only if it is not known yet", async () => {
  await reconciler.reconcile(current())
  const known = await reads(() => reconciler.reconcile(current()))
  isVersionKnown = false
  expect(await reads(() => reconciler.reconcile(current()))).toBe(known + 1)
})
