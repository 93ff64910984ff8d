// Several processes with a remote super cluster: each worker connects to it for its tenants' Services, and the first process syncs
// for all of them.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Pod, Service } from "../../apimachinery/object.ts"
import { pods, services } from "../../client/resources.ts"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { succeed } from "../harness/processes.ts"
import { SuperCluster } from "../harness/super-cluster.ts"

const tenants = ["one", "two", "three", "four"]
/** The tests do not measure time; this is a limit for loaded machines. */
const patience = { timeoutMs: 120_000 }

let cluster: SuperCluster
let up: Polyplane

beforeAll(async () => {
  cluster = await SuperCluster.start()
  const args = ["--workers", "2", "--super-kubeconfig", cluster.kubeconfig, "--tenants", tenants.join(",")]
  up = await startPolyplane({ args, readyTimeoutMs: patience.timeoutMs })
}, 150_000)

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
  await cluster?.[Symbol.asyncDispose]()
})

/** The pods of all tenants. */
const superPods = async () =>
  (await cluster.client.list<Pod>(pods)).items.filter(({ metadata }) => metadata.name?.startsWith("web-"))

const rolledOut = (kubeconfig: string) =>
  up.kubectl(["rollout", "status", "deployment", "web", "--timeout=100s"], { kubeconfig, ...patience })

describe("with --workers and --super-kubeconfig", () => {
  test("all tenants' pods and services are in the other cluster", { timeout: 300_000 }, async () => {
    const addresses: string[] = []
    for (const kubeconfig of tenants) {
      await up.kubectl(["create", "deployment", "web", "--image=nginx"], { kubeconfig })
      await up.kubectl(["expose", "deployment", "web", "--port=80"], { kubeconfig })
      addresses.push(
        await up.kubectl(["get", "service", "web", "-o", "jsonpath={.spec.clusterIP}"], { kubeconfig, ...patience }),
      )
    }
    for (const kubeconfig of tenants) await rolledOut(kubeconfig)
    expect(await superPods()).toHaveLength(tenants.length)
    const web = async () =>
      (await cluster.client.list<Service>(services)).items.filter(({ metadata }) => metadata.name === "web")
    await eventually(async () => (await web()).length === tenants.length, patience)
    expect((await web()).map(({ spec }) => spec?.clusterIP ?? "").sort()).toEqual(addresses.sort())
  })

  test("and are created by another worker after one was killed", { timeout: 300_000 }, async () => {
    const [worker] = (await succeed("pgrep", ["-P", String(up.pid)])).trim().split("\n").map(Number)
    if (worker === undefined) throw new Error("there are no workers")
    process.kill(worker, "SIGKILL")
    const scaled = (kubeconfig: string) => () =>
      up.tryKubectl(["scale", "deployment", "web", "--replicas=2"], { kubeconfig }).then(({ code }) => code === 0)
    for (const kubeconfig of tenants) await eventually(scaled(kubeconfig), patience)
    for (const kubeconfig of tenants) await rolledOut(kubeconfig)
    await eventually(async () => (await superPods()).length === 2 * tenants.length, patience)
  })

  test("and the process exits on request", async () => {
    expect(await up.stop()).toBe(0)
  })
})
