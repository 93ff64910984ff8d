import { expect, test } from "vitest"
import { deleteUnasked } from "../local-client/local-client.ts"
import { createKindsStub, verdict } from "../testing/kinds.ts"
import { startCustomResources } from "./handler.ts"

const crds = "apiextensions.k8s.io/customresourcedefinitions"

test("a definition in a built-in group serves nothing, and its end leaves built-in objects alone", async () => {
  await using kinds = createKindsStub()
  const { store, resources } = kinds.stub
  await using _handler = await startCustomResources({
    store,
    table: resources,
    client: () => kinds.client,
    deleteObject: (...object) => deleteUnasked(kinds.stub, ...object),
  })
  const name = "endpointslices.discovery.k8s.io"
  const slice = { addressType: "IPv4", endpoints: [], metadata: { name: "a" } }
  await kinds.create("discovery.k8s.io/endpointslices", slice)
  const schema = { openAPIV3Schema: { type: "object" } }
  const versions = ["v1", "v7"].map((version) => ({ name: version, served: true, storage: version === "v1", schema }))
  const names = { plural: "endpointslices", kind: "EndpointSlice" }
  const spec = { group: "discovery.k8s.io", scope: "Namespaced", names, versions }
  const metadata = { name, annotations: { "api-approved.kubernetes.io": "unapproved" } }
  await kinds.create(crds, { metadata, spec })
  expect(resources.serves({ group: "discovery.k8s.io", version: "v7", resource: "endpointslices" })).toBe(false)
  await kinds.delete(crds, name)
  await expect.poll(() => verdict(kinds.get(crds, name))).toContain("not found")
  expect(await verdict(kinds.get("discovery.k8s.io/endpointslices", "a"))).toBe("accepted")
})
