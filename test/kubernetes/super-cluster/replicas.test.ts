// Two `polyplane up` share their storage and a real super cluster. The one that works is paused for longer than its Lease, in the middle of
// all that it does, and then goes on: with what it knew, until it notices. Meanwhile the other one works.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createRandom, seedOf } from "../../../apimachinery/testing/random.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { leases } from "../../../client/resources.ts"
import { eventually } from "../../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { TestEtcd } from "../etcd/test-etcd.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { faultsOf } from "./mirror.ts"
import { Model } from "./model.ts"

const options = { nodes: 2, controllerManager: true, scheduler: true }
const leaseNames = ["polyplane-controllers", "polyplane-operator", "polyplane-syncer"]
const patience = { timeoutMs: 180_000 }
const pauses = Number(process.env["PAUSES"] ?? 2)
const stepsEach = 40

describe.skipIf(lacks(TestKubernetes.binaries(options)))("two replicas, of which the one that works is paused", () => {
  const stack = new AsyncDisposableStack()
  let kubernetes: TestKubernetes
  /** The first one works at the start. */
  let replicas: Polyplane[]

  beforeAll(async () => {
    kubernetes = stack.use(await TestKubernetes.start(options))
    const etcd = stack.use(await TestEtcd.start({}))
    const storage = ["--storage", "etcd", "--etcd-servers", etcd.servers.join(",")]
    const args = [...storage, "--super-kubeconfig", kubernetes.kubeconfig, "--tenants", "one"]
    const start = async () => stack.use(await startPolyplane({ args, readyTimeoutMs: patience.timeoutMs }))
    const first = await start()
    await eventually(leader, patience)
    replicas = [first, await start()]
  }, 600_000)

  afterAll(() => stack.disposeAsync())

  /** Who works; undefined while it changes. */
  async function leader(): Promise<string | undefined> {
    type Lease = KubeObject & { spec?: { holderIdentity?: string } }
    const { items } = await kubernetes.client.list<Lease>(leases, { namespace: "kube-system" })
    const held = new Set(
      items.filter(({ metadata }) => leaseNames.includes(metadata.name ?? "")).map(({ spec }) => spec?.holderIdentity),
    )
    const [holder] = held
    return held.size === 1 && holder !== "" ? holder : undefined
  }

  test("leave the super cluster as one would", { timeout: 900_000 }, async () => {
    const seed = seedOf()
    const random = createRandom(seed)
    const lines: string[] = []
    let living = 0
    const gateway = () => replicas[living]?.url ?? ""
    await using model = new Model({ random, superClient: kubernetes.client, gateway, log: (line) => lines.push(line) })
    const work = async (): Promise<void> => {
      for (let step = 0; step < stepsEach; step++) await model.step()
    }
    for (let pause = 0; pause < pauses; pause++) {
      await work()
      const before = await eventually(leader, patience)
      const [working, other] = [pause % 2, (pause + 1) % 2]
      const { pid = 0 } = replicas[working] ?? {}
      living = other
      lines.push(`pause replica ${working}`)
      process.kill(pid, "SIGSTOP")
      try {
        await work()
        await eventually(async () => ![undefined, before].includes(await leader()), patience)
        await work()
      } finally {
        process.kill(pid, "SIGCONT")
      }
      lines.push(`replica ${working} goes on`)
      await work()
    }
    let faults: string[] = []
    try {
      await eventually(async () => (faults = await faultsOf(kubernetes.client)).length === 0, patience)
    } catch (error) {
      const log = replicas.map(({ stderr }) => stderr).join("\n")
      throw new Error(`seed ${seed}: ${faults.join("\n")}\n${lines.join("\n")}\n${log}`, { cause: error })
    }
    for (const { stderr } of replicas) expect(stderr).not.toContain("unexpectedly")
  })
})
