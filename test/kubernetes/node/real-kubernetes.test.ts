import { access } from "node:fs/promises"
import { networkInterfaces } from "node:os"
import { describe, expect, test } from "vitest"
import type { Node, Pod } from "../../../apimachinery/object.ts"
import { nodes, pods } from "../../../client/resources.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { parseHierarchies } from "./cgroups.ts"
import { whyNoNodes } from "./machine.ts"
import { RealKubernetes } from "./real-kubernetes.ts"

test("hierarchies of cgroup v1 are distinguished from that of v2", () => {
  const text = "12:cpu,cpuacct:/a\n3:memory:/a/b:c\n1:name=systemd:/\n0::/x\n"
  expect(parseHierarchies(text)).toEqual([
    { directory: "cpu,cpuacct", options: "cpu,cpuacct", path: "/a" },
    { directory: "memory", options: "memory", path: "/a/b:c" },
    { directory: "systemd", options: "none,name=systemd", path: "/" },
  ])
})

describe.skipIf(lacks([], await whyNoNodes()))("real nodes", () => {
  test("run a pod, reach it from the other node, and leave nothing behind", async () => {
    const kubernetes = await RealKubernetes.start({ nodes: 2 })
    const { directory, hostAddress } = kubernetes
    try {
      const ready = (await kubernetes.client.list<Node>(nodes)).items.map(({ metadata }) => metadata.name)
      expect(ready.sort((a = "", b = "") => a.localeCompare(b))).toEqual(["node1", "node2"])
      await kubernetes.client.create<Pod>(pods, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { namespace: "default", name: "web" },
        spec: {
          nodeName: "node2",
          containers: [
            {
              name: "web",
              image: "registry.k8s.io/e2e-test-images/agnhost:2.63.0",
              args: ["netexec", "--http-port=8080"],
            },
          ],
        },
      })
      const address = await eventually(
        async () => {
          const pod = await kubernetes.client.get<Pod>(pods, "default", "web")
          return pod.status?.phase === "Running" && pod.status.podIP
        },
        { timeoutMs: 60_000 },
      )
      const answer = await eventually(() =>
        kubernetes.onNode(1, ["curl", "--silent", "--fail", `http://${address}:8080/hostname`]),
      )
      expect(answer).toBe("web")
    } finally {
      await kubernetes[Symbol.asyncDispose]()
    }
    await expect(access(directory)).rejects.toMatchObject({ code: "ENOENT" })
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])
    expect(addresses).not.toContain(hostAddress)
  }, 180_000)
})
