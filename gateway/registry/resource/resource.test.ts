// Cases that the differential suite cannot cover with one field at a time: permissions, reservations, steps of a range.

import { describe, expect, test } from "vitest"
import { atOnce } from "../../../apimachinery/steps.ts"
import { FieldPath } from "../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { RequestContext } from "../../request/context.ts"
import { openRegistry } from "../generic/testing/open-registry.ts"
import { mayChangeStatus } from "./authorize.ts"
import { dropDeallocated, validateStatus } from "./claim-status.ts"
import { validateRequestPolicy } from "./request-policy.ts"
import { validatingClaimSpec } from "./requests.ts"
import type { Claim, ClaimSpec, ClaimStatus, RequestPolicy } from "./types.ts"

const metadata: KubeObject["metadata"] = { name: "claim", namespace: "default" }
const spec: ClaimSpec = {
  devices: {
    requests: [
      { name: "gpu", exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 } },
      { name: "net", firstAvailable: [{ name: "fast", deviceClassName: "net", allocationMode: "All" }] },
    ],
  },
}
const claim = (status: ClaimStatus = {}): Claim => ({ metadata, spec, status }) as Claim
const device = { driver: "example.com", pool: "pool", device: "d-0" }
const allocation = { devices: { results: [{ request: "gpu", ...device }] } }
const texts = (errors: readonly { message(): string }[]): string[] => errors.map((error) => error.message())

describe("a claim", () => {
  test.each<[string, ClaimSpec["devices"], string[]]>([
    [
      "may name requests and subrequests in its constraints",
      { ...spec.devices, constraints: [{ requests: ["gpu", "net/fast"], matchAttribute: "example.com/zone" }] },
      [],
    ],
    [
      "must not name anything else in its constraints",
      { ...spec.devices, constraints: [{ requests: ["net/slow"], distinctAttribute: "zone" }] },
      [
        "spec.devices.constraints[0].requests[0]: Invalid value: \"net/slow\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
        'spec.devices.constraints[0].distinctAttribute: Invalid value: "zone": a fully qualified name must be a domain and a name separated by a slash',
      ],
    ],
    [
      "must not have two requests with the same name",
      { requests: [...(spec.devices?.requests ?? []), ...(spec.devices?.requests ?? []).slice(0, 1)] },
      ['spec.devices.requests[2]: Duplicate value: "gpu"'],
    ],
  ])("%s", (_, devices, expected) => {
    expect(
      texts(atOnce(validatingClaimSpec(FieldPath.root("spec"), devices === undefined ? {} : { devices }))),
    ).toEqual(expected)
  })
})

describe("all selectors of a claim", () => {
  const devices = (expressions: readonly string[]): NonNullable<ClaimSpec["devices"]> => ({
    requests: [0, 1].map((index) => ({
      name: `r${index}`,
      exactly: {
        deviceClassName: "c",
        allocationMode: "All",
        selectors: expressions.filter((_, at) => at % 2 === index).map((expression) => ({ cel: { expression } })),
      },
    })),
  })
  const long = (name: number): string => `device.driver == '${name}${"x".repeat(10_000)}'`
  const sixty = Array.from({ length: 60 }, (_, index) => index)

  test("have a limit together, by what is compiled", async () => {
    const { create, make } = openRegistry("resourceclaims", "resource.k8s.io")
    await expect(
      create(make("a", { spec: { devices: devices(sixty.map(long)) } }, { namespace: "default" })),
    ).rejects.toThrow("all expressions together must not have more than 524288 characters")
  })

  test("are counted once if they are equal, and nothing else is", async () => {
    const { create, make } = openRegistry("resourceclaims", "resource.k8s.io")
    const config = sixty.slice(0, 30).map(() => ({ opaque: { driver: "d", parameters: { rule: "x".repeat(10_000) } } }))
    const spec = { devices: { ...devices(sixty.map((index) => long(index % 30))), config } }
    await create(make("b", { spec }, { namespace: "default" }))
  })
})

describe("a claim's status", () => {
  test("can be reserved only with an allocation", () => {
    const reserved = { reservedFor: [{ resource: "pods", name: "a", uid: "1" }] }
    expect(texts(validateStatus(claim(reserved), claim()))).toEqual([
      "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
    ])
    expect(validateStatus(claim({ ...reserved, allocation }), claim())).toEqual([])
  })

  test("accepts no new consumers when the claim is being deleted", () => {
    const current = claim({ allocation, reservedFor: [{ resource: "pods", name: "a", uid: "1" }] })
    const deleted = { ...current, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }
    expect(validateStatus(deleted, current)).toEqual([])
    const more = { ...deleted, status: { ...current.status, reservedFor: [{ resource: "pods", name: "b", uid: "2" }] } }
    expect(texts(validateStatus(more, current))).toEqual([
      "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
    ])
  })

  test("cannot change the allocation, and loses reported devices on deallocation", () => {
    const current = claim({ allocation, devices: [device] })
    const other = claim({ allocation: { devices: { results: [] } } })
    expect(texts(validateStatus(other, current))[0]).toMatch(/^status.allocation: Invalid value: .*field is immutable$/)
    const freed = claim({ devices: [device] })
    dropDeallocated(freed, current)
    expect(freed.status).toEqual({})
  })

  test("can be changed with permission for binding, and for the driver that is reported", async () => {
    const asked: string[] = []
    const ctx = (allowed: readonly string[]): RequestContext =>
      ({
        user: { name: "driver", groups: [], extra: {} },
        info: {
          verb: "update",
          group: "resource.k8s.io",
          version: "v1",
          resource: "resourceclaims",
          namespace: "default",
        },
        controlPlane: {
          authorizer: {
            async authorize({ verb, subresource, namespace, name }: Record<string, string>) {
              const one = `${verb} ${subresource} ${namespace}/${name}`
              asked.push(one)
              return { decision: allowed.includes(one) ? "Allow" : "NoOpinion", reason: "" }
            },
          },
        },
      }) as unknown as RequestContext
    const next = claim({ allocation, devices: [device] })
    const bind = "update binding /"
    const report = "arbitrary-node:update driver default/example.com"
    expect(await mayChangeStatus(ctx([bind, report]), next, claim())).toEqual([])
    expect(asked).toEqual([bind, report])
    expect(texts(await mayChangeStatus(ctx([bind]), next, claim()))).toEqual([
      'status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:update]" permission: resourceclaims.resource.k8s.io "example.com" is forbidden: User "driver" cannot arbitrary-node:update resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"',
    ])
    expect(texts(await mayChangeStatus(ctx([report]), next, claim()))).toEqual([
      'status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden: User "driver" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
    ])
    expect(await mayChangeStatus(ctx([]), next, next)).toEqual([])
  })
})

describe("a request policy of a capacity", () => {
  const range = (validRange: RequestPolicy["validRange"], usual = "2"): RequestPolicy => ({
    default: usual,
    ...(validRange === undefined ? {} : { validRange }),
  })
  test.each<[string, RequestPolicy, string[]]>([
    ["must have a default", { validValues: ["1"] }, ["default: Required value: required when validValues is defined"]],
    ["may have sorted values that include the default", { default: "2", validValues: ["1", "2", "4"] }, []],
    [
      "must not have a value above the capacity",
      { default: "3", validValues: ["16", "1"] },
      [
        'validValues[1]: Invalid value: "1": values must be sorted in ascending order',
        'validValues[0]: Invalid value: "16": option is larger than capacity value: 8',
        'validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
      ],
    ],
    ["may have a range with steps", range({ min: "2", max: "8", step: "2" }), []],
    [
      "must have a default that is a multiple of the step",
      range({ min: "1", step: "3" }),
      ['validRange.step: Invalid value: "2": value is not a multiple of a given step (3) from (1)'],
    ],
    ["may have a step of zero", range({ min: "2", step: "0" }), []],
  ])("%s", (_, policy, expected) => {
    const root = "policy."
    const found = texts(validateRequestPolicy(FieldPath.root("policy"), policy, "8"))
    expect(found).toEqual(expected.map((text) => `${root}${text}`))
  })
})
