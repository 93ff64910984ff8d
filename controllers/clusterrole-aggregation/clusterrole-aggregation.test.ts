import { expect, test } from "vitest"
import type { ClusterRole, KubeObject } from "../../apimachinery/object.ts"
import { clusterRoles } from "../../client/resources.ts"
import type { PatchOptions, Resource } from "../../client/rest.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness } from "../testing/harness.ts"

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
