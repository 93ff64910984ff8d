// Tenants' network policies on their way to the super cluster, as its administrator has it.

import { afterEach, beforeEach, expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { events, namespaces, networkPolicies, pods, serviceAccounts } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { startSyncer, type Syncer } from "./main.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"

const tenant = fakeTenant("acme")
const home = superNamespace(tenant.clusterKey, "apps")
let superCluster: FakeCluster
let tenants: FakeTenants
let cluster: FakeCluster

const object = (apiVersion: string, kind: string, name: string, more: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { namespace: "apps", name },
  ...more,
})
const makePolicy = (name: string, ingress: object[] = []): Promise<KubeObject> =>
  cluster.create(
    networkPolicies,
    object("networking.k8s.io/v1", "NetworkPolicy", name, {
      spec: { podSelector: {}, policyTypes: ["Ingress"], ingress },
    }),
  )

async function start(settings: { networkPolicies?: "allow" | "deny" }): Promise<Syncer> {
  const syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000, ...settings })
  await syncer.whenSynced()
  return syncer
}

const copies = (): unknown[] => superCluster.all(networkPolicies).map(({ metadata }) => metadata.name)

beforeEach(async () => {
  superCluster = new FakeCluster({ isSuper: true })
  tenants = new FakeTenants()
  cluster = tenants.add(tenant)
  await cluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "apps" } })
  await cluster.create(serviceAccounts, object("v1", "ServiceAccount", "default", {}))
})
let syncer: Syncer | undefined
afterEach(() => syncer?.[Symbol.asyncDispose]())

test("a policy that nothing enforces is reported, and again when the tenant wakes; a patrol finds no difference", async () => {
  syncer = await start({})
  await makePolicy("web")
  const failedSync = (): KubeObject | undefined => cluster.all(events).find(({ reason }) => reason === "FailedSync")
  const event = await eventually(failedSync, { what: "an event" })
  expect(event).toMatchObject({ type: "Warning", involvedObject: { kind: "NetworkPolicy", name: "web" } })
  expect(event["message"]).toMatch(/nothing enforces this one/)
  await eventually(() => syncer?.pending === 0, { what: "the queue is empty" })
  expect([copies(), syncer.delayed]).toEqual([[], 0])
  expect((await syncer.patrol()).enqueued).toEqual(new Map())
  expect(syncer.pending).toBe(0)
  tenants.sleep(tenant.name)
  tenants.wake(tenant.name)
  await eventually(() => failedSync()?.["count"] === 2, { what: "the event is repeated" })
})

test("policies that restrict a pod are copied before the pod", async () => {
  syncer = await start({ networkPolicies: "allow" })
  const order: string[] = []
  superCluster.onChange(({ type, resource, object: { metadata } }) => {
    if (type === "ADDED" && metadata.namespace === home) order.push(`${resource} ${metadata.name}`)
  })
  await cluster.create(pods, object("v1", "Pod", "web", { spec: { containers: [{ name: "main" }] } }))
  await makePolicy("one")
  await makePolicy("two")
  await eventually(() => order.includes("pods web"), { what: "the pod in super" })
  expect(order.slice(0, order.indexOf("pods web"))).toEqual(
    expect.arrayContaining(["networkpolicies one", "networkpolicies two"]),
  )
})

test("changes and deletions of a policy are copied, and copies are removed when policies are no longer allowed", async () => {
  syncer = await start({ networkPolicies: "allow" })
  await makePolicy("web")
  await makePolicy("other")
  await eventually(() => copies().length === 2, { what: "both are in super" })
  cluster.edit(networkPolicies, "apps", "web", { spec: { ingress: [{ from: [{ namespaceSelector: {} }] }] } })
  const there = (): string => JSON.stringify(superCluster.find(networkPolicies, home, "web")?.["spec"])
  await eventually(() => there().includes(tenant.clusterKey), { what: "the change" })
  await cluster.delete(networkPolicies, "apps", "other")
  await eventually(() => copies().length === 1, { what: "one is gone" })
  await eventually(() => syncer?.pending === 0, { what: "the queue is empty" })
  expect((await syncer.patrol()).enqueued).toEqual(new Map())

  await syncer[Symbol.asyncDispose]()
  syncer = await start({ networkPolicies: "deny" })
  await eventually(() => copies().length === 0, { what: "the other one is gone" })
})

test("the super cluster's own policy is kept", async () => {
  await superCluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: home } })
  superCluster.edit(namespaces, undefined, home, {
    metadata: { annotations: { "tenancy.x-k8s.io/cluster": tenant.clusterKey, "tenancy.x-k8s.io/namespace": "apps" } },
  })
  const own = object("networking.k8s.io/v1", "NetworkPolicy", "web", {
    spec: { podSelector: { matchLabels: { a: "b" } } },
  })
  await superCluster.create(networkPolicies, { ...own, metadata: { namespace: home, name: "web" } })
  syncer = await start({ networkPolicies: "allow" })
  await makePolicy("web", [{}])
  const failedSync = (): KubeObject | undefined => cluster.all(events).find(({ reason }) => reason === "FailedSync")
  const event = await eventually(failedSync, { what: "an event" })
  expect(event["message"]).toMatch(/the super cluster has one of its own/)
  expect(superCluster.find(networkPolicies, home, "web")?.["spec"]).toEqual(own["spec"])
})
