import { expect, test } from "vitest"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import { validateClaimStatuses, validatePodClaims } from "./claims.ts"

const path = FieldPath.root("claims")

test("each claim of a pod must have a unique name and one source", () => {
  const good = [
    { name: "a", resourceClaimName: "own" },
    { name: "b", resourceClaimTemplateName: "template" },
  ]
  expect(validatePodClaims(path, good)).toEqual([])
  const bad = [{ name: "a", resourceClaimName: "own", resourceClaimTemplateName: "template" }, { name: "a" }]
  expect(validatePodClaims(path, bad).map((error) => error.message())).toEqual([
    'claims[0]: Invalid value: {"Name":"a","ResourceClaimName":"own","ResourceClaimTemplateName":"template"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    'claims[1].name: Duplicate value: "a"',
    'claims[1]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
  ])
})

test("statuses must refer to claims of the pod", () => {
  const claims = [{ name: "a", resourceClaimTemplateName: "template" }]
  expect(validateClaimStatuses(path, [{ name: "a", resourceClaimName: "made-1" }], claims)).toEqual([])
  expect(validateClaimStatuses(path, [{ name: "b" }], claims).map((error) => error.message())).toEqual([
    'claims[0].name: Invalid value: "b": must match the name of an entry in `spec.resourceClaims`',
  ])
})
