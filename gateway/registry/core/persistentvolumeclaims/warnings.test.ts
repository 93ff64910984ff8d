import { expect, test } from "vitest"
import { claimWarnings } from "./warnings.ts"

const claim = (storage: string, annotations = {}): Parameters<typeof claimWarnings>[0] => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { annotations },
  spec: { resources: { requests: { storage } } },
})

test.each([
  [claim("1Gi"), []],
  [claim("1500m"), ['spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer']],
  [
    claim("1", { "volume.beta.kubernetes.io/storage-class": "fast" }),
    [
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    ],
  ],
])("a claim with improbable values causes warnings", (object, warnings) => {
  expect(claimWarnings(object)).toEqual(warnings)
})
