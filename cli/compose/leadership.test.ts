import { describe, expect, test } from "vitest"
import { forbidden } from "../../apimachinery/status.ts"
import { type Log, silentLog } from "../../client/log.ts"
import { leases, namespaces } from "../../client/resources.ts"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { holdForever, Leadership, leaseNamespace } from "./leadership.ts"

const times = { leaseMs: 60_000, renewMs: 45_000, retryMs: 5 }

async function superCluster(): Promise<FakeCluster> {
  const cluster = new FakeCluster({ isSuper: true })
  await cluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: leaseNamespace } })
  return cluster
}

/** Counts how often the work of `identity` was started and stopped. */
function worker(client: FakeCluster, identity: string, log: Log = silentLog) {
  const seen = { begun: 0, ended: 0 }
  const metrics = new ClientMetrics()
  const leadership = Leadership.start({
    client,
    name: "polyplane-test",
    identity,
    log,
    metrics,
    times,
    work() {
      seen.begun++
      return Promise.resolve({
        [Symbol.asyncDispose]() {
          seen.ended++
          return Promise.resolve()
        },
      })
    },
  })
  const status = () => /^leader_election_master_status\{name="polyplane-test"\} (.)$/m.exec(metrics.print())?.[1]
  return { leadership, seen, status }
}

test("a super cluster that belongs to one process is not worked on by others", async () => {
  const cluster = await superCluster()
  for (let start = 0; start < 2; start++) await holdForever(cluster, "first", ["polyplane-test"])
  const warnings: string[] = []
  const other = worker(cluster, "other", { ...silentLog, warn: (_, message) => void warnings.push(message) })
  await expect(other.leadership.untilWorking(50)).rejects.toThrow(
    "another Polyplane works on this super cluster: its Lease kube-system/polyplane-test is held by first",
  )
  await other.leadership[Symbol.asyncDispose]()
  expect(other.seen.begun).toBe(0)
  expect(warnings).toEqual([
    "another Polyplane works on this super cluster: its Lease kube-system/polyplane-test is held by first; waiting for it",
  ])
})

describe("two instances on one super cluster", () => {
  test("one works; the other gets the name of the leader, and takes over when the first ends", async () => {
    const cluster = await superCluster()
    const first = worker(cluster, "first")
    await first.leadership.untilWorking()
    const second = worker(cluster, "second")
    await expect(second.leadership.untilWorking(50)).rejects.toThrow(
      "another Polyplane works on this super cluster: its Lease kube-system/polyplane-test is held by first",
    )
    expect(second.seen.begun).toBe(0)
    expect([first.status(), second.status()]).toEqual(["1", "0"])
    await first.leadership[Symbol.asyncDispose]()
    expect(first.seen).toEqual({ begun: 1, ended: 1 })
    await second.leadership.untilWorking()
    expect(second.seen).toEqual({ begun: 1, ended: 0 })
    expect([first.status(), second.status()]).toEqual(["0", "1"])
    await second.leadership[Symbol.asyncDispose]()
    expect(second.seen).toEqual({ begun: 1, ended: 1 })
  })

  test("an instance that restarts under its name after a kill does not wait", async () => {
    const cluster = await superCluster()
    const spec = { holderIdentity: "first", leaseDurationSeconds: 3600 }
    const metadata = { namespace: leaseNamespace, name: "polyplane-test" }
    await cluster.create(leases, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec })
    const again = worker(cluster, "first")
    await again.leadership.untilWorking()
    await again.leadership[Symbol.asyncDispose]()
  })

  test("work that cannot start is reported to its waiters", async () => {
    const cluster = await superCluster()
    const leadership = Leadership.start({
      client: cluster,
      name: "polyplane-test",
      identity: "first",
      log: silentLog,
      times,
      work: () => Promise.reject(new Error("no definitions")),
    })
    await expect(leadership.untilWorking()).rejects.toThrow("no definitions")
    await leadership[Symbol.asyncDispose]()
  })

  test("a Lease that may not be read is logged, and reported at once", async () => {
    const cluster = await superCluster()
    const refusal = forbidden(leases, "polyplane-test", "no")
    cluster.fail = () => refusal
    const logged: object[] = []
    const leadership = Leadership.start({
      client: cluster,
      name: "polyplane-test",
      identity: "first",
      log: { ...silentLog, warn: (fields: object) => void logged.push(fields) },
      times,
      work: () => Promise.reject(new Error("not reached")),
    })
    await expect(leadership.untilWorking()).rejects.toBe(refusal)
    expect(logged[0]).toEqual({ lease: "polyplane-test", error: refusal.message })
    await leadership[Symbol.asyncDispose]()
  })
})
