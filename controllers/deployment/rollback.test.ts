import { describe, expect, test } from "vitest"
import type { Deployment, ReplicaSet } from "../../apimachinery/object.ts"
import { askedRevision, rollBack } from "./rollback.ts"

const rollbackTo = "deprecated.deployment.rollback.to"
const template = (image: string, labels: Record<string, string> = {}): object => ({
  metadata: { labels: { app: "web", ...labels } },
  spec: { containers: [{ name: "c", image }] },
})

function deployment(image: string, annotations: Record<string, string>): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default", annotations },
    spec: { selector: { matchLabels: { app: "web" } }, template: template(image) },
  } as Deployment
}

function set(revision: string, image: string, annotations: Record<string, string> = {}): ReplicaSet {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `web-${revision}`,
      annotations: { "deployment.kubernetes.io/revision": revision, ...annotations },
    },
    spec: { selector: {}, template: template(image, { "pod-template-hash": revision }) },
  } as ReplicaSet
}

const sets = [set("2", "two"), set("4", "four"), set("1", "one", { why: "first" }), set("x", "odd")]

describe("rollBack()", () => {
  test.each([
    [{}, undefined],
    [{ [rollbackTo]: "" }, undefined],
    [{ [rollbackTo]: "x" }, undefined],
    [{ [rollbackTo]: "0" }, 0n],
    [{ [rollbackTo]: "+3" }, 3n],
  ])("is requested by the annotation: %j", (annotations, revision) => {
    expect(askedRevision(deployment("four", annotations))).toBe(revision)
  })

  test.each([
    [0n, "two"],
    [1n, "one"],
    [2n, "two"],
  ])("to revision %s restores image %s and removes the request", (revision, image) => {
    const { deployment: rolled, reason } = rollBack(deployment("four", { [rollbackTo]: "1" }), sets, revision)
    expect(reason).toBe("DeploymentRollback")
    expect(rolled.spec?.template).toEqual(template(image))
    expect(rolled.metadata.annotations).not.toHaveProperty([rollbackTo])
  })

  test("restores the annotations of the target except for the revision", () => {
    const own = { why: "fourth", more: "x", "deployment.kubernetes.io/revision": "4", [rollbackTo]: "1" }
    const { deployment: rolled } = rollBack(deployment("four", own), sets, 1n)
    expect(rolled.metadata.annotations).toEqual({ why: "first", "deployment.kubernetes.io/revision": "4" })
  })

  test.each([
    [7n, "four", "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to."],
    [4n, "four", "DeploymentRollbackTemplateUnchanged", "The rollback revision contains the same template"],
  ])("to revision %s fails", (revision, image, reason, message) => {
    const before = deployment(image, { [rollbackTo]: String(revision), a: "b" })
    const result = rollBack(before, sets, revision)
    expect(result).toMatchObject({ type: "Warning", reason, message: expect.stringContaining(message) as string })
    expect(result.deployment).toEqual({ ...before, metadata: { ...before.metadata, annotations: { a: "b" } } })
  })

  test("restores no annotations if the target has none", () => {
    const result = rollBack(deployment("one", { [rollbackTo]: "0" }), [set("1", "one")], 0n)
    expect(result.message).toBe("Unable to find last revision.")
  })
})
