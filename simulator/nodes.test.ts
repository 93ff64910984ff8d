import { expect, test } from "vitest"
import type { KubeObject, Node } from "../apimachinery/object.ts"
import { conflict } from "../apimachinery/status.ts"
import { silentLog } from "../client/log.ts"
import { nodes } from "../client/resources.ts"
import type { Resource, WriteOptions } from "../client/rest.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { defaultNodeSettings, simulatedNode, startNodes } from "./nodes.ts"

/** A cluster in which another client always writes first, this many times. */
class ConflictingCluster extends FakeCluster {
  conflicts = 0

  override async update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    if (this.conflicts-- > 0) throw conflict({ group: "", resource: "nodes" }, "node-1", "written by another")
    return super.update(resource, object, options)
  }
}

const start = (client: ConflictingCluster): Promise<AsyncDisposable> =>
  startNodes({
    client,
    nodes: [simulatedNode(0)],
    settings: defaultNodeSettings,
    kubeletPort: () => 10250,
    log: silentLog,
  })

test("a node has its status from the start despite conflicting writes", async () => {
  const cluster = new ConflictingCluster({ isPopulated: true })
  cluster.conflicts = 4
  await using _ = await start(cluster)
  expect(cluster.find<Node>(nodes, undefined, "node-1")?.status?.daemonEndpoints?.kubeletEndpoint?.Port).toBe(10250)
})

test("a node that cannot be written logs a warning", async () => {
  const cluster = new ConflictingCluster({ isPopulated: true })
  cluster.conflicts = 5
  await expect(start(cluster)).rejects.toThrow("written by another")
})
