import { expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import { mostAtOnce } from "../../apimachinery/steps.ts"
import { configMaps } from "../../client/resources.ts"
import { eventually, startHarness } from "../testing/harness.ts"

function configMap(name: string, ownerReferences: OwnerReference[] = []): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", ownerReferences } }
}

test.each(["Background", "Foreground"] as const)("all of very many dependents are deleted (%s)", async (policy) => {
  await using harness = await startHarness({ only: ["garbage-collector"] })
  const { uid = "" } = (await harness.create(configMaps, configMap("owner"))).metadata
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true }
  for (let index = 0; index <= mostAtOnce; index++)
    await harness.create(configMaps, configMap(`dependent-${index}`, [owner]))
  await harness.cluster.delete(configMaps, "default", "owner", { propagationPolicy: policy })
  await eventually(() => expect(harness.cluster.all(configMaps)).toEqual([]))
})
