import { describe, expect, test } from "vitest"
import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { invalid } from "../../apimachinery/status.ts"
import { pods, replicaSets } from "../../client/resources.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { claim } from "./claim.ts"

const labels = { app: "web" }
const kind = { apiVersion: "apps/v1", kind: "ReplicaSet" }

/** A cluster with an owner and orphans a, b, c. */
async function prepared(): Promise<{ cluster: FakeCluster; claimed: () => Promise<string[]> }> {
  const cluster = new FakeCluster()
  const owner = await cluster.create<KubeObject>(replicaSets, {
    ...kind,
    metadata: { name: "web", namespace: "default" },
  })
  for (const name of ["a", "b", "c"]) {
    await cluster.create<KubeObject>(pods, { ...kind, kind: "Pod", metadata: { name, namespace: "default", labels } })
  }
  const candidates = cluster.all<Pod>(pods)
  const selector = selectorFromLabelSelector({ matchLabels: labels })
  const options = { client: cluster, resource: pods, owner, ownerKind: kind, ownerResource: replicaSets, selector }
  const claimed = async (): Promise<string[]> => {
    const own = await claim<Pod>({ ...options, candidates })
    return own.map(({ metadata }) => metadata.name ?? "")
  }
  return { cluster, claimed }
}

const adopted = (cluster: FakeCluster): string[] =>
  cluster
    .all<Pod>(pods)
    .filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === "web")
    .map(({ metadata }) => metadata.name ?? "")

describe("claim()", () => {
  test("adopts orphans", async () => {
    const { cluster, claimed } = await prepared()
    expect(await claimed()).toEqual(["a", "b", "c"])
    expect(adopted(cluster)).toEqual(["a", "b", "c"])
  })

  test("fails instead of saying that an owner that is gone has no pods", async () => {
    const { cluster, claimed } = await prepared()
    cluster.remove(replicaSets, "default", "web")
    await expect(claimed()).rejects.toThrow("not found")
    expect(adopted(cluster)).toEqual([])
  })

  test("fails if another owner has the name", async () => {
    const { cluster, claimed } = await prepared()
    cluster.remove(replicaSets, "default", "web")
    await cluster.create(replicaSets, { ...kind, metadata: { name: "web", namespace: "default" } })
    await expect(claimed()).rejects.toThrow("web is gone")
    expect(adopted(cluster)).toEqual([])
  })

  test("adopts the others if one is refused, and fails", async () => {
    const { cluster, claimed } = await prepared()
    const refused = invalid({ group: "", kind: "Pod" }, "b", [])
    let asked = 0
    cluster.fail = (verb) => (verb === "patch" && ++asked === 2 ? refused : undefined)
    await expect(claimed()).rejects.toBe(refused)
    expect(adopted(cluster)).toEqual(["a", "c"])
  })
})
