// Tenants distributed over several processes: a client does not notice which process it is connected to.

import { once } from "node:events"
import { request } from "node:http"
import { readFile, rename, stat } from "node:fs/promises"
import path from "node:path"
import { connect } from "node:tls"
import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { areProbed } from "../../client/testing/probed-connections.ts"
import { eventually } from "../harness/eventually.ts"
import { call, certificateOf } from "../harness/https.ts"
import { collect, start } from "../harness/processes.ts"
import {
  auditLog,
  heldByWorkers,
  patience,
  settings,
  sumOf,
  tenants,
  up,
  useWorkers,
  workers,
} from "../harness/workers.ts"

const secretHeader = "x-polyplane-forwarded"
const listPath = (tenant: string): string => `/tenants/${tenant}/api/v1/namespaces/default/configmaps`

useWorkers()

test("all processes write the audit log, and begin a new file after SIGHUP", async () => {
  /** Which of the tenants' requests are in the file. */
  const tenantsIn = async (file: string): Promise<string[]> => {
    const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "")
    const entries = lines.map((line) => JSON.parse(line) as { tenant: string; resource: string })
    return [...new Set(entries.filter(({ resource }) => resource === "secrets").map(({ tenant }) => tenant))].sort()
  }
  const requestAll = () => Promise.all(tenants.map((kubeconfig) => up.kubectl(["get", "secrets"], { kubeconfig })))
  await requestAll()
  await rename(auditLog, `${auditLog}.1`)
  // A line follows its response.
  await eventually(async () => (await tenantsIn(`${auditLog}.1`)).length === tenants.length, patience)
  process.kill(up.pid ?? 0, "SIGHUP")
  await eventually(async () => {
    await requestAll()
    return (await tenantsIn(auditLog)).length === tenants.length
  }, patience)
})

describe("with --workers", () => {
  test("tenants are distributed, and metrics have a label of their process", async () => {
    const held = await heldByWorkers()
    expect([...held.keys()].sort()).toEqual(["worker-1", "worker-2", "worker-3"])
    expect(sumOf(held)).toBe(tenants.length)
    expect([...held.values()].filter((count) => count > 0).length).toBeGreaterThan(1)
    const metrics = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
    expect(metrics).toContain(`polyplane_tenants{process="primary"} ${tenants.length}\n`)
  })

  test.runIf(process.platform === "linux")("clients that vanish are noticed", async () => {
    const { hostname: host, port } = new URL(up.url)
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
    await once(socket, "secureConnect")
    await expect.poll(async () => [...new Set(await areProbed(Number(port)))]).toEqual([true])
    socket.destroy()
  })

  test("every process responds for every tenant", async () => {
    // Each call uses a new connection, and connections are distributed round-robin.
    for (const tenant of tenants.slice(0, 4)) {
      const credential = certificateOf(await up.readKubeconfig(tenant))
      for (let turn = 0; turn < 2 * workers; turn++) {
        const name = `by-${turn}`
        const written = await call(up.url, {
          ...credential,
          method: "POST",
          path: listPath(tenant),
          body: JSON.stringify(settings(name)),
        })
        expect([written.status, written.headers["content-type"]]).toEqual([201, "application/json"])
        const read = await call(up.url, { ...credential, path: `${listPath(tenant)}/${name}` })
        expect([read.status, (JSON.parse(read.text) as KubeObject).metadata.name]).toEqual([200, name])
      }
    }
  }, 120_000)

  test("a changed quota reaches the worker that has the tenant", async () => {
    const patch = ["patch", "virtualcluster", "team-2", "--type=merge", "--patch"]
    await up.kubectl([...patch, '{"spec":{"quota":{"objects":1}}}'], { kubeconfig: "admin" })
    const create = (name: string) => up.tryKubectl(["create", "configmap", name], { kubeconfig: "team-2" })
    await eventually(async () => /limited: objects=1$/m.test((await create("beyond")).stderr), patience)
    await up.kubectl([...patch, '{"spec":{"quota":null}}'], { kubeconfig: "admin" })
    await eventually(async () => (await create("within")).code === 0, patience)
  }, 120_000)

  test("a credential identifies its tenant in every process", async () => {
    const credential = certificateOf(await up.readKubeconfig("team-1"))
    const token = (
      await up.kubectl(["create", "token", "default", "-n", "kube-system"], { kubeconfig: "team-1" })
    ).trim()
    for (const given of [credential, { token }]) {
      for (let turn = 0; turn < workers; turn++) {
        const { status, text } = await call(up.url, {
          ...given,
          method: "POST",
          path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
          body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
        })
        expect([status, /"username":"([^"]+)"/.exec(text)?.[1]]).toEqual([
          201,
          "token" in given ? "system:serviceaccount:kube-system:default" : "admin",
        ])
      }
    }
  }, 120_000)

  test("a session of a new user: pods, logs, exec and port-forward", async () => {
    for (const kubeconfig of ["team-0", "team-1"]) {
      await up.kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=2"], { kubeconfig })
      await up.kubectl(["expose", "deployment", "web", "--port=80"], { kubeconfig })
    }
    for (const kubeconfig of ["team-0", "team-1"]) {
      await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=60s"], { kubeconfig, ...patience })
      for (let turn = 0; turn < workers; turn++) {
        expect(await up.kubectl(["exec", "deploy/web", "--", "hostname"], { kubeconfig })).toMatch(/^web-/)
        expect(await up.kubectl(["exec", "-i", "deploy/web", "--", "cat"], { kubeconfig, input: "typed\n" })).toBe(
          "typed\n",
        )
      }
      expect(await up.kubectl(["logs", "deploy/web"], { kubeconfig })).not.toBe("")
    }
    const child = start("kubectl", ["port-forward", "deploy/web", ":80"], {
      env: up.environment("team-1"),
      stdio: "pipe",
    })
    try {
      const stdout = collect(child.stdout)
      const port = await eventually(() => /Forwarding from 127\.0\.0\.1:(\d+)/.exec(stdout())?.[1], patience)
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
    } finally {
      child.kill()
    }
  }, 180_000)
})

describe("identities cannot be forged", () => {
  const forged = ["guess 1 e30", `${"A".repeat(43)} 1 ${Buffer.from('{"certificates":[]}').toString("base64url")}`, ""]

  test("the internal header is ignored in requests of clients", async () => {
    const credential = certificateOf(await up.readKubeconfig("team-0"))
    const admin = Buffer.from(certificateOf(await up.readKubeconfig("admin")).certificate).toString("base64")
    for (const value of [...forged, `x 1 ${Buffer.from(`{"certificates":["${admin}"]}`).toString("base64url")}`]) {
      for (const target of [listPath("team-1"), "/polyplane/v1/tenants"]) {
        for (let turn = 0; turn < workers; turn++) {
          const { status } = await call(up.url, { ...credential, path: target, headers: { [secretHeader]: value } })
          expect([target, value, status]).toEqual([target, value, 401])
        }
      }
      const { status } = await call(up.url, {
        ...credential,
        path: listPath("team-0"),
        headers: { [secretHeader]: value },
      })
      expect(status).toBe(200)
    }
  })

  test("the private sockets are accessible only for this user and with the secret", async () => {
    const directory = path.join(up.dataDir, "run")
    expect((await stat(directory)).mode & 0o777).toBe(0o700)
    for (const socket of ["0.sock", "1.sock", "2.sock", "3.sock"]) {
      for (const headers of [{}, ...forged.map((value) => ({ [secretHeader]: value }))]) {
        const status = await new Promise((resolve, reject) => {
          const socketPath = path.join(directory, socket)
          request({ socketPath, path: listPath("team-0"), headers }, (response) => {
            response.resume()
            resolve(response.statusCode)
          })
            .on("error", reject)
            .end()
        })
        expect([socket, status]).toEqual([socket, 401])
      }
    }
  })
})
