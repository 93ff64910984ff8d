import { expect, test } from "vitest"
import type { StatusError } from "../../../apimachinery/status.ts"
import { createKindsStub, type Loose } from "../../testing/kinds.ts"
import { declaredFeatures } from "./declared-features.ts"

const whole = "InPlacePodLevelResourcesVerticalScaling"
const init = "InPlacePodVerticalScalingInitContainers"
const of = (cpu: string): Loose => ({ requests: { cpu } })
const lacks = (...names: string[]): string =>
  `pods "p" is forbidden: pod update requires features ${names.join(", ")} which are not available on node "n"`

const resizes: Readonly<Record<string, Loose>> = {
  container: { containers: [{ name: "c", resources: of("20m") }] },
  sidecar: { initContainers: [{ name: "s", resources: of("20m") }] },
  before: { initContainers: [{ name: "i", resources: of("20m") }] },
  whole: { resources: of("900m") },
  all: { resources: of("900m"), initContainers: [{ name: "i", resources: of("20m") }] },
}

test.each<[string, string, string[], string | undefined]>([
  ["a container", "container", [], undefined],
  ["a sidecar", "sidecar", [], undefined],
  ["an init container", "before", [whole], lacks(init)],
  ["an init container, on a node that can", "before", [init], undefined],
  ["a whole pod", "whole", [init], lacks(whole)],
  ["a whole pod, on a node that can", "whole", [whole], undefined],
  ["both", "all", [], lacks(whole, init)],
  ["both, on a node that can", "all", [whole, init], undefined],
  ["both, on a node that is not there", "all", ["none"], 'pods "p" is forbidden: node "n" not found'],
])("a node declares that it can resize %s", async (_, what, declared, expected) => {
  await using kinds = createKindsStub({ plugins: [declaredFeatures] })
  if (declared[0] !== "none") {
    await kinds.create("nodes", { metadata: { name: "n" } })
    await kinds.patch("nodes", "n", { status: { declaredFeatures: declared } }, { subresource: "status" })
  }
  const spec = {
    nodeName: "n",
    resources: of("800m"),
    containers: [{ name: "c", image: "i", resources: of("10m") }],
    initContainers: [
      { name: "i", image: "i", resources: of("10m") },
      { name: "s", image: "i", resources: of("10m"), restartPolicy: "Always" },
    ],
  }
  await kinds.create("pods", { metadata: { name: "p" }, spec })
  const patch = { spec: resizes[what] ?? {} }
  const resized = kinds.patch("pods", "p", patch, { type: "strategic", subresource: "resize" })
  const refusal = await resized.then(
    () => undefined,
    ({ status }: StatusError) => status.message,
  )
  expect(refusal).toBe(expected)
})
