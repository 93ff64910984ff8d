import { expect, test } from "vitest"
import { noteGivenEmptyBytes } from "../../../apimachinery/schema/decode/given.ts"
import type { RequestContext } from "../../request/context.ts"
import { verdict } from "../../testing/kinds.ts"
import type { AdmissionAttributes } from "../chain.ts"
import { certificates } from "./certificates.ts"

const spec = { signerName: "example.com/a" }
const conditions = [{ type: "Failed", status: "True" }]
const refused = /user not permitted to sign requests with signerName "example.com\/a"/

/** The certificate of no bytes, which no field tells. */
function withNoBytes(): object {
  const status = {}
  noteGivenEmptyBytes(status, "certificate")
  return status
}

test.each<[what: string, status: object, before: object, isRefused: boolean]>([
  ["a certificate", { certificate: "eA==" }, {}, true],
  ["a condition", { conditions }, {}, true],
  ["what was there", { certificate: "eA==", conditions }, { certificate: "eA==", conditions }, false],
  ["no bytes", withNoBytes(), {}, true],
  ["nothing instead of no bytes", {}, withNoBytes(), true],
  ["no bytes again", withNoBytes(), withNoBytes(), false],
  ["nothing", {}, {}, false],
])("who may not sign writes %s", async (_, status, before, isRefused) => {
  const authorizer = { authorize: () => Promise.resolve({ decision: "NoOpinion" }) }
  const ctx = { controlPlane: { authorizer }, user: { name: "u", groups: [], extra: {} } } as unknown as RequestContext
  const attributes = {
    operation: "UPDATE",
    resource: { group: "certificates.k8s.io", version: "v1", resource: "certificatesigningrequests" },
    subresource: "status",
    name: "r",
    object: { metadata: { name: "r" }, spec, status },
    current: { metadata: { name: "r" }, spec, status: before },
  } as unknown as AdmissionAttributes
  const said = await verdict(Promise.resolve(certificates.validate?.(ctx, attributes)))
  expect(said).toMatch(isRefused ? refused : /^accepted$/)
})
