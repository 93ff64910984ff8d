import { expect, test } from "vitest"
import { Warnings } from "./warnings.ts"

function open() {
  let headers: string[] = []
  const warnings = new Warnings({
    headersSent: false,
    appendHeader: (_name: string, value: string) => headers.push(value),
    removeHeader: () => (headers = []),
  } as unknown as ConstructorParameters<typeof Warnings>[0])
  return { warnings, headers: () => headers }
}

test("warnings after a mark can be taken back, and are then given again", () => {
  const { warnings, headers } = open()
  warnings.add("a")
  const takeBack = warnings.mark()
  warnings.add("b")
  warnings.add("a")
  takeBack()
  expect(headers()).toEqual(['299 - "a"'])
  warnings.add("b")
  expect(headers()).toEqual(['299 - "a"', '299 - "b"'])
})

test("warnings that were cut because of those taken back are whole again", () => {
  const { warnings, headers } = open()
  warnings.add("a".repeat(1000))
  const takeBack = warnings.mark()
  for (const text of ["b", "c", "d", "e"]) warnings.add(text.repeat(1000))
  expect(headers()[0]).toBe(`299 - "${"a".repeat(256)}"`)
  takeBack()
  expect(headers()).toEqual([`299 - "${"a".repeat(1000)}"`])
})
