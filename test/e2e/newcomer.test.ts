// The first session of a new user: the commands after `npm start`, with real kubectl and a real process.

import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { parse, stringify } from "yaml"
import { eventually } from "../harness/eventually.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"
import { collect, start } from "../harness/processes.ts"

let up: Polyplane

beforeAll(async () => {
  up = await startPolyplane()
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

interface Named {
  metadata: { name: string; namespace?: string; uid: string }
}

async function list<T extends Named>(kubeconfig: string, ...resource: string[]): Promise<T[]> {
  return (JSON.parse(await up.kubectl(["get", ...resource, "-o", "json"], { kubeconfig })) as { items: T[] }).items
}

/** A kubeconfig for the same tenant without a credential. */
async function withoutUser(kubeconfig: string): Promise<string> {
  const file = `${kubeconfig}.nobody`
  await writeFile(file, stringify({ ...(parse(await readFile(kubeconfig, "utf8")) as object), users: [] }))
  return file
}

async function whoAmI(kubeconfig: string, flags: string[] = []): Promise<string> {
  const input = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
  const review = ["create", "--raw", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "-f", "-", ...flags]
  const answer = JSON.parse(await up.kubectl(review, { kubeconfig, input })) as {
    status: { userInfo: { username: string } }
  }
  return answer.status.userInfo.username
}

const uids = (objects: Named[]) => objects.map(({ metadata }) => metadata.uid).sort()

describe("a session of a new user", () => {
  test("kubectl can connect to the server", async () => {
    expect(await up.kubectl(["version", "--client"])).toContain("Client Version")
    expect(await up.kubectl(["version"])).toMatch(/Server Version: v1\.36\./)
    expect(await up.kubectl(["cluster-info"])).toContain("is running at")
  })

  test("a deployment is created, exposed and rolled out", async () => {
    expect(await up.kubectl(["create", "deployment", "web", "--image=nginx", "--replicas=3"])).toBe(
      "deployment.apps/web created\n",
    )
    expect(await up.kubectl(["expose", "deployment", "web", "--port=80"])).toBe("service/web exposed\n")
    expect(await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=50s"])).toContain(
      'deployment "web" successfully rolled out\n',
    )
  })

  test("its pods run on nodes that are visible to the tenant", async () => {
    const pods = (await up.kubectl(["get", "pods", "-o", "wide"])).trimEnd().split("\n")
    expect(pods[0]).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES$/)
    expect(pods).toHaveLength(4)
    for (const pod of pods.slice(1)) expect(pod).toMatch(/^web-\S+ +1\/1 +Running +0 +\S+ +\d+\.\d+\.\d+\.\d+ +\S+ /)
    const nodes = (await up.kubectl(["get", "nodes"])).trimEnd().split("\n")
    expect(nodes[0]).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION$/)
    const ready = nodes.slice(1).map((line) => {
      expect(line).toMatch(/^\S+ +Ready /)
      return line.split(/ +/)[0]
    })
    for (const pod of pods.slice(1)) expect(ready).toContain(pod.split(/ +/)[6])
  })

  test("events are recorded", async () => {
    const reasons = await eventually(
      async () => {
        const events = await list<Named & { reason: string }>("demo", "events")
        const seen = new Set(events.map(({ reason }) => reason))
        return ["ScalingReplicaSet", "SuccessfulCreate", "Scheduled", "Started"].every((each) => seen.has(each)) && seen
      },
      { what: "events of deployment, replica set, scheduler and kubelet" },
    )
    expect(reasons).toContain("Pulled")
    expect(await up.kubectl(["get", "events"])).toMatch(/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/)
  })

  test("logs and exec work", async () => {
    expect(await up.kubectl(["logs", "deploy/web"])).not.toBe("")
    const names = (await list("demo", "pods", "-l", "app=web")).map(({ metadata }) => metadata.name)
    expect(names).toContain((await up.kubectl(["exec", "deploy/web", "--", "hostname"])).trim())
    const failed = await up.tryKubectl(["exec", "deploy/web", "--", "false"])
    expect(failed).toMatchObject({ code: 1 })
    expect(await up.kubectl(["exec", "-i", "deploy/web", "--", "cat"], { input: "typed\n" })).toBe("typed\n")
  })

  test("describe shows a pod with its events", async () => {
    const description = await up.kubectl(["describe", "pod", "-l", "app=web"])
    expect(description).toMatch(/^Name: +web-/m)
    expect(description).toMatch(/^Status: +Running$/m)
    expect(description).toMatch(/^Controlled By: +ReplicaSet\/web-/m)
    expect(description).toMatch(/^ +Normal +Scheduled /m)
  })

  test("the service has its address in the super cluster, and endpoints", async () => {
    const [slice] = await eventually(async () => {
      const slices = await list<Named & { endpoints: { addresses: string[] }[] | null }>(
        "demo",
        "endpointslices",
        "-l",
        "kubernetes.io/service-name=web",
      )
      return slices[0]?.endpoints?.length === 3 && slices
    })
    expect(slice?.endpoints).toHaveLength(3)
    const own = (await up.kubectl(["get", "service", "web", "-o", "jsonpath={.spec.clusterIP}"])).trim()
    const all = await list<Named & { spec: { clusterIP: string } }>("admin", "services", "-A")
    expect(all.filter(({ metadata }) => metadata.name === "web").map(({ spec }) => spec.clusterIP)).toEqual([own])
  })

  test("port-forward carries HTTP to a pod", async () => {
    const child = start("kubectl", ["port-forward", "deploy/web", ":80"], { env: up.environment(), stdio: "pipe" })
    try {
      const stdout = collect(child.stdout)
      const port = await eventually(() => /Forwarding from 127\.0\.0\.1:(\d+)/.exec(stdout())?.[1], {
        what: "kubectl port-forward",
      })
      const response = await fetch(`http://127.0.0.1:${port}/`)
      expect(response.status).toBe(200)
      expect(await response.text()).not.toBe("")
    } finally {
      child.kill()
    }
  })

  test("a deleted volume claim is removed from the super cluster with its volume, and can be created again", async () => {
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
    }
    const stored = async () => uids(await list("admin", "persistentvolumeclaims,persistentvolumes", "-A"))
    const create = async () => {
      await up.kubectl(["create", "-f", "-"], { input: JSON.stringify(claim) })
      await up.kubectl(["wait", "--for=jsonpath={.status.phase}=Bound", "pvc/data", "--timeout=50s"])
    }
    await create()
    const first = await stored()
    expect(first).toHaveLength(2)
    await up.kubectl(["delete", "pvc", "data", "--timeout=50s"])
    await create()
    await eventually(async () => !(await stored()).some((uid) => first.includes(uid)), { what: "removal of the first" })
    await up.kubectl(["delete", "pvc", "data", "--timeout=50s"])
    await eventually(async () => (await stored()).length === 0, { what: "removal of claim and volume" })
  })

  test("the super cluster's administrator sees every tenant's pods and services", async () => {
    const view = await up.kubectl(["get", "virtualclusters,pods,services", "-A"], { kubeconfig: "admin" })
    expect(view).toMatch(/virtualcluster\.tenancy\.x-k8s\.io\/demo/)
    // The columns of the original VirtualCluster project.
    const columns = await up.kubectl(["get", "virtualclusters", "-A"], { kubeconfig: "admin" })
    expect(columns).toMatch(/^NAMESPACE +NAME +AGE +PHASE +CLUSTERVERSION\n/)
    expect(view.match(/^default-[0-9a-f]{6}-demo-default +pod\/web-/gm)).toHaveLength(3)
    expect(view).toMatch(/^default-[0-9a-f]{6}-demo-default +service\/web /m)
  })

  test("a quota of the super cluster counts what comes and goes there", async () => {
    const admin = { kubeconfig: "admin" } as const
    await up.kubectl(["create", "quota", "limit", "--hard=count/secrets=1", "-n", "default"], admin)
    const used = (count: string): Promise<unknown> =>
      up.kubectl(
        ["wait", `--for=jsonpath={.status.used.count/secrets}=${count}`, "quota/limit", "--timeout=50s"],
        admin,
      )
    const create = (name: string): Promise<string> =>
      up.kubectl(["create", "secret", "generic", name, "-n", "default"], admin)
    await used("0")
    await create("a")
    await expect(create("b")).rejects.toThrow("exceeded quota: limit")
    await up.kubectl(["delete", "secret", "a", "-n", "default"], admin)
    await used("0")
    await up.kubectl(["delete", "quota", "limit", "-n", "default"], admin)
  })

  test("another tenant is created and listed, and does not see the first one's objects", async () => {
    const { stdout, code } = await up.cli(["tenant", "create", "team-b"])
    expect(stdout).toContain(up.kubeconfig("team-b"))
    expect(code).toBe(0)
    const namespaces = await list("team-b", "namespaces")
    expect(namespaces.map(({ metadata }) => metadata.name)).toEqual([
      "default",
      "kube-node-lease",
      "kube-public",
      "kube-system",
    ])
    expect(await list("team-b", "pods", "-A")).toEqual([])
    expect((await up.cli(["tenant", "list"])).stdout).toMatch(/^demo +default +Running [^]*^team-b +default +Running /m)
  })

  test("a tenant's VirtualCluster, kubeconfig and tokens are printed", async () => {
    const shown = await up.cli(["tenant", "get", "team-b"])
    expect(shown).toMatchObject({ code: 0, stderr: "" })
    expect(parse(shown.stdout)).toMatchObject({ kind: "VirtualCluster", metadata: { name: "team-b" } })
    const printed = await up.cli(["tenant", "kubeconfig", "team-b"])
    expect(printed).toMatchObject({ code: 0, stdout: await up.readKubeconfig("team-b") })
    const written = await up.cli(["tenant", "kubeconfig", "team-b", "--output", up.path("team-b.kubeconfig")])
    expect(written).toMatchObject({ code: 0 })
    const kubeconfig = up.path("team-b.kubeconfig")
    expect(await whoAmI(kubeconfig)).toBe("admin")
    const { stdout, code } = await up.cli(["tenant", "token", "team-b", "--duration", "600"])
    expect(code).toBe(0)
    const token = ["--token", stdout.trim()]
    expect(await whoAmI(await withoutUser(kubeconfig), token)).toBe("system:serviceaccount:default:default")
  })

  test("quota and controllers of a tenant can be changed, what else it was made with cannot, and all is explained", async () => {
    const patch = ["patch", "virtualcluster", "team-b", "--type=merge", "--patch"]
    await up.kubectl([...patch, '{"spec":{"controllers":false,"quota":{"objects":1}}}'], { kubeconfig: "admin" })
    const quota = ["virtualcluster", "team-b", "--for=jsonpath={.status.quota.objects}=1", "--timeout=50s"]
    await up.kubectl(["wait", ...quota], { kubeconfig: "admin" })
    const refused = await up.tryKubectl(["create", "configmap", "beyond"], { kubeconfig: "team-b" })
    expect(refused.stderr).toMatch(/exceeded quota: tenant, .*limited: objects=1$/m)
    await up.kubectl([...patch, '{"spec":{"controllers":true,"quota":null}}'], { kubeconfig: "admin" })
    await eventually(() => up.kubectl(["create", "configmap", "beyond"], { kubeconfig: "team-b" }))
    for (const spec of ['{"opaqueMetaPrefixes":["a"]}', '{"clusterDomain":"a.example"}']) {
      const changed = await up.tryKubectl([...patch, `{"spec":${spec}}`], { kubeconfig: "admin" })
      expect(changed.stderr).toMatch(/read when the tenant is made and cannot be (changed|added or removed) later/)
    }
    await up.kubectl([...patch, '{"metadata":{"labels":{"team":"b"}}}'], { kubeconfig: "admin" })
    const described = await up.kubectl(["describe", "virtualcluster", "team-b"], { kubeconfig: "admin" })
    expect(described).toMatch(/^ +Message: +tenant "team-b" is served\n +Phase: +Running$/m)
    expect(described).toMatch(/^ +Normal +TenantControlPlaneRunning .*tenant "team-b" is served$/m)
    const wide = await up.kubectl(["get", "virtualclusters", "-o", "wide"], { kubeconfig: "admin" })
    expect(wide).toMatch(/^team-b +\S+ +Running +default +default-[0-9a-f]{6}-team-b +tenant "team-b" is served$/m)
    const explained = await up.kubectl(["explain", "virtualcluster.status"], { kubeconfig: "admin" })
    for (const field of ["message", "phase", "reason"])
      expect(explained).toMatch(new RegExp(`${field}\t<string>\n +\\w`))
  })

  test("a namespace is deleted with its contents, also in the super cluster", async () => {
    await up.kubectl(["create", "namespace", "short"])
    await up.kubectl(["-n", "short", "create", "configmap", "settings", "--from-literal=a=b"])
    await up.kubectl(["-n", "short", "run", "one", "--image=busybox", "--", "sleep", "3600"])
    await up.kubectl(["-n", "short", "wait", "--for=condition=Ready", "pod/one", "--timeout=50s"])
    await up.kubectl(["delete", "namespace", "short", "--timeout=50s"])
    await eventually(
      async () =>
        !(await list("admin", "namespaces")).some(({ metadata }) => metadata.name.endsWith("-demo-short")) || undefined,
      { what: "the super cluster's copy of the namespace gone" },
    )
  })

  test.each([
    ["kill -9", () => up.kill()],
    ["an orderly end", () => up.stop()],
  ])("after %s and a restart all tenants and pods are restored", async (_end, end) => {
    const before = {
      pods: uids(await list("demo", "pods")),
      superPods: uids(await list("admin", "pods", "-A")),
      clusters: uids(await list("admin", "virtualclusters", "-A")),
    }
    await end()
    await up.start()
    expect(uids(await list("admin", "virtualclusters", "-A"))).toEqual(before.clusters)
    expect(uids(await list("demo", "pods"))).toEqual(before.pods)
    expect(uids(await list("admin", "pods", "-A"))).toEqual(before.superPods)
    expect(await up.kubectl(["get", "namespaces"], { kubeconfig: "team-b" })).toContain("default")
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=50s"])
    const hostname = await eventually(() => up.kubectl(["exec", "deploy/web", "--", "hostname"]))
    expect(hostname).toMatch(/^web-/)
    const replicas = before.pods.length + 1
    await up.kubectl(["scale", "deployment", "web", `--replicas=${replicas}`])
    await up.kubectl(["rollout", "status", "deployment", "web", "--timeout=50s"])
    expect(await list("demo", "pods")).toHaveLength(replicas)
  })

  test("a tenant is deleted with its objects in the super cluster", async () => {
    expect(await up.cli(["tenant", "delete", "team-b"])).toMatchObject({ code: 0, stdout: 'tenant "team-b" deleted\n' })
    // Namespaces are deleted asynchronously, after their contents.
    const left = async () =>
      (await list("admin", "namespaces")).filter(({ metadata }) => metadata.name.includes("team-b"))
    await expect.poll(left, { timeout: 60_000 }).toEqual([])
    expect((await up.cli(["tenant", "get", "team-b"])).stderr).toContain('there is no tenant "team-b"')
  })

  test("the process exits on request with code 0, without output on standard error", async () => {
    expect(await up.stop()).toBe(0)
    // On a slow machine the program reports that it is starting, or stopping.
    expect(up.stderr.replace(/^… (starting|stopping) .*\n/gm, "")).toBe("")
  })
})
