import { expect, test } from "vitest"
import type { ClusterRole, KubeObject } from "../../apimachinery/object.ts"
import { selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { clusterRoles } from "../../client/resources.ts"
import type { PatchOptions, Resource } from "../../client/rest.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { rulesOf } from "./clusterrole-aggregation.ts"

const role = (name: string, more: object): KubeObject =>
  ({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, ...more }) as KubeObject
const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]

/** Somebody replaces the role just before it is written. */
class Replacing extends FakeCluster {
  isReplaced = false

  override async patch<T extends KubeObject>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    if (!this.isReplaced) {
      await this.delete(clusterRoles, undefined, name)
      await this.create(clusterRoles, role(name, {}))
      this.isReplaced = true
    }
    return super.patch(resource, namespace, name, patch, options)
  }
}

test("a role that is replaced meanwhile does not get the rules of its predecessor", async () => {
  const cluster = new Replacing()
  await using harness = await startHarness({ only: ["clusterrole-aggregation"], cluster })
  const matchLabels = { "to-view": "true" }
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels }] }
  await harness.create(clusterRoles, role("view", { aggregationRule }))
  await harness.create(clusterRoles, { ...role("a", { rules }), metadata: { name: "a", labels: matchLabels } })
  await eventually(() => expect(cluster.isReplaced).toBe(true))
  await harness.create(clusterRoles, role("later", { aggregationRule }))
  const rulesOf = (name: string): unknown => cluster.find<ClusterRole>(clusterRoles, undefined, name)?.rules
  await eventually(() => expect(rulesOf("later")).toEqual(rules))
  expect(rulesOf("view")).toBeUndefined()
})

test("many roles are aggregated after a burst, not with each of them", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["clusterrole-aggregation"], clock })
  const matchLabels = { "to-view": "true" }
  await harness.create(clusterRoles, role("view", { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } }))
  const versions = new Set<unknown>()
  const view = (): ClusterRole | undefined => harness.cluster.find<ClusterRole>(clusterRoles, undefined, "view")
  const count = 200
  for (let n = 0; n < count; n++) {
    const verbs = [`verb${n}`]
    const made = role(`r${n}`, { rules: [{ apiGroups: [""], resources: ["pods"], verbs }] })
    await harness.create(clusterRoles, { ...made, metadata: { ...made.metadata, labels: matchLabels } })
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    versions.add(view()?.metadata.resourceVersion)
  }
  // Pauses begin with 50 roles.
  expect(versions.size).toBeLessThan(60)
  await eventually(() => {
    clock.advance(10)
    expect(view()?.rules).toHaveLength(count)
  })
})

test("others have their turn after each role and each rule", () => {
  const many = Array.from({ length: 100 }, (_, n) =>
    role(`r${n}`, { rules: [...rules, { ...rules[0], verbs: [`${n}`] }] }),
  )
  const steps = rulesOf(role("all", {}) as ClusterRole, many as ClusterRole[], [selectorFromLabelSelector({})])
  let count = 0
  while (steps.next().done !== true) count++
  expect(count).toBe(300)
})
