// Sleeping tenants end to end: their pods keep running, changes of them wake the tenant, and clients see the changes.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane({ args: ["--tenants", "demo,other", "--tenant-idle", "1"] })
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

const admin = { kubeconfig: "admin" }

/** Waits until all tenants are asleep. Reads the operator's view, which does not wake tenants. */
async function asleep(): Promise<void> {
  await eventually(
    async () => (await up.kubectl(["get", "--raw", "/metrics"], admin)).includes("polyplane_tenants_awake 0\n"),
    {
      what: "every tenant to fall asleep",
    },
  )
}

/** Pods of the super cluster, as "namespace name uid". */
async function superPods(): Promise<string[]> {
  const columns = "-o=custom-columns=:metadata.namespace,:metadata.name,:metadata.uid"
  const lines = await up.kubectl(["get", "pods", "-A", "--no-headers", columns], admin)
  return lines.trim().split("\n")
}

describe("a sleeping tenant", () => {
  test("has running pods", async () => {
    await up.kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=2"])
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=30s"])
    await asleep()
    expect(await superPods()).toHaveLength(2)
    expect(await up.kubectl(["get", "deployment", "web"])).toMatch(/web +2\/2 +2 +2 /)
    expect(await up.kubectl(["logs", "deploy/web"])).not.toBe("")
    expect(await superPods()).toHaveLength(2)
  })

  test("follows changes in the super cluster", async () => {
    await asleep()
    const [lost = ""] = await superPods()
    const [namespace = "", name = ""] = lost.split(/ +/)
    // Does not wait: kubectl would wait until the name is free, but it is reused immediately.
    await up.kubectl(["delete", "pod", "-n", namespace, name, "--wait=false"], admin)
    await eventually(
      async () => {
        const now = await superPods()
        return now.length === 2 && !now.includes(lost)
      },
      { what: "the tenant's pod to be made anew where it was deleted" },
    )
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=30s"])
  })

  test("keeps its objects after kill -9", async () => {
    await asleep()
    await up.kubectl(["create", "configmap", "kept", "--from-literal=a=b"])
    await up.kill()
    await up.start()
    expect(await up.kubectl(["get", "configmap", "kept", "-o", "jsonpath={.data.a}"])).toBe("b")
    expect(await up.kubectl(["get", "deployment", "web"])).toMatch(/web +2\/2 +2 +2 /)
    await asleep()
    await up.kubectl(["scale", "deployment", "web", "--replicas=3"])
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=30s"])
    expect(await superPods()).toHaveLength(3)
  })
})
