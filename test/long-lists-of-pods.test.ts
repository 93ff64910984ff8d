// As long-lists-of-objects.test.ts: what is made of pods with long lists.

import { describe, expect, test, vi } from "vitest"
import { toleranceOf } from "../apimachinery/core/node-selection.ts"
import { usedResourceClaims } from "../apimachinery/core/pod-references.ts"
import { FieldPath } from "../apimachinery/field-errors.ts"
import type { Node, Pod, ResourceClaim } from "../apimachinery/object.ts"
import { atOnce } from "../apimachinery/steps.ts"
import { podAmounts } from "../apimachinery/quota/usage.ts"
import { placementOf } from "../controllers/daemonset/placement.ts"
import type { DaemonSet } from "../controllers/daemonset/types.ts"
import { mostSidecarRestarts } from "../controllers/pods/pod-state.ts"
import { claimNames, needsWork } from "../controllers/resource-claim/pod-claims.ts"
import { mergeTolerations } from "../gateway/admission/plugins/tolerations.ts"
import { portWarnings } from "../gateway/registry/core/pod-spec/port-warnings.ts"
import { ClaimNames, validateRequirements } from "../gateway/registry/core/pod-spec/resources.ts"
import type { PodSpec } from "../gateway/registry/core/pod-spec/types.ts"
import { validatingPodSpec } from "../gateway/registry/core/pod-spec/validate.ts"
import { keepObservedGenerations } from "../gateway/registry/core/pods/status.ts"
import { chooseVictims } from "../syncer/preemption-victims.ts"
import { placement } from "../syncer/resources/pod/mutators/placement.ts"
import type { PodContext } from "../syncer/resources/pod/context.ts"
import { tenantStatus } from "../syncer/resources/pod/status.ts"
import { fakeTenant } from "../syncer/testing/fake-tenants.ts"
import { countingReads, many, numbers, limitThreadTime, reference } from "./harness/long-lists.ts"

limitThreadTime()

type Condition = NonNullable<NonNullable<Pod["status"]>["conditions"]>[number]

test("what a pod needs is summed over containers that each need something else", () => {
  const containers = numbers.slice(0, 50_000).map((n) => ({
    name: `c${n}`,
    restartPolicy: "Always",
    resources: { requests: { [`a.io/n${n}`]: "1" } },
  }))
  expect(Object.keys(podAmounts({ containers, initContainers: containers }, "requests"))).toHaveLength(
    containers.length,
  )
})

test("many tolerations are compared with many taints", () => {
  const tolerationOf = toleranceOf(numbers.map((n) => ({ key: `k${n}`, value: "a", effect: "NoSchedule" })))
  expect(
    numbers.filter((n) => tolerationOf({ key: `k${n}`, value: n < 10 ? "a" : "b", effect: "NoSchedule" })),
  ).toEqual(numbers.slice(0, 10))
})

test("many tolerations are merged with those of a runtime class", () => {
  const tolerations = numbers.map((n) => ({ key: `k${n}`, operator: "Exists" }))
  expect(mergeTolerations([...tolerations, ...tolerations, { operator: "Exists", effect: "NoExecute" }])).toHaveLength(
    many + 1,
  )
})

describe("a pod of a tenant", () => {
  const podOf = (fields: object): Pod => ({ apiVersion: "v1", kind: "Pod", metadata: {}, ...fields }) as Pod

  test("has many conditions", () => {
    const conditions = numbers.map((n) => ({ type: `example.com/${n}`, status: "True", observedGeneration: 1 }))
    const status = tenantStatus(podOf({ status: { conditions } }), podOf({}), fakeTenant("a"))
    expect(status.conditions).toEqual(conditions)
  })

  test("keeps the generations of many conditions of one type", () => {
    const before = numbers.map((n) => ({ type: "a", status: "True", observedGeneration: n }))
    const conditions = numbers.map((): Condition => ({ type: "a", status: "True" }))
    keepObservedGenerations({ conditions }, { conditions: before })
    expect(conditions.slice(1)).toEqual(before.slice(1))
  })

  test("asks for many resources", () => {
    const resources = numbers.map((n) => `example.com/${n}`)
    const limits = Object.fromEntries(resources.map((name) => [name, "1"]))
    const context = { tenant: fakeTenant("a"), placement: { resources } } as unknown as PodContext
    const { spec } = placement(podOf({ spec: { containers: [{ name: "a", resources: { limits } }] } }), context)
    expect(Object.keys(spec?.containers[0]?.resources?.limits ?? {})).toHaveLength(many)
  })

  test("names many claims, of which it has others", () => {
    const claims = Array.from({ length: 2 * many }, (_, n) => ({ name: `c${n}` }))
    const faults = (known: { name: string }[]): number =>
      validateRequirements(FieldPath.root("resources"), { claims }, new ClaimNames(known)).length
    expect(faults(claims)).toBe(0)
    expect(faults(numbers.slice(0, 1000).map((n) => ({ name: `d${n}` })))).toBe(claims.length)
  })

  test("has many containers that name a claim that is none of many", () => {
    const resourceClaims = numbers.slice(0, 1000).map((n) => ({ name: `c${n}`, resourceClaimName: "a" }))
    const containers = numbers.slice(0, 200).map((n) => ({ name: `c${n}`, resources: { claims: [{ name: "x" }] } }))
    using sort = vi.spyOn(Array.prototype, "toSorted")
    const errors = atOnce(validatingPodSpec(FieldPath.root("spec"), { containers, resourceClaims } as PodSpec))
    expect(errors.filter(({ type }) => type === "FieldValueNotFound")).toHaveLength(containers.length)
    expect(sort.mock.contexts.filter((list) => (list as unknown[]).length === resourceClaims.length)).toHaveLength(1)
  })

  test("has many claims of templates, and the names of what was made for them", () => {
    const some = numbers.slice(0, 1000)
    const resourceClaims = some.map((n) => ({ name: `c${n}`, resourceClaimTemplateName: "a" }))
    const made = countingReads(some.map((n) => ({ name: `c${n}`, resourceClaimName: `d${n}` })).toReversed())
    const status = { resourceClaimStatuses: made.items }
    const pod = podOf({ metadata: { uid: "u" }, spec: { containers: [], resourceClaims }, status })
    const claim = { metadata: { ownerReferences: [{ ...reference, name: "a", uid: "u", controller: true }] } }
    expect(claimNames(pod)).toHaveLength(some.length)
    expect(usedResourceClaims(pod).size).toBe(some.length)
    expect(needsWork(pod, () => claim as ResourceClaim)).toBe(false)
    expect(made.reads()).toBeLessThan(20 * some.length)
  })

  test("has many sidecars, which have restarted", () => {
    const some = numbers.slice(0, 1000)
    const containers = countingReads(some.map((n) => ({ name: `c${n}`, restartPolicy: "Always" })))
    const initContainerStatuses = some.map((n) => ({ name: `c${n}`, restartCount: n })).toReversed()
    const pod = podOf({ spec: { initContainers: containers.items }, status: { initContainerStatuses } })
    expect(mostSidecarRestarts(pod)).toBe(some.length - 1)
    expect(containers.reads()).toBeLessThan(20 * some.length)
  })

  test.each<[string, number, (n: number) => object, number]>([
    ["each like all others", 1000, () => ({}), 100],
    ["on a host port of its own", many, (n) => ({ hostPort: n + 1 }), 0],
    [
      "on an address of its own",
      many,
      (n) => ({ hostPort: 1, hostIP: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` }),
      0,
    ],
  ])("has many ports of one number, %s", (_what, count, fieldsOf, warnings) => {
    const ports = numbers.slice(0, count).map((n) => ({ containerPort: 80, protocol: "TCP", ...fieldsOf(n) }))
    const spec = { containers: [{ name: "a", ports }] } as PodSpec
    expect(portWarnings(FieldPath.root("spec"), spec)).toHaveLength(warnings)
  })

  test("has many host ports, as do the pods that are in its way", () => {
    const ports = numbers.slice(0, 20_000).map((n) => ({ containerPort: 1, hostPort: n + 1 }))
    const pod = podOf({
      spec: { containers: [{ name: "a", ports: [...ports, { containerPort: 1, hostPort: 60_000 }] }] },
    })
    const others = numbers.slice(0, 20).map((n) => {
      const hostPorts =
        n === 0 ? [{ containerPort: 1, hostPort: 60_000 }] : ports.map((one) => ({ ...one, protocol: "UDP" }))
      return podOf({ metadata: { name: `p${n}` }, spec: { containers: [{ name: "a", ports: hostPorts }] } })
    })
    const node = { metadata: { name: "n" }, status: { allocatable: { pods: "110" } } } as unknown as Node
    const lower = new Map(others.map((one) => [one, one]))
    expect(chooseVictims({ node, pod, there: others, lower })).toEqual({ node: "n", victims: [others[0]] })
  })
})

test("a daemon with many tolerations is placed on many nodes", () => {
  const tolerations = numbers.slice(0, 10_000).map((n) => ({ key: `k${n}`, operator: "Exists", effect: "NoSchedule" }))
  const placed = placementOf({ spec: { template: { spec: { containers: [], tolerations } } } } as unknown as DaemonSet)
  const nodes = numbers.slice(0, 10_000).map((n) => {
    return {
      metadata: { name: `n${n}` },
      spec: { taints: [{ key: `k${n}`, effect: "NoSchedule" }] },
    } as unknown as Node
  })
  expect(nodes.every((node) => placed(node).run)).toBe(true)
})
