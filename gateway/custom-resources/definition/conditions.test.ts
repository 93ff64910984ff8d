import { describe, expect, test } from "vitest"
import type { CustomResourceNames, Definition, DefinitionCondition } from "../types.ts"
import { settleStatus } from "./conditions.ts"

const names: CustomResourceNames = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" }
const [before, now] = ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]

function definition(
  given: DefinitionCondition[],
  { group = "example.com", accepted = names, annotations = {} } = {},
): Definition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}`, annotations },
    spec: { group, names },
    status: { acceptedNames: accepted, conditions: given, storedVersions: ["v1"] },
  }
}
const condition = (type: string, status: string, more: object = {}): DefinitionCondition => ({
  type,
  status,
  lastTransitionTime: before,
  ...more,
})
const other = (taken: CustomResourceNames): Definition => ({
  ...definition([], { accepted: taken }),
  metadata: { name: "others.example.com" },
})
const shown = (conditions: DefinitionCondition[] | null | undefined) =>
  conditions?.map(({ type, status, reason = "" }) => `${type} ${status} ${reason}`.trim())

// As kube-apiserver's controllers do.
describe("settleStatus()", () => {
  test("keeps what a client adds to a condition, and its time while its status is the same", () => {
    const given = [condition("NamesAccepted", "True"), condition("Established", "False", { observedGeneration: 3 })]
    const { conditions } = settleStatus(definition(given), definition(given), [], now)
    expect(conditions?.[1]).toMatchObject({ status: "True", observedGeneration: 3, lastTransitionTime: now })
    const again = settleStatus(definition(conditions ?? []), undefined, [], "2022-01-01T00:00:00Z")
    expect(again.conditions?.[1]).toEqual(conditions?.[1])
  })

  test("leaves the conditions of granted names alone", () => {
    expect(settleStatus(definition([]), definition([]), [], now).conditions).toEqual([])
  })

  test("sets a time that a client has left out", () => {
    const given = [condition("NamesAccepted", "True"), condition("Established", "True", { lastTransitionTime: null })]
    const renamed = definition(given, { accepted: { ...names, shortNames: ["th"] } })
    expect(settleStatus(renamed, renamed, [], now).conditions?.map((one) => one.lastTransitionTime)).toEqual([
      before,
      now,
    ])
  })

  test("says that a kind is not established only if nothing is said of it yet", () => {
    const taken = [other({ kind: "Thing" })]
    const fresh = settleStatus(definition([], { accepted: {} }), undefined, taken, now)
    expect(shown(fresh.conditions)).toEqual(["NamesAccepted False KindConflict", "Established False NotAccepted"])
    const said = [condition("Established", "False", { reason: "InvalidCABundle" })]
    const { conditions } = settleStatus(definition(said, { accepted: {} }), undefined, taken, now)
    expect(shown(conditions)).toEqual(["Established False InvalidCABundle", "NamesAccepted False KindConflict"])
  })

  test("removes the condition of schemas without structure", () => {
    const given = [condition("NonStructuralSchema", "True"), condition("X", "True")]
    expect(shown(settleStatus(definition(given), undefined, [], now).conditions)).toEqual(["X True"])
  })

  test("tells of the approval when its annotation changes", () => {
    const approved = { group: "a.k8s.io", annotations: { "api-approved.kubernetes.io": "unapproved" } }
    const current = definition([], approved)
    expect(settleStatus(current, current, [], now).conditions).toEqual([])
    const { conditions } = settleStatus(current, definition([], { group: "a.k8s.io" }), [], now)
    expect(shown(conditions)).toEqual(["KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation"])
  })
})
