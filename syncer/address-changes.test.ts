import { expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { invalid, StatusError } from "../apimachinery/status.ts"
import { withoutTaken } from "./address-changes.ts"

type Spec = NonNullable<Service["spec"]>

const before: Spec = {
  clusterIP: "10.0.0.5",
  clusterIPs: ["10.0.0.5"],
  ipFamilies: ["IPv4"],
  ipFamilyPolicy: "PreferDualStack",
  ports: [{ port: 80 }],
}
const refused = (field: string, message = ""): StatusError =>
  new StatusError({
    ...invalid({ group: "", kind: "Service" }, "web", []).status,
    message,
    details: { causes: [{ field }] },
  })

test("of what super refuses for a write of the tenant only the address is given up, and never the families", () => {
  const { clusterIP: _address, clusterIPs: _addresses, ...withoutAddress } = before
  expect(withoutTaken(before, refused("spec.clusterIPs"), undefined, before)).toEqual(withoutAddress)
  for (const field of ["spec.ipFamilies[0]", "spec.ipFamilyPolicy", "spec.clusterIPs"])
    expect(withoutTaken(withoutAddress, refused(field), undefined, before)).toBeUndefined()
})

test("a write that changes families keeps them, whoever has taken the address", () => {
  const dual: Spec = { ...before, clusterIPs: ["10.0.0.5", "fd00::5"], ipFamilies: ["IPv4", "IPv6"] }
  const single: Spec = { ...before, ipFamilyPolicy: "SingleStack" }
  for (const [asked, from] of [
    [{ ...before, ipFamilies: dual.ipFamilies!, ipFamilyPolicy: "RequireDualStack" }, before],
    [single, dual],
  ] as const) {
    const { clusterIP: _address, clusterIPs: _addresses, ...withoutAddress } = asked
    expect(withoutTaken(asked, refused("spec.clusterIPs"), undefined, from)).toEqual(withoutAddress)
  }
  expect(withoutTaken(dual, refused("spec.clusterIPs"), undefined, before)).toBeUndefined()
  // Only the second address, unless it is the one that the write is about.
  const ofSecond = refused("spec.clusterIPs", "failed to allocate IP fd00::5: provided IP is already allocated")
  expect(withoutTaken(dual, ofSecond, undefined, dual)).toEqual({ ...dual, clusterIPs: ["10.0.0.5"] })
  expect(withoutTaken(dual, ofSecond, undefined, before)).toBeUndefined()
})
