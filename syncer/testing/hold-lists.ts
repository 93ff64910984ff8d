import type { FakeCluster } from "../../client/testing/fake-cluster.ts"

/** Lists are answered once the returned function has been called. */
export function holdLists(cluster: FakeCluster): () => void {
  const released = Promise.withResolvers<void>()
  const list = cluster.list.bind(cluster)
  cluster.list = async (...args) => {
    await released.promise
    return list(...args)
  }
  return released.resolve
}
