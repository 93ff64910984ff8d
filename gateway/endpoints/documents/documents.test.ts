import { expect, onTestFinished, test, vi } from "vitest"
import { contextOf, createControlPlaneStub } from "../../testing/control-plane-stub.ts"
import { Edition } from "../../registry/edition.ts"
import { bytesOfDocument, document } from "./documents.ts"

function setUp() {
  const stub = createControlPlaneStub()
  onTestFinished(() => stub[Symbol.asyncDispose]())
  let jobs = 0
  const aside = <T>(job: () => Promise<T>): Promise<T> => {
    jobs++
    return job()
  }
  return { ctx: { ...contextOf(stub), aside }, jobs: () => jobs }
}

const ofCustom = [{ customResource: { uid: "1", edition: new Edition("1") } }]

test("a long document is compressed, and decompressed for other clients, in turns", async () => {
  const { ctx, jobs } = setUp()
  const value = { text: "x".repeat(200_000) }
  const made = await document(ctx, "long", ofCustom, () => value)
  expect(made.bytes).toBeUndefined()
  expect(jobs()).toBe(1)
  using gathering = vi.spyOn(Buffer, "concat")
  expect(JSON.parse((await bytesOfDocument(ctx, made)).toString())).toEqual(value)
  expect(jobs()).toBe(2)
  expect(gathering).not.toHaveBeenCalled()
})

test("is generated once for concurrent requests, and again after a failure", async () => {
  const { ctx } = setUp()
  const make = vi.fn<() => unknown>(() => {
    throw new Error("not now")
  })
  await expect(document(ctx, "one", ofCustom, make)).rejects.toThrow("not now")
  make.mockImplementation(() => ({}))
  const both = [document(ctx, "one", ofCustom, make), document(ctx, "one", ofCustom, make)]
  expect(await both[0]).toBe(await both[1])
  expect(make).toHaveBeenCalledTimes(2)
})
