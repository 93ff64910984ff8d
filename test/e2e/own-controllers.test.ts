// A tenant with a controller manager of its own (`controllers: false`) sleeps as any other, unless somebody watches the leases of its nodes, as
// such a controller manager does: to it a node is dead whose lease is not renewed.

import { afterAll, beforeAll, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { collect, start } from "../harness/processes.ts"

const tenant = "own"
const admin = { kubeconfig: "admin" }

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane({ args: ["--tenants", tenant, "--tenant-idle", "1"] })
  const patch = JSON.stringify({ spec: { controllers: false } })
  await up.kubectl(["patch", "virtualcluster", tenant, "-n", "default", "--type=merge", "-p", patch], admin)
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

/** As the operator sees it, which does not wake it. */
async function isAwake(): Promise<boolean> {
  const metrics = await up.kubectl(["get", "--raw", "/metrics"], admin)
  return metrics.includes("polyplane_tenants_awake 1\n")
}

/** A watch, and what it has printed. */
function watching(args: readonly string[]) {
  const child = start("kubectl", ["get", ...args, "--watch"], {
    env: up.environment(tenant),
    stdio: ["ignore", "pipe", "pipe"],
  })
  const printed = collect(child.stdout)
  return {
    lines: () => printed().trim().split("\n"),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      const closed = new Promise((resolve) => child.once("close", resolve))
      child.kill()
      await closed
    },
  }
}

const falls = () => eventually(async () => !(await isAwake()), { what: "the tenant to fall asleep" })

test("it sleeps while nobody uses it, and while other things are watched", async () => {
  await up.kubectl(["get", "pods"], { kubeconfig: tenant })
  await falls()
  await using pods = watching(["pods", "-A", "--output-watch-events"])
  await using leases = watching(["leases", "-n", "default", "--output-watch-events"])
  await up.kubectl(["run", "web", "--image=nginx"], { kubeconfig: tenant })
  await eventually(() => pods.lines().some((line) => line.includes("web")), { what: "the watch to tell of a pod" })
  await falls()
  expect(leases.lines()).toEqual([""])
})

test("it is awake while the leases of its nodes are watched, which are renewed", async () => {
  await falls()
  {
    await using leases = watching(["leases", "-A", "-o=custom-columns=:metadata.name,:spec.renewTime"])
    let asleep = 0
    await eventually(
      async () => {
        const nodes = Map.groupBy(new Set(leases.lines()), (line) => line.split(/ +/)[0])
        // Seen from the first lease on.
        if (leases.lines().length > 1 && !(await isAwake())) asleep++
        return nodes.values().some((renewals) => renewals.length >= 2)
      },
      { what: "a lease to be renewed" },
    )
    expect(asleep).toBe(0)
  }
  await falls()
})
