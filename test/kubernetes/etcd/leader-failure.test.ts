// Two whole `polyplane up` share an etcd and a super cluster that is a real Kubernetes. Both answer for the same tenants; one of
// them works for them. When that one is killed under load the other takes the work over: nothing acknowledged is missing, no
// watch has a gap, and pods go on arriving.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject, Pod } from "../../../apimachinery/object.ts"
import { createHttpClient } from "../../../client/http/client.ts"
import { loadKubeconfig } from "../../../client/credentials/kubeconfig.ts"
import { configMaps, leases, pods } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { eventually } from "../../harness/eventually.ts"
import { polyplane, startPolyplane, type Polyplane } from "../../harness/polyplane.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import { TestEtcd } from "./test-etcd.ts"

const options = { nodes: 2, controllerManager: true, scheduler: true }
const tenant = "team-a"
const leaseNames = ["polyplane-controllers", "polyplane-operator", "polyplane-syncer"]
/** Nothing here is about time; this is how long a loaded machine may take. */
const patience = { timeoutMs: 180_000 }

const settings = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
})

describe.skipIf(lacks(TestKubernetes.binaries(options)))("two `polyplane up` on one etcd", () => {
  const stack = new AsyncDisposableStack()
  let kubernetes: TestKubernetes
  let first: Polyplane
  let second: Polyplane
  /** In the Leases. */
  let firstIdentity: string

  beforeAll(async () => {
    kubernetes = stack.use(await TestKubernetes.start(options))
    const etcd = stack.use(await TestEtcd.start({ durable: true }))
    const args = ["--storage", "etcd", "--etcd-servers", etcd.servers.join(","), "--tenants", tenant]
    const start = async (): Promise<Polyplane> =>
      stack.use(
        await startPolyplane({
          args: ["--super-kubeconfig", kubernetes.kubeconfig, ...args],
          readyTimeoutMs: patience.timeoutMs,
        }),
      )
    first = await start()
    firstIdentity = await eventually(async () => {
      const [held, ...others] = await holders()
      return held !== undefined && others.every((other) => other === held) && held
    }, patience)
    second = await start()
  }, 600_000)

  afterAll(() => stack.disposeAsync())

  /** Of all Leases, in their order. */
  async function holders(): Promise<(string | undefined)[]> {
    const { items } = await kubernetes.client.list<KubeObject & { spec?: { holderIdentity?: string } }>(leases, {
      namespace: "kube-system",
    })
    const held = new Map(items.map(({ metadata, spec }) => [metadata.name, spec?.holderIdentity]))
    return leaseNames.map((name) => held.get(name))
  }

  const clientOf = async (up: Polyplane): Promise<KubeClient> =>
    stack.use(createHttpClient(await loadKubeconfig(await up.readKubeconfig(tenant))))

  const kubectl = (up: Polyplane, ...args: string[]) => up.kubectl(args, { kubeconfig: tenant, ...patience })

  /** What the super cluster runs for the tenant. */
  const running = async (name: RegExp): Promise<string[]> =>
    (await kubernetes.client.list<Pod>(pods)).items
      .filter(({ metadata, status }) => name.test(metadata.name ?? "") && status?.phase === "Running")
      .map(({ metadata }) => metadata.name ?? "")

  test("both answer for the tenant, and what was asked of either is done once", { timeout: 400_000 }, async () => {
    await kubectl(first, "create", "deployment", "one", "--image=nginx", "--replicas=2")
    await kubectl(second, "create", "deployment", "two", "--image=nginx", "--replicas=2")
    for (const up of [first, second]) {
      for (const name of ["one", "two"])
        await kubectl(up, "rollout", "status", `deployment/${name}`, `--timeout=${patience.timeoutMs / 1000}s`)
    }
    for (const name of [/^one-/, /^two-/]) expect(await running(name)).toHaveLength(2)
    // Which of them signed it or says so makes no difference.
    const credentials = await second.readKubeconfig(tenant)
    expect(await second.kubectl(["get", "deployments", "-o", "name"], { kubeconfig: first.kubeconfig(tenant) })).toBe(
      "deployment.apps/one\ndeployment.apps/two\n",
    )
    expect(credentials).toContain(second.url)
  })

  test("the one that leads is killed under load", { timeout: 600_000 }, async () => {
    const [mine, others] = [await clientOf(first), await clientOf(second)]
    const seen: string[] = []
    const ending = new AbortController()
    const { metadata } = await others.list(configMaps, { namespace: "default" })
    const watching = (async () => {
      const from = { namespace: "default", resourceVersion: metadata.resourceVersion, signal: ending.signal }
      for await (const { type, object } of others.watch(configMaps, from))
        if (type === "ADDED") seen.push(object.metadata.name ?? "")
    })()

    const acknowledged: string[] = []
    const write = async (client: KubeClient, writer: string, until: AbortSignal): Promise<void> => {
      for (let i = 0; !until.aborted; i++) {
        const name = `${writer}-${i}`
        try {
          await client.create(configMaps, settings(name))
        } catch (error) {
          if (client === others) throw error
          return // it has been killed; what it did not acknowledge may be there or not
        }
        acknowledged.push(name)
      }
    }
    const stopping = new AbortController()
    const writing = [0, 1].flatMap((i) => [
      write(mine, `mine-${i}`, stopping.signal),
      write(others, `others-${i}`, stopping.signal),
    ])
    const count = (of: string) => acknowledged.filter((name) => name.startsWith(of)).length
    await eventually(() => count("mine") >= 50 && count("others") >= 50, patience)
    await kubectl(first, "create", "deployment", "late", "--image=nginx", "--replicas=3")
    await first.kill()
    const before = count("others")
    await eventually(() => count("others") >= before + 50, patience)

    await kubectl(second, "rollout", "status", "deployment/late", `--timeout=${patience.timeoutMs / 1000}s`)
    expect(await running(/^late-/)).toHaveLength(3)
    expect((await holders()).filter((held) => held === firstIdentity)).toEqual([])
    stopping.abort()
    await Promise.all(writing)

    const { items } = await others.list(configMaps, { namespace: "default" })
    const written = items.map((item) => item.metadata.name ?? "").filter((name) => /^(mine|others)-/.test(name))
    expect(written).toEqual(expect.arrayContaining(acknowledged))
    await eventually(() => seen.length >= written.length, patience)
    ending.abort()
    await watching.catch(() => undefined) // the abort
    expect(seen.sort()).toEqual(written.sort())
  })

  test(
    "tenants are made by the one that is left, and the other finds them when it is back",
    { timeout: 600_000 },
    async () => {
      const created = await polyplane(["tenant", "create", "team-b", "--kubeconfig", kubernetes.kubeconfig], patience)
      expect(created).toMatchObject({ stderr: "", code: 0 })
      await first.start()
      const admin = { kubeconfig: "admin", ...patience }
      expect(await first.kubectl(["get", "--raw", "/tenants/team-b/api/v1/namespaces/default"], admin)).toContain(
        '"name":"default"',
      )
      expect(await kubectl(first, "get", "deployments", "-o", "name")).toContain("deployment.apps/late")
      await kubectl(first, "scale", "deployment/late", "--replicas=1")
      await eventually(async () => (await running(/^late-/)).length === 1, patience)
    },
  )
})
