// What may not change, and what counts as a change.

import { describe, expect, test } from "vitest"
import { type Loose, shareKinds, verdict } from "../testing/kinds.ts"
import { never, selected } from "../testing/workloads.ts"

const { kinds, next } = shareKinds()

describe("immutable fields", () => {
  test.each<[string, Loose, unknown, string]>([
    [
      "configmaps",
      { immutable: true, data: {} },
      { data: { a: "b" } },
      "data: Forbidden: field is immutable when `immutable` is set",
    ],
    [
      "configmaps",
      { immutable: true },
      { immutable: false },
      "immutable: Forbidden: field is immutable when `immutable` is set",
    ],
    [
      "secrets",
      { immutable: true, data: {} },
      { stringData: { a: "b" } },
      "data: Forbidden: field is immutable when `immutable` is set",
    ],
    ["secrets", {}, { type: "x" }, 'type: Invalid value: "x": field is immutable'],
    [
      "apps/deployments",
      { spec: selected() },
      { spec: { selector: { matchLabels: { c: "d" } }, template: { metadata: { labels: { c: "d" } } } } },
      'spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable',
    ],
    [
      "apps/statefulsets",
      { spec: selected({ serviceName: "s" }) },
      { spec: { serviceName: "t" } },
      "updates to statefulset spec for fields other than",
    ],
    [
      "batch/jobs",
      { spec: { template: never } },
      { spec: { completions: 4 } },
      "spec.completions: Invalid value: 4: field is immutable",
    ],
    [
      "persistentvolumeclaims",
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
      { spec: { accessModes: ["ReadWriteMany"] } },
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    ],
    [
      "rbac.authorization.k8s.io/rolebindings",
      { roleRef: { kind: "Role", name: "r" } },
      { roleRef: { name: "s" } },
      "cannot change roleRef",
    ],
    [
      "storage.k8s.io/storageclasses",
      { provisioner: "x.y/z" },
      { provisioner: "x.y/a" },
      'provisioner: Invalid value: "x.y/a": field is immutable',
    ],
  ])("of %s", async (what, object, patch, expected) => {
    const name = next()
    await kinds.create(what, { ...object, metadata: { name } })
    expect(await verdict(kinds.patch(what, name, patch))).toContain(expected)
  })

  test("generation is incremented by changes of spec, not of metadata or status", async () => {
    const name = next()
    await kinds.create("apps/deployments", { metadata: { name }, spec: selected() })
    const generation = async (patch: unknown, subresource?: string): Promise<number> =>
      (await kinds.patch("apps/deployments", name, patch, subresource === undefined ? {} : { subresource }))["metadata"]
        .generation
    expect(await generation({ metadata: { labels: { x: "y" } } })).toBe(1)
    expect(await generation({ status: { observedGeneration: 1 }, spec: { replicas: 7 } }, "status")).toBe(1)
    expect(await generation({ spec: { replicas: 3 } })).toBe(2)
  })

  test.each(["apps/deployments", "apps/replicasets"])(
    "fractions of seconds are not printed, but count as a change: %s",
    async (what) => {
      const name = next()
      const { template } = selected()
      const creationTimestamp = "2026-01-01T00:00:00.5Z"
      const spec = selected({ template: { ...template, metadata: { ...template.metadata, creationTimestamp } } })
      await kinds.create(what, { metadata: { name }, spec })
      expect(await kinds.patch(what, name, {})).toMatchObject({ metadata: { generation: 1 } })
      expect(await kinds.patch(what, name, { spec })).toMatchObject({
        metadata: { generation: 2 },
        spec: { template: { metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } } },
      })
    },
  )

  test("fractions of seconds count as a change of a volume claim template and of a job's start time", async () => {
    const name = next()
    const time = "2026-01-01T00:00:00.5Z"
    const claim = { metadata: { name: "c", creationTimestamp: time }, spec: { accessModes: ["ReadWriteOnce"] } }
    const volumeClaimTemplates = [{ ...claim, spec: { ...claim.spec, resources: { requests: { storage: "1" } } } }]
    const spec = selected({ volumeClaimTemplates })
    await kinds.create("apps/statefulsets", { metadata: { name }, spec })
    expect(await verdict(kinds.patch("apps/statefulsets", name, {}))).toBe("accepted")
    expect(await verdict(kinds.patch("apps/statefulsets", name, { spec }))).toContain("updates to statefulset spec")
    await kinds.create("batch/jobs", { metadata: { name }, spec: { template: never } })
    const start = (): Promise<unknown> =>
      kinds.patch("batch/jobs", name, { status: { startTime: time } }, { subresource: "status" })
    expect(await verdict(start())).toBe("accepted")
    expect(await verdict(start())).toContain("field is immutable for unsuspended job once set")
  })
})
