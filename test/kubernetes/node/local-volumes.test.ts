import { describe, expect, test } from "vitest"
import type { PersistentVolume, PersistentVolumeClaim, Pod } from "../../../apimachinery/object.ts"
import { persistentVolumeClaims, persistentVolumes, pods } from "../../../client/resources.ts"
import { eventually } from "../../harness/eventually.ts"
import { lacks } from "../harness/needs.ts"
import { provideLocalVolumes } from "./local-volumes.ts"
import { whyNoNodes } from "./machine.ts"
import { RealKubernetes } from "./real-kubernetes.ts"

const namespace = "default"
/** A cluster that has just started is busy. */
const timeoutMs = 90_000

describe.skipIf(lacks([], await whyNoNodes()))("volumes of real nodes", () => {
  test("are what a pod of theirs wrote, on the node it ran on, until their claim is deleted", async () => {
    await using kubernetes = await RealKubernetes.start({ nodes: 1 })
    await using _volumes = await provideLocalVolumes(kubernetes)
    const { client } = kubernetes
    await client.create<PersistentVolumeClaim>(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { namespace, name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
    })
    await client.create(pods, podThatRuns("writer", "echo written >/data/file"))
    await untilSucceeded("writer")
    await client.create(pods, podThatRuns("reader", "test $(cat /data/file) = written"))
    await untilSucceeded("reader")
    const [volume] = (await client.list<PersistentVolume>(persistentVolumes)).items
    const path = volume?.spec?.local?.path ?? ""
    expect(await kubernetes.inNode(1, ["cat", `${path}/file`])).toBe("written\n")

    for (const name of ["writer", "reader"]) await client.delete(pods, namespace, name)
    await client.delete(persistentVolumeClaims, namespace, "data")
    await eventually(async () => (await client.list(persistentVolumes)).items.length === 0, {
      timeoutMs,
      what: "removal of the volume",
    })
    await expect(kubernetes.inNode(1, ["ls", path])).rejects.toThrow("No such file")

    async function untilSucceeded(name: string): Promise<void> {
      await eventually(async () => (await client.get<Pod>(pods, namespace, name)).status?.phase === "Succeeded", {
        timeoutMs,
        what: `success of ${name}`,
      })
    }
  }, 300_000)
})

function podThatRuns(name: string, script: string): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name },
    spec: {
      restartPolicy: "Never",
      containers: [
        {
          name,
          image: "registry.k8s.io/e2e-test-images/busybox:1.37.0-1",
          command: ["sh", "-c", script],
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        },
      ],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    },
  }
}
