import { describe, expect, test } from "vitest"
import type { EndpointSlice } from "../../apimachinery/object.ts"
import { plan, slicesWithoutPlan, type Endpoint } from "./plan.ts"

describe("plan()", () => {
  const endpoint = (index: number): Endpoint => ({ addresses: [`10.0.0.${index}`], targetRef: { uid: String(index) } })
  const slice = (name: string, indexes: number[]): EndpointSlice => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name },
    addressType: "IPv4",
    ports: [],
    endpoints: indexes.map(endpoint),
  })
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index)
  const wanted = (indexes: number[]) => [{ addressType: "IPv4", ports: [], endpoints: indexes.map(endpoint) }]

  test("writes nothing without differences", () => {
    expect(plan(["IPv4"], wanted([1, 2]), { owned: [slice("a", [1, 2])] })).toEqual({
      create: [],
      update: [],
      delete: [],
    })
  })

  test("adds to the fullest slice that has room", () => {
    const result = plan(["IPv4"], wanted(range(0, 121)), {
      owned: [slice("a", range(0, 90)), slice("b", range(90, 120))],
    })
    expect(result.update.map((update) => [update.slice.metadata.name, update.endpoints.length])).toEqual([["a", 91]])
    expect(result.create).toEqual([])
  })

  test("fills new slices before the rest is added to an existing one", () => {
    const result = plan(["IPv4"], wanted(range(0, 200)), { owned: [slice("a", range(0, 50))] })
    expect(result.create.map(({ endpoints: created }) => created.length)).toEqual([100])
    expect(result.update.map((update) => update.endpoints.length)).toEqual([100])
  })

  test("fills a slice that changes anyway before it creates a new one", () => {
    const result = plan(["IPv4"], wanted([...range(1, 100), 200, 201]), { owned: [slice("a", range(0, 100))] })
    expect(result.update[0]!.endpoints).toHaveLength(100)
    expect(result.create.map(({ endpoints: created }) => created.length)).toEqual([1])
  })

  test("deletes slices that are empty or have other ports, but keeps one for a Service without endpoints", () => {
    const result = plan(["IPv4"], wanted([]), { owned: [slice("a", [1]), slice("b", [2])] })
    expect(result.delete.map(({ metadata }) => metadata.name)).toEqual(["b"])
    expect(result.update.map((update) => update.endpoints)).toEqual([[]])
  })

  test("keeps the only slice if it is empty, whoever owns it", () => {
    const kept = plan(["IPv4"], [], { owned: [], foreign: [slice("a", [])] })
    expect(kept).toEqual({ create: [], update: [], delete: [] })
    const { create, delete: deleted } = plan(["IPv4"], [], { owned: [], foreign: [slice("a", []), slice("b", [])] })
    expect(create).toHaveLength(1)
    expect(deleted.map(({ metadata }) => metadata.name)).toEqual(["a", "b"])
  })
})

test("the plan of many slices is gone through once to find those that remain", () => {
  let looks = 0
  const slices = Array.from({ length: 100 }, (_, n) => ({ metadata: { name: `s${n}` } }) as EndpointSlice)
  const update = slices.slice(1).map((slice) => ({
    get slice() {
      looks++
      return slice
    },
    endpoints: [],
  }))
  expect(slicesWithoutPlan(slices, { create: [], update, delete: [] })).toEqual(slices.slice(0, 1))
  expect(looks).toBe(99)
})
