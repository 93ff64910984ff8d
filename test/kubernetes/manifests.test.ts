// The installation that manifests/ describes, on real nodes: every part is a workload with just the rights it is given there,
// and a tenant's day works from the outside in.

import { chown, cp, mkdir, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { parse, stringify } from "yaml"
import type { Pod } from "../../apimachinery/object.ts"
import { pods } from "../../client/resources.ts"
import { eventually } from "../harness/eventually.ts"
import { temporaryFolder } from "../harness/folders.ts"
import { polyplane, repository } from "../harness/polyplane.ts"
import { succeed } from "../harness/processes.ts"
import { lacks } from "./harness/needs.ts"
import { whyNoNodes } from "./node/machine.ts"
import { makePolyplaneImage } from "./node/polyplane-image.ts"
import { RealKubernetes } from "./node/real-kubernetes.ts"

const image = { name: "registry.example/polyplane", tag: "of-this-tree" }
const agnhost = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
/** Of the manifests: who all containers run as. */
const user = 65532
const startTimeoutMs = 240_000
const timeoutMs = 240_000
const namespace = "polyplane-system"
const curl = ["curl", "--silent", "--max-time", "5"]

describe.skipIf(lacks([], await whyNoNodes()))("the manifests on real nodes", { timeout: timeoutMs }, () => {
  let kubernetes: RealKubernetes
  let folder: string

  beforeAll(async () => {
    folder = await temporaryFolder("polyplane-manifests")
    const archive = path.join(folder, "polyplane.tar")
    // Settled, both of them: what has started is to be ended whatever became of the other.
    const [started, made] = await Promise.allSettled([
      RealKubernetes.start({ nodes: 2 }).then((it) => (kubernetes = it)),
      makePolyplaneImage(`${image.name}:${image.tag}`, archive),
    ])
    for (const each of [started, made]) if (each.status === "rejected") throw each.reason
    await loadImage(kubernetes, archive)
  }, startTimeoutMs)

  afterAll(async () => {
    await kubernetes?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }, timeoutMs)

  /** The last output of the parts says why. */
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return
    for (const part of ["gateway", "operator", "syncer", "vn-agent"]) {
      const ofPart = ["--selector", `app.kubernetes.io/name=polyplane-${part}`, "--tail=20", "--prefix"]
      console.log(await inSuper("logs", "-n", namespace, ...ofPart).catch(String))
    }
  })

  const inSuper = (...args: string[]) =>
    succeed("kubectl", ["--kubeconfig", kubernetes.kubeconfig, ...args], { timeoutMs: timeoutMs - 10_000 })
  const file = (name: string) => path.join(kubernetes.directory, name)
  /** From a node, where the addresses of services lead somewhere. */
  const kubectl = async (...args: string[]) => {
    const address = await inSuper("get", "service", "gateway", "-n", namespace, "-o", "jsonpath={.spec.clusterIP}")
    const { clusters } = parse(await succeed("cat", [file("team-a.kubeconfig")])) as Kubeconfig
    const server = new URL(clusters[0]?.cluster.server ?? "")
    expect(server.host).toBe("gateway.polyplane-system.svc:6443")
    const verified = ["--tls-server-name", server.hostname]
    server.hostname = address
    const how = ["--kubeconfig", file("team-a.kubeconfig"), "--server", server.href, ...verified]
    return kubernetes.onNode(1, ["kubectl", ...how, ...args])
  }

  test("are applied as they stand, but for the name of the image, and every part becomes ready", async () => {
    await writeFile(
      file("prerequisites.yaml"),
      prerequisites(kubernetes)
        .map((each) => stringify(each))
        .join("---\n"),
    )
    await succeed("kubectl", ["apply", "--kubeconfig", kubernetes.kubeconfig, "-f", file("prerequisites.yaml")])
    await cp(path.join(repository, "manifests"), file("manifests"), { recursive: true })
    const kustomization = parse(await succeed("cat", [file("manifests/kustomization.yaml")])) as Kustomization
    kustomization.images = [{ name: "polyplane", newName: image.name, newTag: image.tag }]
    await writeFile(file("manifests/kustomization.yaml"), stringify(kustomization))
    await inSuper("apply", "--kustomize", file("manifests"))
    for (const part of ["statefulset/gateway", "deployment/operator", "deployment/syncer", "daemonset/vn-agent"])
      await inSuper("rollout", "status", part, "-n", namespace, "--timeout=100s")
  })

  test("a VirtualCluster becomes a tenant", async () => {
    await writeFile(file("team-a.yaml"), stringify(virtualCluster))
    await inSuper("apply", "-f", file("team-a.yaml"))
    await inSuper("wait", "virtualcluster/team-a", "--for=jsonpath={.status.phase}=Running", "--timeout=60s")
    const written = ["tenant", "kubeconfig", "team-a", "--output", file("team-a.kubeconfig")]
    expect(await polyplane([...written, "--kubeconfig", kubernetes.kubeconfig], { timeoutMs })).toMatchObject({
      code: 0,
    })
    expect(await kubectl("get", "namespaces", "-o", "name")).toContain("namespace/default\n")
  })

  test("its pods run on the nodes, and their logs and terminals are reached through vn-agents", async () => {
    await writeFile(file("web.json"), JSON.stringify(web))
    // On no nodes a DaemonSet is rolled out at once.
    await eventually(async () => (await kubectl("get", "nodes", "-o", "name")).split("\n").length > 2, { timeoutMs })
    await kubectl("apply", "-f", file("web.json"))
    await kubectl("rollout", "status", "daemonset/web", "--timeout=90s")
    const real = (await kubernetes.client.list<Pod>(pods, { labelSelector: "app=web" })).items
    expect(new Set(real.map(({ spec }) => spec?.nodeName))).toEqual(new Set(["node1", "node2"]))
    for (const { metadata } of real) {
      const name = metadata.name ?? ""
      await eventually(async () => (await kubectl("logs", name)).includes("Started HTTP server on port 8080"))
      expect(await kubectl("exec", name, "--", "hostname")).toBe(`${name}\n`)
    }
  })

  test("a pod talks to its own API server", async () => {
    await kubectl("create", "clusterrolebinding", "see", "--clusterrole=view", "--serviceaccount=default:default")
    const folder = "/var/run/secrets/kubernetes.io/serviceaccount"
    const ask = `${curl.join(" ")} --cacert ${folder}/ca.crt -H "Authorization: Bearer $(cat ${folder}/token)"`
    const url = "https://kubernetes.default.svc/api/v1/namespaces/default/pods"
    const seen = await eventually(() => kubectl("exec", "daemonset/web", "--", "sh", "-c", `${ask} ${url}`))
    expect((JSON.parse(seen) as { items: Pod[] }).items.map(({ metadata }) => metadata.name)).toHaveLength(2)
  })

  test("a gateway that is replaced brings everything back, at another address", async () => {
    const uid = await inSuper("get", "pod", "gateway-0", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
    await inSuper("delete", "pod", "gateway-0", "-n", namespace, "--wait=false")
    const of = ["get", "pod", "gateway-0", "-n", namespace, "-o", "jsonpath={.metadata.uid}"]
    await eventually(async () => (await inSuper(...of)) !== uid, { timeoutMs: 90_000 })
    await inSuper("rollout", "status", "statefulset/gateway", "-n", namespace, "--timeout=90s")
    await eventually(() => kubectl("get", "daemonset", "web"), { timeoutMs: 90_000 })
    await kubectl("create", "deployment", "later", `--image=${agnhost}`, "--", "/agnhost", "pause")
    const ready = ["rollout", "status", "deployment/later", "--timeout=50s"]
    await eventually(() => kubectl(...ready), { timeoutMs: 100_000 })
    const name = await eventually(() => kubectl("exec", "deployment/later", "--", "hostname"), { timeoutMs: 60_000 })
    expect(name).toMatch(/^later-/)
  })

  test("a deleted VirtualCluster takes everything with it", async () => {
    await inSuper("delete", "virtualcluster", "team-a", "--timeout=100s")
    await eventually(async () => !(await inSuper("get", "namespaces", "-o", "name")).includes("-team-a-"), {
      timeoutMs,
    })
  })
})

interface Kubeconfig {
  clusters: { cluster: { server: string } }[]
}

interface Kustomization {
  images: { name: string; newName?: string; newTag: string }[]
}

const virtualCluster = {
  apiVersion: "tenancy.x-k8s.io/v1alpha1",
  kind: "VirtualCluster",
  metadata: { name: "team-a", namespace: "default" },
  spec: { clusterVersionName: "default" },
}

/** A pod on each node. */
const web = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "main", image: agnhost, command: ["/agnhost", "netexec"] }] },
    },
  },
}

/** Into the containerd of every node. */
async function loadImage(kubernetes: RealKubernetes, archive: string): Promise<void> {
  const numbers = Array.from({ length: kubernetes.nodes }, (_, index) => index + 1)
  const load = async (number: number): Promise<void> => {
    await cp(archive, path.join(kubernetes.directory, `node${number}`, "tmp", "polyplane.tar"))
    await kubernetes.inNode(number, ["ctr", "--namespace", "k8s.io", "images", "import", "/tmp/polyplane.tar"])
  }
  await Promise.all(numbers.map(load))
  const data = path.join(kubernetes.directory, "node1", "var/lib/polyplane")
  await mkdir(data)
  await chown(data, user, user)
}

/** What an administrator brings: a volume for the gateway, and the credential that kubelets accept from vn-agents. */
function prerequisites({ kubelets }: RealKubernetes): object[] {
  const onNode1 = { key: "kubernetes.io/hostname", operator: "In", values: ["node1"] }
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "gateway" },
      spec: {
        capacity: { storage: "20Gi" },
        accessModes: ["ReadWriteOnce"],
        local: { path: "/var/lib/polyplane" },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode1] }] } },
      },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "vn-agent-kubelet", namespace },
      stringData: {
        "ca.crt": kubelets.certificateAuthority,
        "tls.crt": kubelets.certificate,
        "tls.key": kubelets.key,
      },
    },
  ]
}
