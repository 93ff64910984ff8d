import { describe, expect, test } from "vitest"
import type { Pod } from "../../apimachinery/object.ts"
import { jobPodsToDelete, podsToDelete } from "./deletion-order.ts"

const now = Date.parse("2026-01-01T12:00:00Z")

function pod(name: string, { created = "10:00:00", cost = "0", restarts = 0, sidecar = 0 } = {}): Pod {
  const status = (of: string, restartCount: number): object => ({ name: of, restartCount })
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: `2026-01-01T${created}Z`,
      annotations: { "controller.kubernetes.io/pod-deletion-cost": cost },
    },
    spec: { initContainers: [{ name: "side", restartPolicy: "Always" }, { name: "init" }] },
    status: {
      containerStatuses: [status("c", restarts)],
      initContainerStatuses: [status("side", sidecar), status("init", 9)],
    },
  } as unknown as Pod
}

const first = (of: (pods: Pod[]) => Pod[], ...pods: Pod[]): string | undefined => of(pods)[0]?.metadata.name
const ofSet = (pods: Pod[]): Pod[] => podsToDelete(pods, [], 1, now)
const ofJob = (pods: Pod[]): Pod[] => jobPodsToDelete(pods, 1)

describe("of two pods is deleted first", () => {
  test.each([
    ["the one with more container restarts", pod("a", { sidecar: 3 }), pod("b", { restarts: 1 }), "b", "b"],
    [
      "the one with more sidecar restarts, if container restarts are equal",
      pod("a"),
      pod("b", { sidecar: 1 }),
      "b",
      "b",
    ],
    [
      "of a set, the one with the lower deletion cost",
      pod("a", { created: "11:00:00" }),
      pod("b", { cost: "-1" }),
      "b",
      "a",
    ],
    ["of a Job, the younger, to the second", pod("a"), pod("b", { created: "10:00:01" }), "a", "b"],
  ])("%s", (_, a, b, set, job) => {
    expect(first(ofSet, a, b)).toBe(set)
    expect(first(ofJob, a, b)).toBe(job)
  })
})

test("of related pods on a node count those that are active", () => {
  const on = (node: string, of: Pod, phase = "Running"): Pod =>
    ({ ...of, spec: { ...of.spec, nodeName: node }, status: { ...of.status, phase } }) as Pod
  const [a, b] = [on("one", pod("a")), on("two", pod("b"))]
  const related = [a, b, on("one", pod("c"), "Failed"), on("one", pod("d"), "Succeeded"), on("two", pod("e"))]
  expect(first((pods) => podsToDelete(pods, related, 1, now), a, b)).toBe("b")
})
