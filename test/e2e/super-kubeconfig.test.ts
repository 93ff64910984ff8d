// A super cluster that is somebody else's: known by a kubeconfig only. Here it is another process's simulated one.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let cluster: Polyplane
let up: Polyplane

beforeAll(async () => {
  cluster = await startPolyplane({ args: ["--tenants", ""] })
  up = await startPolyplane({ args: ["--super-kubeconfig", cluster.kubeconfig("admin")] })
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
  await cluster?.[Symbol.asyncDispose]()
})

const superPods = async () =>
  (await cluster.kubectl(["get", "pods", "-A", "-o", "name"], { kubeconfig: "admin" })).trim().split("\n")

describe("polyplane up --super-kubeconfig", () => {
  test("a tenant's deployment runs in the other cluster", async () => {
    await up.kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=2"])
    await up.kubectl(["expose", "deployment", "web", "--port=80"])
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=30s"])
    expect((await superPods()).filter((name) => name.startsWith("pod/web-"))).toHaveLength(2)
    const own = await up.kubectl(["get", "service", "web", "-o", "jsonpath={.spec.clusterIP}"])
    expect(await cluster.kubectl(["get", "services", "-A"], { kubeconfig: "admin" })).toContain(` ${own} `)
  })

  test("logs say why they are not to be had", async () => {
    const { code, stderr } = await up.tryKubectl(["logs", "deploy/web"])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Error from server/)
  })

  test("while the super cluster is away the tenant's API answers, and what was asked for is done when it is back", async () => {
    await cluster.kill()
    expect(await up.kubectl(["get", "deployment", "web"])).toContain("2/2")
    await up.kubectl(["create", "configmap", "settings", "--from-literal=a=b"])
    await up.kubectl(["scale", "deployment", "web", "--replicas=3"])
    const refused = await up.tryKubectl(["create", "service", "clusterip", "late", "--tcp=80"])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^(Error from server|error: )/)
    await cluster.start()
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"], { timeoutMs: 70_000 })
    expect((await superPods()).filter((name) => name.startsWith("pod/web-"))).toHaveLength(3)
    await eventually(async () =>
      (await cluster.kubectl(["get", "configmaps", "-A"], { kubeconfig: "admin" })).includes(" settings "),
    )
  }, 120_000)
})
