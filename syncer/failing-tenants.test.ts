// What a tenant's webhooks fail to let happen, and what super refuses, may fail for ever: the tenant sleeps nevertheless, and nothing is
// lost when it succeeds again.

import { describe, expect, test, vi } from "vitest"
import type { Pod } from "../apimachinery/object.ts"
import { forbidden, internalError } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { admissionResources, events, namespaces, nodes, pods, serviceAccounts, services } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { startSyncer } from "./main.ts"
import { syncerLimits } from "./options.ts"
import { createServiceAddresses } from "./service-addresses.ts"
import { SuperNamespaces } from "./super-namespaces.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { object, podOf } from "./testing/harness.ts"

const tenant = fakeTenant("acme")
const home = superNamespace(tenant.clusterKey, "default")
const minuteMs = 60_000

async function begin() {
  const clock = new FakeClock(Date.now())
  const superCluster = new FakeCluster({ isSuper: true, clock })
  const tenants = new FakeTenants()
  const cluster = tenants.add(tenant)
  await cluster.create(namespaces, object("Namespace", undefined, "default"))
  await cluster.create(serviceAccounts, object("ServiceAccount", "default", "default"))
  await cluster.create(pods, podOf("web"))
  await superCluster.create(nodes, object("Node", undefined, "node-1"))
  const syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 24 * 60 * minuteMs })
  await syncer.whenSynced()
  await eventually(() => cluster.find(nodes, undefined, "node-1"), { what: "the node" })
  await eventually(() => superCluster.find(pods, home, "web"), { what: "the copy" })
  const settled = (): Promise<unknown> => eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  await settled()
  return { clock, superCluster, tenants, cluster, syncer, settled }
}

type World = Awaited<ReturnType<typeof begin>>

interface Case {
  what: string
  /** Who does not let it happen, with that. */
  at: "cluster" | "superCluster"
  error: Error
  verb: string
  resource: string
  /** What cannot be done. */
  cause: (world: World) => unknown
  /** Whether it is done. */
  isDone: (world: World) => boolean
}

const failed = internalError('failed calling webhook "w": no such host')

const labelled: Omit<Case, "what" | "error" | "at"> = {
  verb: "patch",
  resource: "nodes",
  cause: ({ superCluster }) => superCluster.edit(nodes, undefined, "node-1", { metadata: { labels: { zone: "b" } } }),
  isDone: ({ cluster }) => cluster.find(nodes, undefined, "node-1")?.metadata.labels?.["zone"] === "b",
}

const mirrored: Omit<Case, "what" | "error" | "at"> = {
  verb: "create",
  resource: "events",
  cause: ({ superCluster }) =>
    superCluster.create(
      events,
      object("Event", home, "e", { involvedObject: { kind: "Pod", namespace: home, name: "web" } }),
    ),
  isDone: ({ cluster }) => cluster.find(events, "default", "e") !== undefined,
}

const created: Omit<Case, "what" | "error" | "at"> = {
  verb: "create",
  resource: "pods",
  cause: ({ cluster }) => cluster.create(pods, podOf("more")),
  isDone: ({ superCluster }) => superCluster.find(pods, home, "more") !== undefined,
}

function hinder(world: World, { at, verb, resource, error }: Case): { tries: number } {
  const hindered = { tries: 0 }
  world[at].fail = (asked, of) => {
    if (asked !== verb || of !== resource) return undefined
    hindered.tries++
    return error
  }
  return hindered
}

/** It falls asleep again as soon as it may, and is woken for no use, and at most every ten minutes. */
async function restsForHours({ clock, tenants, settled }: World): Promise<void> {
  const client = vi.spyOn(tenants, "client")
  const wake = vi.spyOn(tenants, "wake")
  const hours = 2
  for (let minute = 0; minute < hours * 60; minute++) {
    tenants.sleep(tenant.name)
    clock.advance(minuteMs)
    await settled()
  }
  const most = (hours * 60 * minuteMs) / syncerLimits.wakingForFailedMs + 1
  expect(wake.mock.calls.length).toBeLessThanOrEqual(most)
  expect(wake.mock.calls.length).toBeGreaterThan(most / 2)
  const uses = [...wake.mock.calls, ...client.mock.calls].map(([, use]) => use?.isUse ?? true)
  expect(new Set(uses)).toEqual(new Set([false]))
}

const cases: Case[] = [
  { what: "a webhook of a tenant fails", at: "cluster", error: failed, ...labelled },
  { what: "super refuses", at: "superCluster", error: forbidden(pods, "more", "no"), ...created },
]

describe.each(cases)("what $what", (one) => {
  test("wakes a sleeping tenant for no use, and at most every ten minutes, until it succeeds", async () => {
    const world = await begin()
    const { clock, syncer, settled } = world
    await using _ = syncer
    const hindered = hinder(world, one)
    await one.cause(world)
    await eventually(() => hindered.tries === 1 && syncer.pending === 0, { what: "the first attempt" })
    await restsForHours(world)
    expect(hindered.tries).toBeGreaterThan(6)

    world[one.at].fail = undefined
    for (let minute = 0; minute <= syncerLimits.wakingForFailedMs; minute += minuteMs) {
      clock.advance(minuteMs)
      await settled()
    }
    expect(one.isDone(world)).toBe(true)
  })

  test("is tried again at once when the tenant wakes for another reason", async () => {
    const world = await begin()
    const { tenants, syncer } = world
    await using _ = syncer
    const hindered = hinder(world, one)
    await one.cause(world)
    await eventually(() => hindered.tries === 1 && syncer.pending === 0, { what: "the first attempt" })
    tenants.sleep(tenant.name)
    world[one.at].fail = undefined
    tenants.wake(tenant.name)
    await eventually(() => one.isDone(world), { what: "it is done" })
  })
})

test("a pod that waits for room in vain wakes its tenant for no use, and at most every ten minutes", async () => {
  const world = await begin()
  const { cluster, superCluster, syncer } = world
  await using _ = syncer
  // Of lower priority, and not what is in the way.
  superCluster.edit(pods, home, "web", { spec: { nodeName: "node-1" } })
  await eventually(() => cluster.find<Pod>(pods, "default", "web")?.spec?.nodeName === "node-1", {
    what: "the binding",
  })
  await cluster.create(pods, podOf("urgent", { priority: 10 }))
  await eventually(() => superCluster.find(pods, home, "urgent"), { what: "the copy" })
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }]
  superCluster.edit(pods, home, "urgent", { status: { conditions } })
  await eventually(() => syncer.delayed > 0 && syncer.pending === 0, { what: "it has been considered" })
  await restsForHours(world)
})

test("a pod for which others cannot be evicted wakes its tenant for no use, and at most every ten minutes", async () => {
  const world = await begin()
  const { cluster, superCluster, syncer } = world
  await using _ = syncer
  const taking = (cpu: string) => ({ containers: [{ name: "main", image: "i", resources: { requests: { cpu } } }] })
  superCluster.edit(nodes, undefined, "node-1", { status: { allocatable: { cpu: "8", pods: "10" } } })
  await cluster.create(pods, podOf("small", taking("8")))
  await eventually(() => superCluster.find(pods, home, "small"), { what: "the copy" })
  superCluster.edit(pods, home, "small", { spec: { nodeName: "node-1" } })
  const bound = (): boolean => cluster.find<Pod>(pods, "default", "small")?.spec?.nodeName === "node-1"
  await eventually(bound, { what: "the binding" })
  await cluster.create(pods, podOf("urgent", { priority: 10, ...taking("8") }))
  await eventually(() => superCluster.find(pods, home, "urgent"), { what: "the copy" })
  let nominations = 0
  const patch = cluster.patch.bind(cluster)
  cluster.patch = (...call: Parameters<typeof patch>) => {
    const { status } = call[3] as Pod
    if (status?.nominatedNodeName === undefined) return patch(...call) as never
    nominations++
    return Promise.reject(failed)
  }
  const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }]
  superCluster.edit(pods, home, "urgent", { status: { conditions } })
  await eventually(() => nominations > 0 && syncer.delayed > 0 && syncer.pending === 0, { what: "it is considered" })
  const before = nominations
  await restsForHours(world)
  expect(nominations - before).toBeGreaterThan(6)
})

test("what is due at a known time is done then, also if its tenant has just been woken for what fails", async () => {
  const world = await begin()
  const { cluster, superCluster, clock, tenants, syncer, settled } = world
  await using _ = syncer
  const hindered = hinder(world, { what: "", at: "cluster", error: failed, ...labelled })
  await labelled.cause(world)
  await eventually(() => hindered.tries === 1 && syncer.pending === 0, { what: "the first attempt" })
  const wake = vi.spyOn(tenants, "wake")
  tenants.sleep(tenant.name)
  clock.advance(minuteMs)
  await eventually(() => wake.mock.calls.length === 1 && hindered.tries > 1, { what: "the waking" })
  // Of a write that has neither succeeded nor failed.
  const superNamespaces = new SuperNamespaces(() => superCluster)
  const addresses = createServiceAddresses(superCluster, tenant, { superNamespaces })
  const delayed = syncer.delayed
  await addresses.claim(object("Service", "default", "s", { spec: { ports: [{ port: 80 }] } }), undefined)
  await eventually(() => syncer.delayed > delayed && syncer.pending === 0, { what: "the copy is known" })
  tenants.sleep(tenant.name)
  clock.advance(syncerLimits.claimGraceMs)
  await settled()
  expect(cluster.all(services)).toEqual([])
  await eventually(() => superCluster.find(services, home, "s") === undefined, { what: "the copy is gone" })
})

test("an event that a webhook fails to let in does not wake its tenant, which has it when it wakes", async () => {
  const world = await begin()
  const { clock, tenants, syncer, settled } = world
  await using _ = syncer
  const one: Case = { what: "", at: "cluster", error: failed, ...mirrored }
  const hindered = hinder(world, one)
  await one.cause(world)
  await eventually(() => hindered.tries === 1 && syncer.pending === 0, { what: "the first attempt" })
  tenants.sleep(tenant.name)
  const wake = vi.spyOn(tenants, "wake")
  for (let minute = 0; minute < 60; minute++) {
    clock.advance(minuteMs)
    await settled()
  }
  expect(wake).not.toHaveBeenCalled()
  world.cluster.fail = undefined
  tenants.wake(tenant.name)
  await eventually(() => one.isDone(world), { what: "the event" })
})

describe.each(admissionResources)("when $resource change", (resource) => {
  test.each([
    ["fails", failed],
    ["refuses", forbidden(nodes, "node-1", "no")],
  ])("what a tenant %s is tried again at once", async (_what, error) => {
    const world = await begin()
    const { cluster, syncer } = world
    await using _ = syncer
    await cluster.create(resource, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "Any",
      metadata: { name: "w" },
    })
    const hindered = hinder(world, { what: "", at: "cluster", error, ...labelled })
    await labelled.cause(world)
    await eventually(() => hindered.tries === 1 && syncer.pending === 0, { what: "the first attempt" })
    // The clock does not advance.
    cluster.fail = undefined
    await cluster.delete(resource, undefined, "w")
    await eventually(() => labelled.isDone(world), { what: "the label" })
  })
})
