// Single kinds, beyond what is made of their fields.

import { type Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

export function objectCases(): Scenario[] {
  return [{ name: "a volume stands within an attachment", steps: inlineVolumes() }]
}

function inlineVolumes(): RequestStep[] {
  const path = "/apis/storage.k8s.io/v1/volumeattachments?dryRun=All"
  const csi = { driver: "d.example.com", volumeHandle: "h" }
  const one = (label: string, inlineVolumeSpec: Json): RequestStep =>
    post(
      path,
      {
        metadata: { name: "a@{id}" },
        spec: { attacher: "a.example.com", nodeName: "n", source: { inlineVolumeSpec } },
      },
      { label: `POST ${label}` },
    )
  return [
    one("nothing", {}),
    one("right", { accessModes: ["ReadWriteOnce"], csi }),
    one("all that may not be", {
      accessModes: ["Bogus"],
      csi,
      claimRef: { name: "c" },
      capacity: { storage: 1 },
      persistentVolumeReclaimPolicy: "Delete",
      nodeAffinity: {},
      storageClassName: "x",
      volumeMode: "Block",
      volumeAttributesClassName: "",
    }),
    one("what may be", {
      accessModes: ["ReadOnlyMany"],
      csi,
      capacity: {},
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "",
      volumeMode: "Filesystem",
    }),
    one("two", {
      accessModes: ["ReadWriteOnce"],
      csi,
      hostPath: { path: "/" },
      persistentVolumeReclaimPolicy: "Recycle",
    }),
    one("local", {
      accessModes: ["ReadWriteOncePod", "ReadWriteOnce"],
      local: { path: "/x" },
      nodeAffinity: { required: { nodeSelectorTerms: [] } },
    }),
    one("iscsi", {
      accessModes: ["ReadWriteOnce"],
      iscsi: { targetPortal: "1.2.3.4", iqn: "iqn.2015-02.example.com:test", lun: 0 },
      csi,
    }),
    one("rbd", { accessModes: ["ReadWriteOnce"], rbd: { monitors: ["a"], image: "i" }, csi }),
    one("azure", { accessModes: ["ReadWriteOnce"], azureDisk: { diskName: "a", diskURI: "b" } }),
    one("flex", { accessModes: ["ReadWriteOnce"], flexVolume: {}, csi }),
  ]
}
