import { expect, test } from "vitest"
import type { PersistentVolume } from "../../apimachinery/object.ts"
import { persistentVolume } from "./persistentvolume.ts"

const volume = (path: string, reclaimPolicy: string): PersistentVolume => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "volume-1" },
  spec: { hostPath: { path }, claimRef: { name: "data" }, persistentVolumeReclaimPolicy: reclaimPolicy },
})

// Nobody may change it, so that every attempt would fail.
test("the source of a volume that is published already stays as it is told, and the rest follows", () => {
  const published = volume("/volumes/ns-123456-a-shop", "Delete")
  expect(persistentVolume.changed(volume("/volumes/shop", "Delete"), published)).toEqual([])
  expect(persistentVolume.changed(volume("/volumes/shop", "Retain"), published)).toEqual([
    { patch: { spec: { persistentVolumeReclaimPolicy: "Retain" } } },
  ])
})
