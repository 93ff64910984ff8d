// The messages of all checks in every version are compared with kube-apiserver in
// test/kubernetes/differential/cases/pod-security.ts.

import { describe, expect, test } from "vitest"
import type { PodSpec } from "../../../../apimachinery/object.ts"
import { createKindsStub, type Loose, verdict } from "../../../testing/kinds.ts"
import { faultsOf } from "./checks.ts"
import { policyOf, printLevel } from "./policy.ts"
import { podSecurity } from "./plugin.ts"

const labels = (modes: Record<string, string>) =>
  Object.fromEntries(Object.entries(modes).map(([mode, value]) => [`pod-security.kubernetes.io/${mode}`, value]))

describe("the policy of a namespace's labels", () => {
  test.each<[Record<string, string>, string, string, string]>([
    [{}, "privileged:latest", "privileged:latest", "privileged:latest"],
    [{ enforce: "baseline", "enforce-version": "v1.20" }, "baseline:v1.20", "privileged:latest", "baseline:v1.20"],
    [{ enforce: "baseline", warn: "privileged" }, "baseline:latest", "privileged:latest", "privileged:latest"],
    [{ enforce: "baseline", "warn-version": "v1.2" }, "baseline:latest", "privileged:latest", "baseline:v1.2"],
    [{ enforce: "odd", audit: "odd", warn: "odd" }, "restricted:latest", "privileged:latest", "privileged:latest"],
  ])("%o", (modes, enforce, audit, warn) => {
    const { policy } = policyOf(labels(modes))
    expect([policy.enforce, policy.audit, policy.warn].map(printLevel)).toEqual([enforce, audit, warn])
  })

  test("is empty without labels", () => {
    const { errors } = policyOf(labels({ enforce: "odd", "warn-version": "1.2", other: "x" }))
    expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual([
      "metadata.labels[pod-security.kubernetes.io/enforce]: must be one of privileged, baseline, restricted",
      'metadata.labels[pod-security.kubernetes.io/warn-version]: must be "latest" or "v1.x"',
    ])
  })
})

describe("checks", () => {
  const reasons = (spec: Partial<PodSpec>, level: "baseline" | "restricted", version: number | "latest" = "latest") =>
    faultsOf({ metadata: {}, spec: { containers: [{ name: "c" }], ...spec } }, { level, version }).map(
      ({ reason }) => reason,
    )

  test("restricted contains the checks of baseline, some in a stricter form", () => {
    const spec = { hostPID: true, volumes: [{ name: "v", hostPath: { path: "/" } }] }
    expect(reasons(spec, "baseline")).toEqual(["host namespaces", "hostPath volumes"])
    expect(reasons(spec, "restricted")).toEqual([
      "host namespaces",
      "allowPrivilegeEscalation != false",
      "unrestricted capabilities",
      "restricted volume types",
      "runAsNonRoot != true",
      "seccompProfile",
    ])
  })

  test("an older version has only the checks of that version", () => {
    expect(reasons({}, "restricted", 18)).toEqual(["allowPrivilegeEscalation != false", "runAsNonRoot != true"])
    expect(reasons({}, "restricted", 7)).toEqual(["runAsNonRoot != true"])
    expect(reasons({}, "restricted", 99)).toEqual(reasons({}, "restricted"))
  })
})

describe("a namespace that enforces baseline", () => {
  const pod = (name: string, spec: Loose): Loose => ({
    metadata: { name },
    spec: { containers: [{ name: "a", image: "b" }], ...spec },
  })

  test("accepts only pods that conform", async () => {
    await using kinds = createKindsStub({ plugins: [podSecurity] })
    await kinds.create("namespaces", { metadata: { name: "default", labels: labels({ enforce: "baseline" }) } })
    expect(await verdict(kinds.create("pods", pod("good", {})))).toBe("accepted")
    expect(await verdict(kinds.create("pods", pod("bad", { hostIPC: true })))).toBe(
      'pods "bad" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostIPC=true)',
    )
  })

  test("rejects unknown levels in labels", async () => {
    await using kinds = createKindsStub({ plugins: [podSecurity] })
    const odd = { metadata: { name: "odd", labels: labels({ enforce: "everything" }) } }
    expect(await verdict(kinds.create("namespaces", odd))).toBe(
      'Namespace "odd" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "everything": must be one of privileged, baseline, restricted',
    )
  })
})
