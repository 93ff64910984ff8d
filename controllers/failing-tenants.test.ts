// What a tenant's webhooks fail to let happen may fail for ever: the tenant sleeps nevertheless, and nothing is lost.

import { expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { internalError } from "../apimachinery/status.ts"
import {
  configMaps,
  deployments,
  jobs,
  pods,
  replicaSets,
  validatingWebhookConfigurations,
} from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import type { TenantUse } from "../client/tenants.ts"
import { wakingForFailedMs } from "./failed-keys.ts"
import { startControllers } from "./main.ts"
import { eventually, harnessAuthority, startHarness } from "./testing/harness.ts"
import { SleepingTenants } from "./testing/sleeping-tenants.ts"

const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } }

interface Case {
  resource: Resource
  object: object
  /** What the controller cannot do for that. */
  refused: string
  isDone: (cluster: FakeCluster) => boolean
}

const hasPod = { refused: "create pods", isDone: (cluster: FakeCluster) => cluster.all(pods).length === 1 }
const cases: Record<string, Case> = {
  replicaset: {
    ...hasPod,
    resource: replicaSets,
    object: {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "a", namespace: "default", uid: "a" },
      spec: { replicas: 1, selector: { matchLabels: { app: "a" } }, template },
    },
  },
  job: {
    ...hasPod,
    resource: jobs,
    object: {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "a", namespace: "default", uid: "a" },
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        selector: { matchLabels: { app: "a" } },
        template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } },
      },
    },
  },
  "garbage-collector": {
    refused: "delete configmaps",
    isDone: (cluster) => cluster.all(configMaps).length === 0,
    resource: configMaps,
    object: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "a",
        namespace: "default",
        uid: "a",
        ownerReferences: [{ apiVersion: "v1", kind: "Secret", name: "gone", uid: "gone" }],
      },
    },
  },
}

/** Fails to let that happen. Returns the number of attempts. */
function failWith(cluster: FakeCluster, refused: string): () => number {
  let tries = 0
  cluster.fail = (verb, resource) => {
    if (`${verb} ${resource}` !== refused) return undefined
    tries++
    return internalError('failed calling webhook "w": no such host')
  }
  return () => tries
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** The controller of a tenant that sleeps whenever it may. Whether its wakings, and the calls to it, were uses. */
function begin(cluster: FakeCluster, controller: string) {
  const clock = new FakeClock()
  const tenants = new SleepingTenants(["a"], (_tenant, of) => cluster.all(of), cluster)
  const isUse = ([, use]: [tenant?: unknown, use?: TenantUse]): boolean => use?.isUse ?? true
  const [wakings, uses]: [boolean[], boolean[]] = [[], []]
  const wake = tenants.wake.bind(tenants)
  tenants.wake = (...call: [tenant: string, use?: TenantUse]): void => {
    wakings.push(isUse(call))
    wake(call[0])
  }
  tenants.client = (...call: [tenant?: unknown, use?: TenantUse]): KubeClient => {
    uses.push(isUse(call))
    return cluster
  }
  const options = { rootCertificateAuthority: harnessAuthority, clock, only: [controller] }
  const controllers = startControllers(tenants, options)
  return {
    tenants,
    wakings,
    uses,
    forgetCalls(): void {
      wakings.length = uses.length = 0
    },
    /** `staysAwake`: somebody uses it. */
    async pass(times: number, ms: number, staysAwake = false): Promise<void> {
      for (let time = 0; time < times; time++) {
        clock.advance(ms)
        await turns()
        if (!staysAwake) tenants.rest()
      }
    },
    [Symbol.asyncDispose]: () => controllers[Symbol.asyncDispose](),
  }
}

test.each(Object.keys(cases))(
  "a sleeping tenant is woken rarely for what it fails to do, and for no use: %s",
  async (name) => {
    const cluster = new FakeCluster()
    const { resource, object, refused, isDone } = cases[name]!
    await cluster.create(resource, object as KubeObject)
    const tries = failWith(cluster, refused)
    await using world = begin(cluster, name)
    const { tenants } = world
    tenants.wake("a")
    await eventually(() => expect(tries()).toBeGreaterThan(0))
    // As long as it would be awake: its first retries.
    await world.pass(60, 1_000, true)
    await eventually(() => expect(tenants.rest()).toBe(0))
    world.forgetCalls()
    const before = tries()
    const minutes = 10 * 60
    await world.pass(minutes, 60_000)
    const most = (minutes * 60_000) / wakingForFailedMs + 1
    expect(world.wakings.length).toBeGreaterThan(most / 3)
    expect(world.wakings.length).toBeLessThanOrEqual(most)
    expect(new Set([...world.wakings, ...world.uses])).toEqual(new Set([false]))
    expect(tries() - before).toBeGreaterThan(most / 3)
    // The delay between two attempts does not begin anew with each waking.
    expect(tries() - before).toBeLessThanOrEqual(2 * most)

    cluster.fail = undefined
    tenants.wake("a")
    await eventually(() => expect(isDone(cluster)).toBe(true))
  },
)

test.each(Object.keys(cases))(
  "what a tenant fails to do is tried again at once when its admission changes: %s",
  async (name) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only: [name], clock })
    const { cluster } = harness
    const { resource, object, refused, isDone } = cases[name]!
    const tries = failWith(cluster, refused)
    const webhook = { apiVersion: "admissionregistration.k8s.io/v1", kind: "Any", metadata: { name: "w" } }
    await cluster.create(validatingWebhookConfigurations, webhook)
    await cluster.create(resource, object as KubeObject)
    await eventually(() => {
      clock.advance(1_000)
      expect(tries()).toBeGreaterThan(3)
    })
    await turns()
    // The clock does not advance.
    cluster.fail = undefined
    await cluster.delete(validatingWebhookConfigurations, undefined, "w")
    await eventually(() => expect(isDone(cluster)).toBe(true))
  },
)

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "a", namespace: "default", uid: "a" },
  spec: { replicas: 1, selector: { matchLabels: { app: "a" } }, template },
} as unknown as KubeObject

test("what a controller has given up is no use of its tenant, whenever it wakes, and wakes it for none", async () => {
  const cluster = new FakeCluster()
  await cluster.create(deployments, deployment)
  const tries = failWith(cluster, "create replicasets")
  await using world = begin(cluster, "deployment")
  world.tenants.wake("a")
  await eventually(() => expect(tries()).toBe(1))
  await world.pass(300, 1_000, true)
  const givenUp = tries()
  expect(givenUp).toBeGreaterThan(15)
  expect(world.tenants.rest()).toBe(0)
  world.forgetCalls()
  world.tenants.wake("a")
  await eventually(() => expect(tries()).toBeGreaterThan(givenUp))
  expect(new Set(world.uses)).toEqual(new Set([false]))
  // It is given up again, and falls asleep. Half a day later it is due.
  await world.pass(300, 1_000, true)
  expect(tries()).toBeGreaterThan(givenUp + 15)
  expect(world.tenants.rest()).toBe(0)
  world.forgetCalls()
  await world.pass(13 * 60, 60_000)
  expect(new Set(world.wakings)).toEqual(new Set([false]))
  expect(new Set(world.uses)).toEqual(new Set([false]))
})

test("what a controller has given up is tried again at once when its tenant's admission changes", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["deployment"], clock })
  const { cluster } = harness
  const tries = failWith(cluster, "create replicasets")
  await cluster.create(validatingWebhookConfigurations, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "Any",
    metadata: { name: "w" },
  })
  await harness.create(deployments, deployment)
  await eventually(() => {
    clock.advance(10_000)
    expect(tries()).toBeGreaterThan(15)
  })
  const given = tries()
  for (let minute = 0; minute < 60; minute++) {
    clock.advance(60_000)
    await turns()
  }
  expect(tries()).toBe(given)
  cluster.fail = undefined
  await cluster.delete(validatingWebhookConfigurations, undefined, "w")
  await eventually(() => expect(cluster.all(replicaSets)).toHaveLength(1))
})
