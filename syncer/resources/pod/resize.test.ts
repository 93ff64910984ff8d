import { describe, expect, test } from "vitest"
import type { Container, Pod } from "../../../apimachinery/object.ts"
import { resizeChange } from "./resize.ts"

type Resources = NonNullable<Container["resources"]>
const podWith = (...resources: Resources[]): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: { containers: resources.map((each, index) => ({ name: `c${index}`, resources: each })) },
})

describe("a resize", () => {
  test.each<[string, Resources, Resources]>([
    ["the same quantities", { requests: { cpu: "100m" } }, { requests: { cpu: "100m" } }],
    ["the same quantity in another notation", { requests: { cpu: "0.1" } }, { requests: { cpu: "100m" } }],
    ["what super's admission added", {}, { limits: { cpu: "1" } }],
    [
      "what cannot be resized",
      { requests: { "example.com/dongle": "2" } },
      { requests: { "example.com/dongle": "1" } },
    ],
  ])("leaves %s", (_what, wanted, current) => {
    expect(resizeChange(podWith(wanted), podWith(current))).toBeUndefined()
  })

  test("changes the resources of one container and keeps all other fields of super", () => {
    const wanted = podWith({ requests: { cpu: "2", memory: "1Gi" } }, { limits: { memory: "1Gi" } })
    const current = podWith(
      { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "4" } },
      { limits: { memory: "1Gi" } },
    )
    expect(resizeChange(wanted, current)).toEqual({
      containers: [
        { name: "c0", resources: { requests: { cpu: "2", memory: "1Gi" }, limits: { cpu: "4" } } },
        { name: "c1", resources: { limits: { memory: "1Gi" } } },
      ],
    })
  })

  test("changes the pod-level resources", () => {
    const withPodLevel = (cpu: string): Pod => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {},
      spec: { containers: [], resources: { requests: { cpu } } },
    })
    expect(resizeChange(withPodLevel("2"), withPodLevel("1"))).toEqual({ resources: { requests: { cpu: "2" } } })
  })
})
