import { describe, expect, test } from "vitest"
import { notRegistered, typeIn, typeOfOptions } from "./schemes.ts"

function kindOf(text: string) {
  const [kind = "", version = "", group = ""] = text.split("/").toReversed()
  return { group, version, kind }
}

test.each([
  ["", "example.com/v7/Status", "v1.Status"],
  ["", "apps/v1/DeleteOptions", "v1.DeleteOptions"],
  ["", "apps/v9/DeleteOptions", undefined],
  ["", "meta.k8s.io/v1/DeleteOptions", undefined],
  ["", "apps/v1/Deployment", "v1.Deployment"],
  ["", "apps/v1beta1/Deployment", "v1beta1.Deployment"],
  ["", "apps/__internal/Deployment", "apps.Deployment"],
  ["", "__internal/Pod", "core.Pod"],
  ["", "__internal/WatchEvent", "v1.InternalEvent"],
  ["", "apiextensions.k8s.io/v1/CustomResourceDefinition", undefined],
  ["apiextensions.k8s.io", "v1/Pod", undefined],
])("the scheme of the group %j has of %s the type %j", (home, kind, type) => {
  expect(typeIn(home, kindOf(kind))).toBe(type)
})

test.each([
  ["example.com/v7/Status", "v1.Status"],
  ["example.com/v7/CreateOptions", "v1.CreateOptions"],
  ["meta.k8s.io/v1beta1/Table", "v1.Table"],
  ["meta.k8s.io/v1beta1/PartialObjectMetadataList", "v1beta1.PartialObjectMetadataList"],
  ["meta.k8s.io/__internal/ListOptions", "internalversion.ListOptions"],
  ["v1/Pod", undefined],
])("that of options has of %s the type %j", (kind, type) => {
  expect(typeOfOptions(kindOf(kind))).toBe(type)
})

describe("notRegistered()", () => {
  test.each([
    ["apps/v9/Nope", 'no kind "Nope" is registered for version "apps/v9"'],
    ["apps/__internal/Nope", 'no kind "Nope" is registered for the internal version of group "apps"'],
  ])("says of %s", (kind, message) => {
    expect(notRegistered(kindOf(kind))).toBe(message)
  })
})
