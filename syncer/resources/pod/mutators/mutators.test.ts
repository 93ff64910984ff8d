import { expect, test } from "vitest"
import { superResource } from "../../../conversion/resource-names.ts"
import { fakeTenant } from "../../../testing/fake-tenants.ts"
import { around, podOf, run } from "../../../testing/pod-mutation.ts"
import { podMutators } from "./index.ts"
import { placement } from "./placement.ts"
import { superFields } from "./super-fields.ts"

test("a resource of another tenant cannot be asked for, however long its name is", () => {
  const others = superResource(`${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}/dongle`, fakeTenant("other"))!
  const wanted = { nodeSelector: undefined, nodeAffinity: undefined, resources: [others] }
  const spec = run(placement, podOf({}, { resources: { limits: { [others]: "1" } } }), { placement: wanted })
  expect(spec.containers[0]?.resources?.limits).toEqual({ "too-long.tenancy.x-k8s.io/resource": "1" })
})

test.each([
  ["system-node-critical", "system-node-critical"],
  ["only-in-the-tenant", undefined],
])("superFields keeps priority class %s: %s", (priorityClassName, expected) => {
  const spec = run(
    superFields,
    podOf({ priorityClassName, priority: 7, preemptionPolicy: "Never", serviceAccount: "x" }),
  )
  expect(spec).toEqual({
    ...podOf().spec,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(expected === undefined ? {} : { priorityClassName: expected }),
  })
})

test("runtimeClassName is the class's name in super", () => {
  const name = (runtimeClassName: string) => superFields(podOf({ runtimeClassName }), around).spec?.runtimeClassName
  expect([name("gvisor"), name("kata")]).toEqual(["acme-gvisor", "kata"])
})

test("all mutators keep hostname, subdomain and the fields that super's admission checks", () => {
  const kept = {
    hostname: "h",
    subdomain: "s",
    nodeSelector: { zone: "a" },
    hostNetwork: true,
    runtimeClassName: "kata",
    schedulerName: "other",
    securityContext: { runAsUser: 1 },
    serviceAccountName: "robot",
    nodeName: "node-1",
  }
  const made = podMutators.reduce((pod, mutate) => mutate(pod, around), podOf(kept))
  expect(made.spec).toMatchObject(kept)
})
