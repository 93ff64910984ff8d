// The operator's own resources in the super cluster.

import { describe, expect, test } from "vitest"
import { noSuchPath } from "../apimachinery/status.ts"
import { clusterVersions, customResourceDefinitions, virtualClusters } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import type { VirtualCluster } from "./main.ts"
import { create, operator, restart, start, superCluster, useOperator } from "./testing/operator.ts"

useOperator()

describe("the operator", () => {
  test("defines its resources and a default ClusterVersion", () => {
    const defined = superCluster.all(customResourceDefinitions).map(({ metadata }) => metadata.name)
    expect(defined).toEqual(["clusterversions.tenancy.x-k8s.io", "virtualclusters.tenancy.x-k8s.io"])
    expect(superCluster.find(clusterVersions, undefined, "default")).toBeDefined()
  })

  test("restores changed definitions and does not write others", async () => {
    const versions = () => superCluster.all(customResourceDefinitions).map(({ metadata }) => metadata.resourceVersion)
    const before = versions()
    await restart()
    expect(versions()).toEqual(before)
    const name = "virtualclusters.tenancy.x-k8s.io"
    superCluster.edit(customResourceDefinitions, undefined, name, { spec: { scope: "Cluster" } })
    await restart()
    expect(superCluster.find(customResourceDefinitions, undefined, name)).toMatchObject({
      spec: { scope: "Namespaced" },
    })
  })

  test("recreates the default ClusterVersion when it is deleted", async () => {
    superCluster.remove(clusterVersions, undefined, "default")
    await eventually(() => superCluster.find(clusterVersions, undefined, "default"), { what: "default" })
  })

  test("defines its resources again when the super cluster does not serve them any more", async () => {
    await operator[Symbol.asyncDispose]()
    const clock = new FakeClock()
    const name = "virtualclusters.tenancy.x-k8s.io"
    superCluster.fail = (verb, resource) =>
      verb === "list" &&
      resource === "virtualclusters" &&
      superCluster.find(customResourceDefinitions, undefined, name) === undefined
        ? noSuchPath()
        : undefined
    const watch = superCluster.watch.bind(superCluster)
    const ended = new AbortController()
    superCluster.watch = (resource, options) =>
      watch(resource, { ...options, signal: AbortSignal.any([options.signal, ended.signal]) })
    await start({ clock })
    await operator.whenReady()
    superCluster.watch = watch
    for (const { metadata } of superCluster.all(customResourceDefinitions))
      superCluster.remove(customResourceDefinitions, undefined, metadata.name!)
    ended.abort()
    await eventually(() => {
      clock.advance(1000)
      return superCluster.find(customResourceDefinitions, undefined, name)
    })
    await create("default", "late")
    await eventually(() => {
      clock.advance(1000)
      return superCluster.find<VirtualCluster>(virtualClusters, "default", "late")?.status?.phase === "Running"
    })
  })
})
