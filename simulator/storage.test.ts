import { expect, test } from "vitest"
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../apimachinery/object.ts"
import { EventRecorder } from "../client/events.ts"
import { Informer } from "../client/informers/informer.ts"
import { silentLog } from "../client/log.ts"
import { persistentVolumeClaims, persistentVolumes, storageClasses } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { Storage } from "./storage.ts"

const spec = { storageClassName: "manual", accessModes: ["ReadWriteOnce"] }

const claimOf = (name: string): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { namespace: "default", name },
  spec: { ...spec, resources: { requests: { storage: "1Gi" } } },
})

const volumeOf = (name: string): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name },
  spec: { ...spec, capacity: { storage: "1Gi" } },
})

test("of two claims for the same volume one gets it, and the other gets another volume", async () => {
  const client = new FakeCluster()
  await client.create(persistentVolumes, volumeOf("a"))
  const names = ["one", "two", "three"]
  for (const name of names) await client.create(persistentVolumeClaims, claimOf(name))
  const claims = new Informer<PersistentVolumeClaim>(client, persistentVolumeClaims)
  const volumes = new Informer<PersistentVolume>(client, persistentVolumes)
  const classes = new Informer<StorageClass>(client, storageClasses)
  const stop = new AbortController()
  await Promise.all([claims, volumes, classes].map((informer) => informer.start(stop.signal)))
  const recorder = new EventRecorder({ component: "test" })
  const parts = { client, claims, volumes, classes, recorder, expander: recorder, resizer: recorder, log: silentLog }
  await using _ = new Storage(parts)

  const bound = (): string[] =>
    client
      .all<PersistentVolumeClaim>(persistentVolumeClaims)
      .flatMap(({ metadata, spec: { volumeName } = {} }) =>
        volumeName === undefined ? [] : [`${volumeName} ${metadata.name}`],
      )
  const held = (): string[] =>
    client
      .all<PersistentVolume>(persistentVolumes)
      .flatMap(({ metadata, spec: { claimRef } = {} }) =>
        claimRef === undefined ? [] : [`${metadata.name} ${claimRef.name}`],
      )
  await eventually(() => bound().length > 0, { what: "a claim is bound" })
  await client.create(persistentVolumes, volumeOf("b"))
  await eventually(() => bound().length > 1, { what: "another is bound" })
  await eventually(() => volumes.list().every((volume) => volume.status?.phase === "Bound"), {
    what: "both claims are bound",
  })
  expect(bound().toSorted()).toEqual(held().toSorted())
  expect(new Set(bound().map((one) => one.split(" ")[0]))).toEqual(new Set(["a", "b"]))
  stop.abort()
})
