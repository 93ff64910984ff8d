import { expect, test } from "vitest"
import type { Pod, PodSpec } from "../../../apimachinery/object.ts"
import { unsupportedInPod } from "./unsupported.ts"

const tokens = (count: number): object[] =>
  Array.from({ length: count }, (_, at) => ({ serviceAccountToken: { audience: `a${at}`, path: `p${at}` } }))

const projected = (...sources: object[]): object => ({
  volumes: [
    { name: "a", emptyDir: {} },
    { name: "b", projected: { sources: [{ configMap: { name: "c" } }, ...sources] } },
  ],
})

test.each([
  ["nothing unsupported", projected({ secret: { name: "s" } }), undefined],
  ["a ResourceClaim", { resourceClaims: [{ name: "gpu", resourceClaimName: "mine" }] }, "spec.resourceClaims: "],
  [
    "a ResourceClaimTemplate",
    { resourceClaims: [{ name: "g", resourceClaimTemplateName: "t" }] },
    "spec.resourceClaims: ",
  ],
  ["no claim", { resourceClaims: [] }, undefined],
  ["a pod group", { schedulingGroup: { podGroupName: "g" } }, "spec.schedulingGroup: "],
  [
    "a bundle by name",
    projected({ clusterTrustBundle: { name: "b", path: "ca.crt" } }),
    "spec.volumes[1].projected.sources[1].clusterTrustBundle: ",
  ],
  [
    "bundles of a signer",
    projected({ clusterTrustBundle: { signerName: "example.com/s", labelSelector: {}, path: "ca.crt" } }),
    "spec.volumes[1].projected.sources[1].clusterTrustBundle: ",
  ],
  [
    "a certificate",
    projected({}, { podCertificate: { signerName: "example.com/s", keyType: "ED25519" } }),
    "spec.volumes[1].projected.sources[2].podCertificate: ",
  ],
  ["many tokens", projected(...tokens(256)), undefined],
  ["more tokens than fit into a Secret", projected(...tokens(257)), "spec.volumes: more than 256 "],
])("a pod that refers to %s", (_what, spec, expected) => {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {},
    spec: { containers: [], ...spec } as unknown as PodSpec,
  }
  const message = unsupportedInPod(pod)
  if (expected === undefined) expect(message).toBeUndefined()
  else expect(message).toContain(expected)
})
