import { expect, test } from "vitest"
import type { Pod } from "../object.ts"
import { mountedClaims, mountedConfigMaps, mountedSecrets, usedResourceClaims } from "./pod-references.ts"

const container = (letter: string): object => ({
  name: letter,
  env: [
    { name: "A", valueFrom: { secretKeyRef: { name: `${letter}1`, key: "k" } } },
    { name: "B", valueFrom: { configMapKeyRef: { name: `${letter}2`, key: "k" } } },
    { name: "C", value: "secret" },
  ],
  envFrom: [{ secretRef: { name: `${letter}3` } }, { configMapRef: { name: `${letter}4` } }],
})

const pod = {
  metadata: { name: "p" },
  spec: {
    nodeSelector: { secret: "no", configMap: "no" },
    imagePullSecrets: [{ name: "pull" }, {}],
    initContainers: [container("i")],
    containers: [container("c")],
    ephemeralContainers: [container("e")],
    resourceClaims: [
      { name: "one", resourceClaimName: "r1" },
      { name: "two", resourceClaimTemplateName: "t" },
      { name: "three", resourceClaimTemplateName: "t" },
    ],
    volumes: [
      { name: "a", secret: { secretName: "v1" } },
      { name: "b", configMap: { name: "v2" } },
      { name: "c", projected: { sources: [{ secret: { name: "v3" } }, { configMap: { name: "v4" } }] } },
      { name: "d", azureFile: { secretName: "v5", shareName: "no" } },
      { name: "e", csi: { driver: "no", nodePublishSecretRef: { name: "v6" } } },
      { name: "f", cephfs: { secretRef: { name: "v7" } } },
      { name: "g", persistentVolumeClaim: { claimName: "v8" } },
      { name: "h", ephemeral: { volumeClaimTemplate: {} } },
    ],
  },
  status: {
    resourceClaimStatuses: [{ name: "two", resourceClaimName: "r2" }, { name: "three" }],
    extendedResourceClaimStatus: { resourceClaimName: "r3", requestMappings: [] },
  },
} as unknown as Pod

test.each([
  ["Secrets", mountedSecrets, "c1 c3 e1 e3 i1 i3 pull v1 v3 v5 v6 v7"],
  ["ConfigMaps", mountedConfigMaps, "c2 c4 e2 e4 i2 i4 v2 v4"],
  ["PersistentVolumeClaims", mountedClaims, "p-h v8"],
  ["ResourceClaims", usedResourceClaims, "r1 r2 r3"],
])("a pod's %s are found", (_what, namesOf, names) => {
  expect([...namesOf(pod)].sort().join(" ")).toBe(names)
})
