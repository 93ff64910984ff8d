// Tenants fall asleep and wake on a real gateway: requests get the same responses, and watches miss nothing.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import type { ConfigMap, Deployment, Job, ReplicaSet } from "../../apimachinery/object.ts"
import {
  configMaps,
  deployments,
  horizontalPodAutoscalers,
  jobs,
  leases,
  namespaces,
  replicaSets,
} from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { startControllers } from "../../controllers/main.ts"
import { configMap, startTestGateway, type TestGateway } from "../testing/start-gateway.ts"

const limits = { tenantIdleMs: 40, maxAwakeTenants: 100 }

vi.setConfig({ testTimeout: 180_000 })

let fixture: TestGateway
/** The time that a loaded machine may take. */
const waitFor = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 60_000, interval: 3 })

beforeEach(async () => {
  fixture = await startTestGateway({ limits })
})
afterEach(() => fixture[Symbol.asyncDispose]())

const asleep = (): Promise<void> => waitFor(() => expect(fixture.gateway.tenants.awake).toBe(0))

async function client(name: string): Promise<KubeClient> {
  return fixture.client(`/tenants/${name}`, await fixture.createTenant(name))
}

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const web = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "default", name: "web" },
  spec: { selector: { matchLabels: { app: "web" } }, template },
}

describe("an unused tenant", () => {
  test("falls asleep and serves the next request normally", async () => {
    const api = await client("a")
    const made = await api.create(configMaps, configMap("kept", { a: "b" }))
    for (let round = 0; round < 3; round++) {
      await asleep()
      expect(await api.get(configMaps, "default", "kept")).toEqual(made)
    }
  })

  test("has another quota when it wakes", async () => {
    const { tenant } = await fixture.createTenant("quota")
    const api = fixture.gateway.tenants.client("quota")
    await api.create(configMaps, configMap("first"))
    await asleep()
    const { uid: _uid, ...request } = tenant
    await fixture.gateway.tenants.create({ ...request, quota: { objects: 1 } })
    expect(fixture.gateway.tenants.awake).toBe(0)
    await expect(api.create(configMaps, configMap("second"))).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining("limited: objects=1"),
    })
  })

  test("is not woken by a certificate of another authority", async () => {
    const strangers = await fixture.createTenant("b")
    await fixture.createTenant("a")
    await asleep()
    const otherClient = fixture.client("/tenants/a", strangers)
    await expect(otherClient.get(namespaces, undefined, "default")).rejects.toMatchObject({ code: 401 })
    expect(fixture.gateway.tenants.awake).toBe(0)
  })

  test("stays awake during a request", async () => {
    const api = await client("a")
    const { tenants } = fixture.gateway
    const used = await tenants.byName("a")
    const leave = used!.presence.enter()
    await (await client("b")).get(namespaces, undefined, "default")
    await waitFor(() => expect(tenants.awake).toBe(1)) // b sleeps, and a could have fallen asleep
    expect(await tenants.byName("a")).toBe(used)
    leave()
    await asleep()
    await api.get(namespaces, undefined, "default")
  })

  test("continues its watches without gaps or repetitions", async () => {
    const api = await client("a")
    const { metadata } = await api.list(configMaps, { namespace: "default" })
    const seen: string[] = []
    const stop = new AbortController()
    const options = { namespace: "default", resourceVersion: metadata.resourceVersion, signal: stop.signal }
    const watching = (async () => {
      for await (const { type, object } of api.watch(configMaps, options)) seen.push(`${type} ${object.metadata.name}`)
    })()
    const expected: string[] = []
    for (let round = 0; round < 4; round++) {
      await asleep()
      await api.create(configMaps, configMap(`c${round}`))
      await api.patch(configMaps, "default", `c${round}`, { data: { round: "x" } }, { type: "merge" })
      expected.push(`ADDED c${round}`, `MODIFIED c${round}`)
      await waitFor(() => expect(seen).toEqual(expected))
    }
    await asleep()
    stop.abort()
    await watching
    expect(seen).toEqual(expected)
  })

  test.each<[what: string, namespace: string | undefined, controllers: boolean, isKept: boolean]>([
    ["node leases", "kube-node-lease", false, true],
    ["all leases", undefined, false, true],
    ["other leases", "default", false, false],
    ["node leases, which only its own controller manager would miss,", "kube-node-lease", true, false],
  ])("with a watch of %s sleeps unless somebody expects renewals", async (_what, namespace, controllers, isKept) => {
    const { tenants } = fixture.gateway
    const api = fixture.client("/tenants/a", await fixture.createTenant("a", { controllers }))
    await api.create(leases, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace: namespace ?? "kube-node-lease", name: "node-1" },
    })
    const stop = new AbortController()
    const begun = Promise.withResolvers<void>()
    const inNamespace = namespace === undefined ? {} : { namespace }
    const watching = (async () => {
      for await (const _event of api.watch(leases, { ...inNamespace, resourceVersion: "0", signal: stop.signal }))
        begun.resolve()
    })()
    await begun.promise
    if (isKept) {
      const used = await tenants.byName("a")
      await (await client("b")).get(namespaces, undefined, "default")
      await waitFor(() => expect(tenants.awake).toBe(1)) // b sleeps, and a could have fallen asleep
      expect(await tenants.byName("a")).toBe(used)
      stop.abort()
    }
    await asleep()
    stop.abort()
    await watching
  })

  test("is shown to its followers when the leases of its nodes are read, if its own controller manager may miss renewals", async () => {
    const { tenants } = fixture.gateway
    const informer = new TenantInformer<ConfigMap>(tenants, configMaps)
    informer.start(AbortSignal.timeout(120_000))
    for (const controllers of [true, false]) {
      const name = `controllers-${controllers}`
      const api = fixture.client(`/tenants/${name}`, await fixture.createTenant(name, { controllers }))
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" }
      await api.create(leases, { ...lease, metadata: { namespace: "kube-node-lease", name: "node-1" } })
      for (const read of [
        () => api.list(leases, { namespace: "kube-node-lease" }),
        () => api.list(leases),
        () => api.get(leases, "kube-node-lease", "node-1"),
      ]) {
        await asleep()
        await read()
        if (controllers) expect(informer.tenants()).toEqual([])
        else await waitFor(() => expect(informer.tenants()).toEqual([name]))
      }
    }
  })

  test("is woken, and stays awake, when it gets a controller manager of its own that watches already", async () => {
    const { tenants } = fixture.gateway
    const informer = new TenantInformer<ConfigMap>(tenants, configMaps)
    informer.start(AbortSignal.timeout(120_000))
    const made = await fixture.createTenant("a")
    const api = fixture.client("/tenants/a", made)
    const { metadata } = await api.list(leases)
    const stop = new AbortController()
    const { resourceVersion } = metadata
    const watching = (async () => {
      for await (const _event of api.watch(leases, { resourceVersion, signal: stop.signal }));
    })()
    await asleep()
    expect(informer.tenants()).toEqual([])
    const { uid: _uid, ...request } = made.tenant
    await tenants.create({ ...request, controllers: false })
    await waitFor(() => expect(informer.tenants()).toEqual(["a"]))
    await (await client("b")).get(namespaces, undefined, "default")
    await waitFor(() => expect(tenants.awake).toBe(1)) // b sleeps, and a could have fallen asleep
    expect(informer.tenants()).toEqual(["a"])
    await tenants.create({ ...request, controllers: true })
    await asleep()
    stop.abort()
    await watching.catch(() => undefined)
  })

  test("is not woken for subscribers of all tenants before a change", async () => {
    const { tenants } = fixture.gateway
    const stop = new AbortController()
    const informer = new TenantInformer<ConfigMap>(tenants, configMaps)
    informer.start(stop.signal)
    const api = await client("a")
    await api.create(configMaps, configMap("one"))
    await waitFor(() => expect(informer.get("a", "default", "one")).toBeDefined())
    await asleep()
    expect(informer.tenants()).toEqual([])
    await api.get(configMaps, "default", "one")
    expect(informer.tenants()).toEqual([])
    await api.create(configMaps, configMap("two"))
    await waitFor(() => expect(informer.isSynced("a")).toBe(true))
    expect(informer.get("a", "default", "two")).toBeDefined()
    await asleep()
    tenants.wake("a")
    await waitFor(() => expect(informer.get("a", "default", "two")).toBeDefined())
    await asleep()
    stop.abort()
  })

  test("is woken in order for a new subscriber", async () => {
    for (const name of ["a", "b", "c"]) {
      const api = await client(name)
      await api.create(configMaps, configMap(`of-${name}`))
    }
    await asleep()
    const stop = new AbortController()
    const informer = new TenantInformer<ConfigMap>(fixture.gateway.tenants, configMaps)
    const seen: string[] = []
    informer.subscribe({ added: (tenant, { metadata }) => seen.push(`${tenant} ${metadata.name}`) })
    informer.start(stop.signal)
    await waitFor(() => expect(seen).toEqual(expect.arrayContaining(["a of-a", "b of-b", "c of-c"])))
    await asleep()
    stop.abort()
  })

  test("finishes its work first, and is woken by the controllers' timers", async () => {
    const { tenants, certificateAuthority } = fixture.gateway
    await using _controllers = startControllers(tenants, { rootCertificateAuthority: certificateAuthority })
    const deletions: string[] = []
    const informer = new TenantInformer<Job>(tenants, jobs)
    informer.subscribe({ deleted: (_, { metadata }) => deletions.push(`DELETED ${metadata.name}`) })
    informer.start(AbortSignal.timeout(120_000))
    const api = await client("a")
    await api.create(deployments, web)
    await waitFor(async () => {
      const { items } = await api.list<ReplicaSet>(replicaSets, { namespace: "default" })
      expect(items.map(({ status }) => status?.replicas)).toEqual([1])
    })
    await api.create<Job>(jobs, {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { namespace: "default", name: "soon-over" },
      spec: { ttlSecondsAfterFinished: 1, template: { spec: { ...template.spec, restartPolicy: "Never" } } },
    } as never)
    // The test finishes the job and must not change its start time, so it waits until the controller has set that.
    await waitFor(async () => {
      expect((await api.get<Job>(jobs, "default", "soon-over")).status?.startTime).toBeDefined()
    })
    const now = new Date().toISOString().replace(/\.\d+/, "")
    const condition = { status: "True", lastTransitionTime: now, lastProbeTime: now }
    await waitFor(() =>
      api.patch(
        jobs,
        "default",
        "soon-over",
        {
          status: {
            completionTime: now,
            succeeded: 1,
            active: null,
            ready: null,
            conditions: [
              { ...condition, type: "SuccessCriteriaMet" },
              { ...condition, type: "Complete" },
            ],
          },
        },
        { type: "merge", subresource: "status" },
      ),
    )
    await asleep()
    // There is no request: the controller's own timer wakes the tenant.
    await waitFor(() => expect(deletions).toContain("DELETED soon-over"))
    await asleep()
    await expect(api.get(jobs, "default", "soon-over")).rejects.toThrow("not found")
  })

  test("with an autoscaler is woken when that is due, without counting as used", async () => {
    const { tenants, certificateAuthority: rootCertificateAuthority } = fixture.gateway
    const clock = new FakeClock()
    const only = ["horizontal-pod-autoscaler"]
    await using _controllers = startControllers(tenants, { rootCertificateAuthority, clock, only })
    const sizes: (number | undefined)[] = []
    let woken = 0
    const informer = new TenantInformer<Deployment>(tenants, deployments)
    informer.subscribe({
      added: () => woken++,
      updated: (_tenant, { spec }) => sizes.push(spec?.replicas),
    })
    informer.start(AbortSignal.timeout(120_000))
    const api = await client("a")
    await api.create(deployments, web)
    await api.create(horizontalPodAutoscalers, {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { namespace: "default", name: "web" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 2,
        maxReplicas: 10,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
        ],
      },
    } as never)
    await waitFor(() => expect(clock.timers).toBe(1))
    clock.advance(15_000)
    await waitFor(() => expect(sizes).toEqual([2]))
    // It is reconciled when its time has come, not when it changes.
    await api.patch(horizontalPodAutoscalers, "default", "web", { spec: { minReplicas: 3 } }, { type: "merge" })
    const { presence } = await tenants.byName("a")!
    await asleep()
    const { lastUsed } = presence
    for (const look of [1, 2, 3]) {
      const before = woken
      expect(clock.timers).toBe(1)
      clock.advance(15_000)
      await waitFor(() => expect(woken).toBeGreaterThan(before))
      if (look === 1) await waitFor(() => expect(sizes).toEqual([2, 3]))
      await asleep()
    }
    expect(sizes).toEqual([2, 3])
    expect(presence.lastUsed).toBe(lastUsed)
  })
})
