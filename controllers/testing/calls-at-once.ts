// Counts the calls of a fake cluster that are in progress at the same time.

import type { FakeCluster } from "../../client/testing/fake-cluster.ts"

type Call = (...parameters: unknown[]) => Promise<unknown>

/** `most`: of one verb so far. */
export function countAtOnce(cluster: FakeCluster, verb: "patch" | "delete"): { readonly most: number } {
  const counted = { most: 0 }
  const call = cluster[verb].bind(cluster) as Call
  let inProgress = 0
  const counting: Call = async (...parameters) => {
    counted.most = Math.max(counted.most, ++inProgress)
    try {
      return await call(...parameters)
    } finally {
      inProgress--
    }
  }
  Object.assign(cluster, { [verb]: counting })
  return counted
}
