import { expect, test } from "vitest"
import { convertYaml } from "../../apimachinery/schema/yaml/convert.ts"
import { printYaml } from "../../apimachinery/schema/yaml/print.ts"
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

test("what is printed equals what is printed without the thread", async () => {
  const thread = new YamlThread(limits)
  const value = { b: [1, "yes", 9007199254740993n, null], a: { text: "word ".repeat(100), lines: "a\nb\n" } }
  expect((await thread.print(bytes(JSON.stringify(value)))).toString()).toBe(printYaml(value).toString())
})

test("objects of the greatest depth are printed", async () => {
  const thread = new YamlThread(limits)
  const printed = await thread.print(bytes(`${'{"a":'.repeat(999)}1${"}".repeat(999)}`))
  expect(printed.toString()).toMatch(/^a:\n {2}a:\n[^]* a: 1\n$/)
})

test("what exhausts the memory when it is printed is refused", async () => {
  const thread = new YamlThread({ ...limits, maxHeapMiB: 16 })
  const large = thread.print(bytes(`[${'{"a":1},'.repeat(100_000)}1]`))
  await expect(large).rejects.toMatchObject({ code: 413 })
  expect((await thread.print(bytes("[1]"))).toString()).toBe("- 1\n")
})
