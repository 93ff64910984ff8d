import { expect, test } from "vitest"
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../apimachinery/object.ts"
import { silentLog } from "../../client/log.ts"
import { persistentVolumeClaims, persistentVolumes, pods, storageClasses } from "../../client/resources.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { Informers } from "../informers.ts"
import { eventually } from "../testing/harness.ts"
import { claim, volume } from "../testing/volumes.ts"
import type { Binder } from "./binder.ts"
import { followBinding } from "./events.ts"

const tenant = "a"
const waiting = 100

test.each([
  ["of another class", "other"],
  ["of their class", ""],
])("volumes %s do not enqueue each of many waiting claims", async (_, storageClassName) => {
  const cluster = new FakeCluster()
  const end = new AbortController()
  const informers = new Informers(singleCluster(cluster, tenant), silentLog, end.signal)
  const followed = {
    claims: informers.of<PersistentVolumeClaim>(persistentVolumeClaims),
    volumes: informers.of<PersistentVolume>(persistentVolumes),
    classes: informers.of<StorageClass>(storageClasses),
    pods: informers.of<Pod>(pods),
  }
  for (let n = 0; n < waiting; n++) await cluster.create(persistentVolumeClaims, claim(`c${n}`, "1Gi"))
  await eventually(() => expect(followed.claims.count(tenant)).toBe(waiting))
  const keys: unknown[] = []
  const queue = {
    enqueue: (...key: unknown[]) => void keys.push(key),
    enqueueObject: (...key: unknown[]) => void keys.push(key),
    enqueueAfter: (key: unknown) => void keys.push(key),
  }
  followBinding(followed, { claims: queue, volumes: queue } as unknown as Binder)
  keys.length = 0
  for (let n = 0; n < waiting; n++) {
    await cluster.create(persistentVolumes, volume(`v${n}`, "1Gi", { storageClassName }))
  }
  await eventually(() => expect(followed.volumes.count(tenant)).toBe(waiting))
  const ofClass = { tenant, namespace: "", name: "" }
  expect(keys).toEqual(storageClassName === "" ? Array.from({ length: waiting }, () => ofClass) : [])
  end.abort()
})
