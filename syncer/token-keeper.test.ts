import { describe, expect, test, vi } from "vitest"
import type { KubeObject, Pod, Secret } from "../apimachinery/object.ts"
import { alreadyExists, forbidden, internalError } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { events, namespaces, pods, secrets, serviceAccounts } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { startSyncer } from "./main.ts"
import { syncerLimits } from "./options.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"

const lifeSeconds = 3600
const object = (kind: string, more: Partial<KubeObject> & Pick<KubeObject, "metadata">): KubeObject => ({
  apiVersion: "v1",
  kind,
  ...more,
})
const pod = object("Pod", {
  metadata: { namespace: "default", name: "web" },
  spec: {
    serviceAccountName: "default",
    containers: [{ name: "main", image: "nginx:1" }],
    volumes: [
      {
        name: "token",
        projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: lifeSeconds } }] },
      },
    ],
  },
})

interface Clusters {
  superCluster: FakeCluster
  tenants: FakeTenants
  cluster: FakeCluster
  /** The default namespace in super. */
  home: string
}

async function createClusters(): Promise<Clusters> {
  const superCluster = new FakeCluster({ isSuper: true })
  const tenants = new FakeTenants()
  const tenant = fakeTenant("acme")
  const cluster = tenants.add(tenant)
  await cluster.create(namespaces, object("Namespace", { metadata: { name: "default" } }))
  await cluster.create(
    serviceAccounts,
    object("ServiceAccount", { metadata: { namespace: "default", name: "default" } }),
  )
  return { superCluster, tenants, cluster, home: superNamespace(tenant.clusterKey, "default") }
}

async function withPod(clock: FakeClock): Promise<Clusters> {
  const clusters = await createClusters()
  const { superCluster, tenants, cluster, home } = clusters
  await using syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
  await syncer.whenSynced()
  await cluster.create(pods, pod)
  await eventually(() => superCluster.find<Pod>(pods, home, "web"), { what: "the pod in super" })
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  return clusters
}

const tokenSecrets = (cluster: FakeCluster): Secret[] =>
  cluster.all<Secret>(secrets).filter(({ metadata }) => metadata.name?.startsWith("pod-token-"))

test("a patrol recreates only the tokens that were removed", async () => {
  const clock = new FakeClock(Date.now())
  const { superCluster, tenants, home } = await withPod(clock)
  await using syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
  await syncer.whenSynced()
  await eventually(() => syncer.delayed > 0 && syncer.pending === 0, { what: "the renewal is scheduled" })
  const [secret] = tokenSecrets(superCluster)
  expect((await syncer.patrol()).enqueued).toEqual(new Map())

  // What was scheduled at the start, before anything was done for that pod.
  clock.advance(lifeSeconds * 1000 * (syncerLimits.tokenRefreshShare + 0.05))
  const isRenewed = (): boolean => tokenSecrets(superCluster)[0]?.data?.["token-0-0"] !== secret?.data?.["token-0-0"]
  await eventually(isRenewed, { what: "another token" })
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  expect((await syncer.patrol()).enqueued).toEqual(new Map())

  await syncer[Symbol.asyncDispose]()
  superCluster.remove(secrets, home, secret?.metadata.name ?? "")
  await using second = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
  await second.whenSynced()
  await eventually(() => tokenSecrets(superCluster).length === 1, { what: "the Secret is there again" })
})

test("a pod's token is renewed after four fifths of its lifetime, and not before", async () => {
  const clock = new FakeClock(Date.now())
  const { superCluster, tenants, cluster, home } = await createClusters()
  await using syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
  await syncer.whenSynced()

  await cluster.create(pods, pod)
  const superPod = await eventually(() => superCluster.find<Pod>(pods, home, "web"), { what: "the pod in super" })
  const name = superPod.spec?.volumes?.[0]?.projected?.sources?.[0]?.secret?.name ?? ""
  const token = (): string | undefined => superCluster.find<Secret>(secrets, home, name)?.data?.["token-0-0"]
  const first = token()
  expect(first).toBeDefined()

  const share = syncerLimits.tokenRefreshShare
  clock.advance(lifeSeconds * 1000 * (share - 0.05))
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  expect(token()).toBe(first)
  clock.advance(lifeSeconds * 1000 * 0.1)
  await eventually(() => token() !== first, { what: "another token" })
  expect(share).toBe(0.8)
})

test.each([
  ["as soon as that is gone", ["example.com/hold"]],
  ["at once", []],
])(
  "tokens whose Secret somebody in super has made immutable are renewed %s, as the tenant is told",
  async (_what, finalizers) => {
    const clock = new FakeClock(Date.now())
    const { superCluster, tenants, cluster, home } = await createClusters()
    await using syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
    await syncer.whenSynced()
    await cluster.create(pods, pod)
    await eventually(() => superCluster.find<Pod>(pods, home, "web"), { what: "the pod in super" })
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
    const [secret] = tokenSecrets(superCluster)
    superCluster.edit(secrets, home, secret?.metadata.name ?? "", { immutable: true, metadata: { finalizers } })
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
    expect(tokenSecrets(superCluster)[0]?.data).toEqual(secret?.data)
    clock.advance(lifeSeconds * 1000 * (syncerLimits.tokenRefreshShare + 0.05))
    const token = (): string | undefined => tokenSecrets(superCluster)[0]?.data?.["token-0-0"]
    if (finalizers.length > 0) {
      const issued = (): number => cluster.calls.get("create token of serviceaccounts") ?? 0
      const isEnding = (): boolean => tokenSecrets(superCluster)[0]?.metadata.deletionTimestamp !== undefined
      await eventually(() => isEnding() && syncer.pending === 0, { what: "the Secret ends" })
      for (let minute = 0; minute < 3; minute++) {
        clock.advance(syncerLimits.tokenRefreshMinMs + 1000)
        await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
      }
      expect(issued()).toBe(2)
      superCluster.remove(secrets, home, secret?.metadata.name ?? "")
      clock.advance(syncerLimits.tokenRefreshMinMs + 1000)
    }
    await eventually(() => token() !== undefined && token() !== secret?.data?.["token-0-0"], {
      what: "another token",
      timeoutMs: 5000,
    })
    const told = (): unknown[] => cluster.all<KubeObject & { message?: string }>(events).map(({ message }) => message)
    await eventually(() => told().join().includes("fixed the service account tokens of this pod"), { what: "an event" })
  },
)

test("tokens that have expired when they are issued, because the clocks differ, are renewed once a minute", async () => {
  const clock = new FakeClock(Date.now() + 2 * lifeSeconds * 1000)
  const { superCluster, tenants, cluster, home } = await createClusters()
  await using syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
  await syncer.whenSynced()
  await cluster.create(pods, pod)
  await eventually(() => superCluster.find<Pod>(pods, home, "web"), { what: "the pod in super" })
  const issued = (): number => cluster.calls.get("create token of serviceaccounts") ?? 0
  for (let minute = 1; minute <= 3; minute++) {
    await eventually(() => issued() === minute && syncer.pending === 0, { what: "a token" })
    await syncer.patrol()
    expect(issued()).toBe(minute)
    clock.advance(syncerLimits.tokenRefreshMinMs + 1000)
  }
})

describe("a token whose tenant sleeps", () => {
  const minuteMs = 60_000
  /** It is due when its tenant has slept for a while. */
  async function beforeDue(more: readonly string[] = []) {
    const clock = new FakeClock(Date.now())
    const clusters = await withPod(clock)
    const { superCluster, tenants, cluster } = clusters
    const syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
    await syncer.whenSynced()
    /** As a gateway does: a tenant that is being compared does not fall asleep. */
    const sleep = async (): Promise<void> => {
      await eventually(() => !tenants.isBusy("acme"), { what: "nothing is done for the tenant" })
      tenants.sleep("acme")
    }
    for (const name of more) await cluster.create(pods, { ...pod, metadata: { ...pod.metadata, name } })
    const scheduled = (): boolean => tokenSecrets(superCluster).length > more.length && syncer.delayed > more.length
    await eventually(() => scheduled() && syncer.pending === 0, { what: "the renewals are scheduled" })
    const token = (): string | undefined => tokenSecrets(superCluster)[0]?.data?.["token-0-0"]
    const wake = vi.spyOn(tenants, "wake")
    const hindered = { attempts: 0 }
    const hinder = (error: Error): void => {
      cluster.fail = (verb, resource) => {
        if (verb !== "create" || resource !== "serviceaccounts") return undefined
        hindered.attempts++
        return error
      }
    }
    const pass = async (ms: number): Promise<void> => {
      clock.advance(ms)
      await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
    }
    const sleepFor = async (minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute++) {
        await sleep()
        await pass(minuteMs)
      }
    }
    await sleep()
    await pass(lifeSeconds * 1000 * syncerLimits.tokenRefreshShare - 1000)
    return { ...clusters, clock, syncer, token, wake, hindered, hinder, pass, sleepFor }
  }

  test.each([
    ["fails to renew it", internalError('failed calling webhook "w": no such host')],
    ["refuses to renew it", forbidden(serviceAccounts, "default", "no")],
  ])("that %s is renewed before it expires, once that is possible", async (_what, error) => {
    const world = await beforeDue()
    const { cluster, syncer, token, wake, hindered, hinder, sleepFor } = world
    await using _ = syncer
    const first = token()
    hinder(error)
    await sleepFor(8)
    expect(hindered.attempts).toBeGreaterThan(3)
    expect(wake.mock.calls.length).toBeLessThan(8)
    expect(token()).toBe(first)
    cluster.fail = undefined
    await sleepFor(3)
    expect(token()).not.toBe(first)
  })

  test("that it never renews wakes it rarely after the token has expired", async () => {
    const { syncer, wake, hinder, sleepFor } = await beforeDue()
    await using _ = syncer
    hinder(forbidden(serviceAccounts, "default", "no"))
    const leftMinutes = (lifeSeconds / 60) * (1 - syncerLimits.tokenRefreshShare)
    await sleepFor(leftMinutes + 1)
    expect(wake.mock.calls.length).toBeLessThanOrEqual(leftMinutes + 1)
    wake.mockClear()
    await sleepFor(100)
    expect(wake.mock.calls.length).toBeLessThanOrEqual((100 * minuteMs) / syncerLimits.wakingForFailedMs)
    expect(wake.mock.calls.length).toBeGreaterThan(5)
  })

  test("is renewed also if it cannot be woken at first", async () => {
    const { syncer, token, wake, pass } = await beforeDue()
    await using _ = syncer
    const first = token()
    wake.mockImplementationOnce(() => undefined)
    await pass(2000)
    expect([token(), wake.mock.calls.length]).toEqual([first, 1])
    await pass(syncerLimits.wakingRetryMs.longest)
    await eventually(() => token() !== first, { what: "another token" })
  })

  test("is asked to wake once for all of its tokens while it cannot be woken", async () => {
    const { syncer, wake, pass } = await beforeDue(["b", "c", "d"])
    await using _ = syncer
    wake.mockImplementation(() => undefined)
    await pass(2000)
    for (let turn = 0; turn < 10; turn++) await pass(syncerLimits.wakingRetryMs.longest)
    // One key would be tried eight times in the first minute, and then not sooner than each half minute.
    expect(wake.mock.calls.length).toBeLessThan(18)
    expect(wake.mock.calls.length).toBeGreaterThan(4)
  })
})

test("a Secret that somebody deletes while it is being written is made anew, and nobody is told of a failure", async () => {
  const { superCluster, tenants, cluster, home } = await createClusters()
  await using syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 10 ** 9 })
  await syncer.whenSynced()
  const create = superCluster.create.bind(superCluster)
  let isTaken = false
  superCluster.create = async (resource, made, options) => {
    if (resource !== secrets || isTaken) return create(resource, made, options)
    // There is one, which is gone by the time that it is read.
    isTaken = true
    throw alreadyExists(resource, made.metadata.name ?? "")
  }
  await cluster.create(pods, pod)
  await eventually(() => superCluster.find(pods, home, "web"), { what: "the pod in super" })
  expect(isTaken).toBe(true)
  expect(tokenSecrets(superCluster)).toHaveLength(1)
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  expect(cluster.all(events)).toEqual([])
})
