// What the subresources ephemeralcontainers and resize change.

import { expect, test } from "vitest"
import { createKindsStub, type Loose, verdict } from "../../../testing/kinds.ts"

const container = (more: Loose = {}): Loose => ({ name: "a", image: "b:1", ...more })
const pod = (spec: Loose = {}): Loose => ({ metadata: { name: "p" }, spec: { containers: [container()], ...spec } })

test("adds an ephemeral container with defaults", async () => {
  await using kinds = createKindsStub()
  await kinds.create("pods", pod())
  const patch = { spec: { ephemeralContainers: [{ name: "d", image: "x" }] } }
  const changed = await kinds.patch("pods", "p", patch, { subresource: "ephemeralcontainers" })
  expect(changed["spec"].ephemeralContainers).toMatchObject([{ name: "d", imagePullPolicy: "Always" }])
  expect(await verdict(kinds.patch("pods", "p", patch))).toBe("accepted")
  const other = { spec: { ephemeralContainers: [{ name: "d", image: "y" }] } }
  expect(await verdict(kinds.patch("pods", "p", other, { subresource: "ephemeralcontainers" }))).toContain(
    'existing ephemeral containers "d" may not be changed',
  )
})

test("changes resources but not the QoS class", async () => {
  await using kinds = createKindsStub()
  await kinds.create("pods", pod({ containers: [container({ resources: { requests: { cpu: "1" } } })] }))
  const resize = (resources: Loose) =>
    kinds.patch("pods", "p", { spec: { containers: [container({ resources })] } }, { subresource: "resize" })
  expect((await resize({ requests: { cpu: "2" } }))["spec"].containers[0].resources).toEqual({
    requests: { cpu: "2" },
  })
  expect(
    await verdict(resize({ requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } })),
  ).toContain("Pod QOS Class may not change as a result of resizing")
})

test("changes of a whole pod no other resources than processors and memory", async () => {
  await using kinds = createKindsStub()
  const sized = { resources: { requests: { cpu: "1" } }, containers: [container()] }
  await kinds.create("pods", pod(sized))
  const resize = (resources: Loose) =>
    kinds.patch("pods", "p", { spec: { resources } }, { subresource: "resize", type: "merge" })
  expect(await verdict(resize({ requests: { cpu: "2" } }))).toBe("accepted")
  const only = "only cpu and memory resources are mutable"
  const claims = [{ name: "c" }]
  expect(await verdict(resize({ claims }))).toContain(`spec: Forbidden: ${only} at pod-level`)
  await kinds.create("pods", { ...pod({ containers: [container()] }), metadata: { name: "q" } })
  // A pod that is wrong in itself is not compared any more.
  const other = kinds.patch("pods", "q", { spec: { resources: { claims } } }, { subresource: "resize", type: "merge" })
  const refusal = await verdict(other)
  expect(refusal).toContain("claims may not be set for Resources at pod-level")
  expect(refusal).not.toContain(only)
})
