// Operator, syncer and gateway against a real super cluster whose answers get lost, late, cut or refused, while users of tenants and
// administrators of the super cluster do things at random. When the faults end, both sides must be as they are without them.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { chance, createRandom, pick, seedOf, type Random } from "../../../apimachinery/testing/random.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { superNamespace } from "../../../apimachinery/tenancy.ts"
import { configMaps, events, namespaces, virtualClusters } from "../../../client/resources.ts"
import { eventually } from "../../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { FaultyProxy, type Fault, type ProxiedRequest } from "./faulty-proxy.ts"
import { connectTenant, faultsOf, keyOfVirtualCluster, ofUser } from "./mirror.ts"
import { Model } from "./model.ts"

const options = { nodes: 2, controllerManager: true, scheduler: true }
/** Writes that nobody waits for are repeated after 30 s at the latest, and what is still different is found once a minute. */
const settleMs = 150_000
const steps = Number(process.env["STEPS"] ?? 150)

describe.skipIf(lacks(TestKubernetes.binaries(options)))("a super cluster with faults", () => {
  let kubernetes: TestKubernetes
  let proxy: FaultyProxy
  let up: Polyplane

  beforeAll(async () => {
    kubernetes = await TestKubernetes.start(options)
    proxy = await FaultyProxy.start(kubernetes)
    const args = [
      "--super-kubeconfig",
      proxy.kubeconfig,
      "--tenants",
      "one,two",
      "--log-level",
      process.env["LEVEL"] ?? "warn",
    ]
    up = await startPolyplane({ args })
  })

  afterAll(async () => {
    await up?.[Symbol.asyncDispose]()
    await proxy?.[Symbol.asyncDispose]()
    await kubernetes?.[Symbol.asyncDispose]()
  })

  test("that has objects of its own under the names of a tenant's keeps them, and has the tenant's when they are gone", async () => {
    const { client } = kubernetes
    const object = await client.get(virtualClusters, "default", "one")
    await using tenant = await connectTenant(client, object)
    const homeOf = (namespace: string) => superNamespace(keyOfVirtualCluster(object), namespace)
    const named = (kind: string, name: string, namespace?: string): KubeObject => ({
      apiVersion: "v1",
      kind,
      metadata: { name, labels: ofUser, ...(namespace === undefined ? {} : { namespace }) },
    })
    const foreign = await client.create(namespaces, named("Namespace", homeOf("theirs")))
    await tenant?.create(configMaps, { ...named("ConfigMap", "first", "default"), data: { of: "tenant" } })
    await eventually(() => client.get(configMaps, homeOf("default"), "first"))
    const theirs = await client.create(configMaps, {
      ...named("ConfigMap", "theirs", homeOf("default")),
      data: { of: "super" },
    })
    await tenant?.create(namespaces, named("Namespace", "theirs"))
    for (const namespace of ["default", "theirs"])
      await tenant?.create(configMaps, { ...named("ConfigMap", "theirs", namespace), data: { of: "tenant" } })
    const told = async (): Promise<unknown[]> => (await tenant?.list(events))?.items.map(({ message }) => message) ?? []
    await eventually(async () => (await told()).includes('configmaps "theirs": the super cluster has one of its own'))
    await eventually(async () => (await told()).includes('namespaces "theirs": the super cluster has one of its own'))
    expect(await client.get(configMaps, homeOf("default"), "theirs")).toEqual(theirs)
    expect((await client.get(namespaces, undefined, homeOf("theirs"))).metadata.uid).toBe(foreign.metadata.uid)
    await client.delete(configMaps, homeOf("default"), "theirs")
    await client.delete(namespaces, undefined, homeOf("theirs"))
    await eventually(async () => (await faultsOf(client)).length === 0, { timeoutMs: settleMs })
  }, 300_000)

  /** In the middle of what they do. */
  async function restart(random: Random, lines: string[]): Promise<void> {
    if (chance(random, 0.5)) {
      lines.push("the API server restarts")
      await kubernetes.stopApiServer()
      await kubernetes.startApiServer()
      return
    }
    lines.push("polyplane is killed")
    await up.kill()
    // Its start needs an answer.
    proxy.fault = () => undefined
    await up.start()
  }

  const seed = seedOf()
  test.each(Array.from({ length: Number(process.env["ROUNDS"] ?? 1) }, (_, index) => seed + index))(
    "is mirrored exactly once the faults end (seed %i)",
    { timeout: 400_000 },
    async (seed) => {
      const random = createRandom(seed)
      const lines: string[] = []
      await using model = new Model({
        random,
        superClient: kubernetes.client,
        admin: true,
        log: (line) => lines.push(line),
      })
      let most = 0
      for (let step = 0; step < steps; step++) {
        // Phases of different density, and some without any.
        if (step % 25 === 0) most = pick(random, [0, 0.05, 0.2, 0.5])
        proxy.fault = (request) => (chance(random, most) ? faultFor(request, random) : undefined)
        if (chance(random, 0.03)) proxy.disconnect()
        if (chance(random, 0.01)) await restart(random, lines)
        await model.step()
      }
      proxy.fault = () => undefined
      let faults: string[] = []
      try {
        await eventually(async () => (faults = await faultsOf(kubernetes.client)).length === 0, { timeoutMs: settleMs })
      } catch (error) {
        throw new Error(`seed ${seed}: ${faults.join("\n")}\n${lines.join("\n")}\n${up.stderr}`, { cause: error })
      }
      expect(up.stderr).not.toContain("unexpectedly")
    },
  )
})

function faultFor({ method, isWatch }: ProxiedRequest, random: Random): Fault {
  if (isWatch)
    return pick<Fault>(random, [
      { kind: "reset" },
      { kind: "expired" },
      { kind: "cut", afterBytes: random(20_000) },
      { kind: "slow", ms: random(1000) },
    ])
  const refused: Fault[] = [
    { kind: "refused", code: 429, reason: "TooManyRequests", retryAfter: 1 },
    { kind: "refused", code: 500, reason: "InternalError" },
    { kind: "refused", code: 503, reason: "ServiceUnavailable" },
  ]
  const anywhere: Fault[] = [
    ...refused,
    { kind: "reset" },
    { kind: "lost" },
    { kind: "cut", afterBytes: random(2000) },
    { kind: "slow", ms: random(2000) },
  ]
  return pick(
    random,
    method === "GET" ? anywhere : [...anywhere, { kind: "lost" }, { kind: "refused", code: 409, reason: "Conflict" }],
  )
}
