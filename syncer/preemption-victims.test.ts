import { describe, expect, test } from "vitest"
import type { Node, Pod, PodSpec } from "../apimachinery/object.ts"
import { chooseVictims, least, type Room } from "./preemption-victims.ts"

const node = { metadata: { name: "n" }, status: { allocatable: { cpu: "10", pods: "5" } } } as unknown as Node

function podOf(name: string, cpu: string, priority = 0, more: { port?: number; leaving?: boolean } = {}): Pod {
  const ports = more.port === undefined ? [] : [{ containerPort: 80, hostPort: more.port }]
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...(more.leaving === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
    spec: { priority, containers: [{ name: "c", resources: { requests: { cpu } }, ports }] } as unknown as PodSpec,
  }
}

/** Pods with names that begin with "own" are the tenant's; each serves as its own copy here. */
function victims(pod: Pod, ...there: Pod[]): string[] | "soon" | undefined {
  const lower = new Map(there.filter(({ metadata }) => metadata.name?.startsWith("own")).map((one) => [one, one]))
  const room = chooseVictims({ node, pod, there, lower })
  return typeof room === "object" ? room.victims.map(({ metadata }) => metadata.name ?? "") : room
}

describe("chooseVictims()", () => {
  test.each<[string, Pod, Pod[], string[] | "soon" | undefined]>([
    ["none if the pod fits", podOf("p", "2"), [podOf("own-a", "8")], undefined],
    ["none if other tenants use the resources", podOf("p", "2"), [podOf("other", "9"), podOf("own-a", "1")], undefined],
    [
      "as few as possible, the least important first",
      podOf("p", "5"),
      [podOf("own-1", "2", 1), podOf("own-2", "3", 2), podOf("own-3", "4.5", 3)],
      ["own-2", "own-1"],
    ],
    [
      "none while enough pods are terminating",
      podOf("p", "5"),
      [podOf("own-a", "5"), podOf("own-b", "5", 0, { leaving: true })],
      "soon",
    ],
    [
      "one for a pod slot",
      podOf("p", "0"),
      [podOf("own-a", "1", 1), podOf("own-b", "1", 2), podOf("x", "0"), podOf("y", "0"), podOf("z", "0")],
      ["own-a"],
    ],
    [
      "one for a host port",
      podOf("p", "1", 0, { port: 80 }),
      [podOf("own-a", "1", 1, { port: 80 }), podOf("own-b", "1")],
      ["own-a"],
    ],
  ])("%s", (_what, pod, there, expected) => {
    expect(victims(pod, ...there)).toEqual(expected)
  })

  test("least() prefers the node with the least important victims", () => {
    const room = (name: string, ...priorities: number[]): Room => ({
      node: name,
      victims: priorities.map((priority) => podOf("v", "1", priority)),
    })
    expect(least([room("a", 5), room("b", 1, 1, 1), room("c", 1, 1)])?.node).toBe("c")
    expect(least([])).toBeUndefined()
  })
})
