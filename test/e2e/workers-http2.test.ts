// HTTP/2 at a server of several processes: whichever of them has the connection, and whoever has the tenant.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let up: Polyplane
/** So many that one process does not have them all. */
const tenants = ["one", "two", "three", "four"]
const patience = { timeoutMs: 60_000 }

beforeAll(async () => {
  const args = ["--http2", "--workers", "2", "--tenants", tenants.join(",")]
  up = await startPolyplane({ args, readyTimeoutMs: 120_000 })
}, 150_000)

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

describe("kubectl over HTTP/2, with --workers", () => {
  test(
    "every tenant answers, over connections that go to one worker after the other",
    { timeout: 120_000 },
    async () => {
      for (const kubeconfig of [...tenants, ...tenants]) {
        const env = { ...up.environment(kubeconfig), GODEBUG: "http2debug=1" }
        const { code, stderr, stdout } = await up.tryKubectl(["get", "namespaces"], { kubeconfig, env, ...patience })
        expect([code, stdout]).toEqual([0, expect.stringContaining("kube-system")])
        expect(stderr).toContain("http2: Transport received HEADERS")
      }
    },
  )

  test("writes, watches, executes", { timeout: 180_000 }, async () => {
    for (const kubeconfig of tenants.slice(0, 2)) {
      await up.kubectl(["create", "deployment", "web", "--image=nginx"], { kubeconfig })
      await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"], { kubeconfig, ...patience })
      const typed = { kubeconfig, input: "typed\n", ...patience }
      expect(await up.kubectl(["exec", "-i", "deploy/web", "--", "cat"], typed)).toBe("typed\n")
    }
  })

  test("and the server ends when asked to", async () => {
    expect(await up.stop()).toBe(0)
  })
})
