// A data directory is restored from a backup, while the super cluster has moved on: objects created since are deleted there,
// objects deleted since run again, and the tenants are those with a VirtualCluster.

import { cp, rename, rm } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { pods, virtualClusters } from "../../client/resources.ts"
import { eventually } from "../harness/eventually.ts"
import { polyplane, startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { SuperCluster } from "../harness/super-cluster.ts"

let cluster: SuperCluster
let up: Polyplane

beforeAll(async () => {
  cluster = await SuperCluster.start()
  up = await startPolyplane({ args: ["--super-kubeconfig", cluster.kubeconfig, "--tenants", "kept,gone"] })
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
  await cluster?.[Symbol.asyncDispose]()
})

/** Sorted names of deployments with pods in the super cluster. */
async function running(): Promise<string[]> {
  const { items } = await cluster.client.list<Pod>(pods)
  const apps = items.map(({ metadata }) => metadata.labels?.["app"] ?? "").filter((app) => app !== "")
  return [...new Set(apps)].toSorted()
}

const deploy = (kubeconfig: string, name: string): Promise<string> =>
  up.kubectl(["create", "deployment", name, "--image=nginx"], { kubeconfig })

async function tenant(...args: string[]): Promise<void> {
  const { code, stderr } = await polyplane(["tenant", ...args, "--kubeconfig", cluster.kubeconfig])
  expect(stderr).toBe("")
  expect(code).toBe(0)
}

async function list(): Promise<string> {
  return (await polyplane(["tenant", "list", "--kubeconfig", cluster.kubeconfig])).stdout
}

describe("an older data directory", () => {
  test("is authoritative, and the super cluster follows", async () => {
    await deploy("kept", "early")
    await deploy("gone", "other")
    await eventually(async () => expect(await running()).toEqual(["early", "other"]))
    expect(await up.stop()).toBe(0)
    const backup = `${up.dataDir}.backup`
    await cp(up.dataDir, backup, { recursive: true })
    await up.start()

    await deploy("kept", "late")
    await up.kubectl(["delete", "deployment", "early"], { kubeconfig: "kept" })
    await tenant("delete", "gone")
    await tenant("create", "new")
    await eventually(async () => expect(await running()).toEqual(["late"]))
    expect(await up.stop()).toBe(0)
    await rm(up.dataDir, { recursive: true })
    await cp(backup, up.dataDir, { recursive: true })
    await rm(backup, { recursive: true })
    await up.start()

    // Changes in the super cluster never delete a tenant; the missing VirtualCluster is only reported.
    await eventually(async () => expect(await running()).toEqual(["early", "other"]))
    expect(await up.kubectl(["get", "deployments", "-o", "name"], { kubeconfig: "kept" })).toBe(
      "deployment.apps/early\n",
    )
    expect(await list()).toMatch(/^kept .* Running /m)
    expect(await list()).toMatch(/^new .* Running /m)
    expect(await list()).not.toMatch(/^gone /m)
    const [, uid = ""] = /VirtualCluster was deleted: .* tenancy\.x-k8s\.io\/adopt=([\w-]+)/.exec(up.stderr) ?? []
    expect(uid).not.toBe("")

    const apiVersion = "tenancy.x-k8s.io/v1alpha1"
    const metadata = { name: "gone", namespace: "default" }
    const spec = { clusterVersionName: "default" }
    await cluster.client.create(virtualClusters, { apiVersion, kind: "VirtualCluster", metadata, spec } as KubeObject)
    await eventually(async () => expect(await list()).toContain(`annotate this one with tenancy.x-k8s.io/adopt=${uid}`))
    await cluster.client.patch(
      virtualClusters,
      "default",
      "gone",
      { metadata: { annotations: { "tenancy.x-k8s.io/adopt": uid } } },
      { type: "merge" },
    )
    await eventually(async () => expect(await list()).toMatch(/^gone .* Running /m))
    expect(await up.kubectl(["get", "deployments", "-o", "name"], { kubeconfig: "gone" })).toBe(
      "deployment.apps/other\n",
    )
    await tenant("delete", "gone")
    await eventually(async () => expect(await running()).toEqual(["early"]))
    expect((await up.tryKubectl(["get", "ns"], { kubeconfig: "gone" })).code).not.toBe(0)
  })
})

describe("a data directory without the store of a tenant", () => {
  test("does not give the tenant an empty one: its VirtualCluster says so, and it runs again when the store is back", async () => {
    const { items } = JSON.parse(
      await up.kubectl(["get", "--raw", "/polyplane/v1/tenants"], { kubeconfig: "admin" }),
    ) as { items: { name: string; uid: string }[] }
    const store = path.join(up.dataDir, "stores", items.find(({ name }) => name === "kept")?.uid ?? "")
    expect(await up.stop()).toBe(0)
    await rename(store, `${up.dataDir}.store`)
    const checked = await polyplane(["check", "--data-dir", up.dataDir])
    expect(checked.stdout).toMatch(/^tenant "kept": its store [\w-]+ is missing$/m)
    await up.start()

    await eventually(async () => expect(await list()).toMatch(/^kept .* Error .*is missing/m), { timeoutMs: 120_000 })
    expect(await list()).toMatch(/^new .* Running /m)
    const refused = await up.tryKubectl(["get", "deployments"], { kubeconfig: "kept" })
    expect(refused.stderr).toMatch(/is missing/)
    // Its pods are still there.
    expect(await running()).toEqual(["early"])
    const reported = await cluster.client.get<KubeObject & { status?: object }>(virtualClusters, "default", "kept")
    expect(reported.status).toMatchObject({
      reason: "TenantStoreUnusable",
      conditions: [{ type: "Ready", status: "False", reason: "TenantStoreUnusable" }],
    })

    expect(await up.stop()).toBe(0)
    await rename(`${up.dataDir}.store`, store)
    await up.start()
    await eventually(async () => expect(await list()).toMatch(/^kept .* Running /m))
    expect(await up.kubectl(["get", "deployments", "-o", "name"], { kubeconfig: "kept" })).toBe(
      "deployment.apps/early\n",
    )
  }, 240_000)
})
