import { expect, test } from "vitest"
import type { StatusError } from "../../../apimachinery/status.ts"
import { createKindsStub, type KindsStub, type Loose } from "../../testing/kinds.ts"
import { podResize } from "./pod-resize.ts"

const resources = (cpu: string, memory = "1Gi"): Loose => ({ requests: { cpu, memory }, limits: { cpu, memory } })

async function withPod(nodeName: string, labels: Loose = {}): Promise<KindsStub> {
  const kinds = createKindsStub({ plugins: [podResize] })
  await kinds.create("nodes", { metadata: { name: "n", labels } })
  const status = { allocatable: { cpu: "1500m", memory: "2Gi" } }
  await kinds.patch("nodes", "n", { status }, { subresource: "status" })
  const container = { name: "c", image: "i", resources: resources("1") }
  await kinds.create("pods", { metadata: { name: "p" }, spec: { nodeName, containers: [container] } })
  return kinds
}

async function refusal(kinds: KindsStub, wanted: Loose): Promise<{ message?: string; causes?: object[] }> {
  const patch = { spec: { containers: [{ name: "c", resources: wanted }] } }
  const resized = kinds.patch("pods", "p", patch, { type: "strategic", subresource: "resize" })
  const { status } = await resized.then(
    () => ({ status: {} as StatusError["status"] }),
    (error: unknown) => error as StatusError,
  )
  const { code, message, details } = status
  return code === 403 && message !== undefined ? { message, causes: details?.causes ?? [] } : {}
}

const short = "node didn't have enough allocatable resources: "

test.each<[string, Loose, string | undefined]>([
  ["all of them", resources("1500m", "2Gi"), undefined],
  ["more cpu", resources("1501m"), `${short}cpu, requested: 1501, allocatable: 1500`],
  ["more memory", resources("1", "3Gi"), `${short}memory, requested: 3221225472, allocatable: 2147483648`],
  [
    "more of both",
    resources("2", "3Gi"),
    `${short}cpu, requested: 2000, allocatable: 1500; memory, requested: 3221225472, allocatable: 2147483648`,
  ],
  ["its current resources", resources("1"), undefined],
])("a pod may be resized up to its node's allocatable resources: %s", async (_, wanted, why) => {
  await using kinds = await withPod("n")
  const expected = { message: `pods "p" is forbidden: ${why}`, causes: [{ reason: "NodeCapacity" }] }
  expect(await refusal(kinds, wanted)).toEqual(why === undefined ? {} : expected)
})

test("only known Linux nodes can resize", async () => {
  await using windows = await withPod("n", { "kubernetes.io/os": "windows" })
  expect(await refusal(windows, resources("1100m"))).toEqual({
    message: 'pods "p" is forbidden: pod resize is only supported on linux nodes, node "n" is "windows"',
    causes: [{ reason: "UnsupportedPlatform" }],
  })
  await using unknown = await withPod("gone")
  const message = 'pods "p" is forbidden: node "gone" not found'
  expect(await refusal(unknown, resources("1100m"))).toEqual({ message, causes: [] })
  await using waiting = await withPod("")
  expect(await refusal(waiting, resources("100"))).toEqual({})
})
