import { expect, test } from "vitest"
import { convertYaml } from "../../apimachinery/schema/yaml/convert.ts"
import { YamlThread } from "./yaml-thread.ts"

const limits = { idleMs: 1, maxHeapMiB: 64 }
const bytes = (text: string): Buffer => Buffer.from(text)

test.each([
  ["an object", "a: {b: [1, yes, 9007199254740993]}\n"],
  ["keys given twice", "a: 1\na: 2\n"],
  ["a fault", "a: [\n"],
  ["a value that JSON cannot express", "a: .nan\n"],
  ["an empty document", ""],
])("the result for %s equals a conversion without the thread", async (_, text) => {
  const thread = new YamlThread(limits)
  expect(await thread.convert(bytes(text))).toEqual(convertYaml(bytes(text)))
})

test("texts are converted one by one, and each gets its result", async () => {
  const thread = new YamlThread(limits)
  const outcomes = await Promise.all([1, 2, 3].map((value) => thread.convert(bytes(`value: ${value}`))))
  expect(outcomes).toEqual(
    [1, 2, 3].map((value) => ({ json: `{"value":${value}}`, hasLongIntegers: false, repeatedKeys: [] })),
  )
})

test("the thread ends when idle, and is restarted on demand", async () => {
  const thread = new YamlThread(limits)
  await thread.convert(bytes("a: 1"))
  await expect.poll(() => thread.isRunning).toBe(false)
  expect(await thread.convert(bytes("a: 2"))).toMatchObject({ json: '{"a":2}' })
})

test("a text that exhausts the memory is rejected, and the next one is converted", async () => {
  const thread = new YamlThread({ ...limits, maxHeapMiB: 16 })
  const large = thread.convert(bytes("- {a: 1}\n".repeat(100_000)))
  const next = thread.convert(bytes("a: 1"))
  expect(await large).toEqual({ isTooLong: true })
  expect(await next).toMatchObject({ json: '{"a":1}' })
})
