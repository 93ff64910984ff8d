import { expect, test } from "vitest"
import { namespaceLifecycle } from "../../../admission/plugins/namespace-lifecycle.ts"
import { createKindsStub, faults, type Loose, verdict } from "../../../testing/kinds.ts"

const namespace = (name: string, spec?: Loose): Loose => ({
  metadata: { name },
  ...(spec === undefined ? {} : { spec }),
})
const setUp = () => createKindsStub({ plugins: [namespaceLifecycle] })
const inside = (name: string): Loose => ({ metadata: { name: "c", namespace: name } })

test("a new namespace is active, labelled and has a finalizer", async () => {
  await using kinds = setUp()
  const made = await kinds.create("namespaces", namespace("n", { finalizers: ["x.y/z"] }))
  expect(made).toMatchObject({
    metadata: { labels: { "kubernetes.io/metadata.name": "n" } },
    spec: { finalizers: ["x.y/z", "kubernetes"] },
    status: { phase: "Active" },
  })
})

test("objects cannot be created in a missing namespace", async () => {
  await using kinds = setUp()
  expect(await verdict(kinds.create("configmaps", inside("nowhere")))).toBe('namespaces "nowhere" not found')
})

test("a namespace that is being deleted rejects new objects, and is removed when it is finalized", async () => {
  await using kinds = setUp()
  await kinds.create("namespaces", namespace("n"))
  await kinds.create("configmaps", inside("n"))
  await kinds.delete("namespaces", "n")
  const left = await kinds.get("namespaces", "n")
  expect(left["status"].phase).toBe("Terminating")
  expect(left["metadata"].deletionTimestamp).toEqual(expect.any(String))
  expect(await verdict(kinds.create("configmaps", { metadata: { name: "d", namespace: "n" } }))).toBe(
    'configmaps "d" is forbidden: unable to create new content in namespace n because it is being terminated',
  )
  const finalized = { ...left, spec: { finalizers: [] } } as never
  await kinds.client.update({ group: "", version: "v1", resource: "namespaces", namespaced: false }, finalized, {
    subresource: "finalize",
  })
  expect(await verdict(kinds.get("namespaces", "n"))).toBe('namespaces "n" not found')
})

test.each(["default", "kube-system", "kube-public"])("%s cannot be deleted", async (name) => {
  await using kinds = setUp()
  await kinds.create("namespaces", namespace(name))
  expect(await verdict(kinds.delete("namespaces", name))).toBe(
    `namespaces "${name}" is forbidden: this namespace may not be deleted`,
  )
})

test.each([
  [
    "A",
    "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
  ["a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'],
])("rejects the name %s", async (name, expected) => {
  await using kinds = setUp()
  expect(await faults(kinds.create("namespaces", namespace(name)))).toContain(expected)
})

test("a deletion that adds a finalizer leaves each of the others once", async () => {
  await using kinds = setUp()
  await kinds.create("namespaces", { metadata: { name: "n", finalizers: ["x.y/z", "x.y/z"] } })
  await kinds.delete("namespaces", "n", { propagationPolicy: "Orphan" })
  expect((await kinds.get("namespaces", "n"))["metadata"].finalizers).toEqual(["x.y/z", "orphan"])
})
