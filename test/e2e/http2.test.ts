// Real kubectl uses HTTP/2 for requests and watches, and HTTP/1.1 for protocol upgrades, or if the server offers nothing else.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { collect, start } from "../harness/processes.ts"

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane()
  await up.kubectl(["create", "deployment", "web", "--image=nginx", "--port=80"])
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

describe("kubectl over HTTP/2", () => {
  test("waits for conditions with a watch", async () => {
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"])
    expect(await up.kubectl(["get", "--raw", "/readyz"])).toContain("ok")
  })

  test("speaks HTTP/2", async () => {
    const env = { ...up.environment(), GODEBUG: "http2debug=1" }
    const { code, stderr } = await up.tryKubectl(["get", "pods"], { env })
    expect(code).toBe(0)
    expect(stderr).toContain("http2: Transport received HEADERS")
  })

  test("reads logs, executes and forwards ports", async () => {
    expect(await up.kubectl(["logs", "deploy/web"])).not.toBe("")
    expect(await up.kubectl(["exec", "-i", "deploy/web", "--", "cat"], { input: "typed\n" })).toBe("typed\n")
    const child = start("kubectl", ["port-forward", "deploy/web", ":80"], { env: up.environment(), stdio: "pipe" })
    try {
      const stdout = collect(child.stdout)
      const port = await eventually(() => /Forwarding from 127\.0\.0\.1:(\d+)/.exec(stdout())?.[1], {
        what: "kubectl port-forward",
      })
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
    } finally {
      child.kill()
    }
  })

  test("applies, explains and deletes", async () => {
    const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"
    expect(await up.kubectl(["apply", "--server-side", "-f", "-"], { input: manifest })).toContain("settings")
    expect(await up.kubectl(["explain", "pod.spec.containers"])).toContain("FIELDS")
    expect(await up.kubectl(["delete", "deployment,configmap", "--all", "--timeout=60s"])).toContain("deleted")
  })

  test("and the server exits on request", async () => {
    expect(await up.stop()).toBe(0)
  })
})

test("with --disable-http2-serving kubectl speaks HTTP/1.1", async () => {
  await using plain = await startPolyplane({ args: ["--disable-http2-serving"] })
  const env = { ...plain.environment(), GODEBUG: "http2debug=1" }
  const { code, stderr } = await plain.tryKubectl(["get", "namespaces"], { env })
  expect(code).toBe(0)
  expect(stderr).not.toContain("http2: Transport received HEADERS")
})
