import { expect, test } from "vitest"
import type { Volume } from "./types.ts"
import { volumePathWarnings } from "./volume-warnings.ts"

const volume = (...paths: string[]): Volume => ({
  name: "v",
  configMap: { name: "c", items: paths.map((path) => ({ key: "k", path })) },
})
const shown = (paths: string[]): string[] =>
  volumePathWarnings([volume(...paths)]).map((warning) => warning.replace(/^.*overlapping paths: /, ""))

// Source: pkg/api/pod/warnings_test.go.
test.each<[string, string[], string[]]>([
  ["different files", ["a", "b/c", "ab", "b/d"], []],
  ["one file twice", ["a", "b", "a"], ['"a" with "a"']],
  ["a file in another", ["a", "a/b"], ['"a/b" with "a"']],
  ["a file around others", ["a/b", "c", "a/d/e", "a"], ['"a" with "a/b"', '"a" with "a/d/e"']],
  ["a slash at the end", ["a/", "a/b"], ['"a/b" with "a"']],
  ["no path", ["", "a", ""], []],
  [
    "a file again, with what came since",
    ["a", "a/b", "a", "a/c", "a", "a"],
    ['"a/b" with "a"', '"a" with "a"', '"a" with "a/b"', '"a/c" with "a"', '"a" with "a/c"'],
  ],
])("%s", (_, paths, warnings) => {
  expect(shown(paths)).toEqual(warnings)
})

test("files of different sources of a projected volume", () => {
  const sources = [
    { configMap: { name: "a", items: [{ key: "k", path: "x" }] } },
    {},
    { secret: { name: "b", items: [{ key: "k", path: "x" }] } },
    {},
  ]
  expect(volumePathWarnings([{ name: "v", projected: { sources } }])).toEqual([
    'volume "v" (Projected) has no sources provided',
    'volume "v" (Projected): overlapping paths: "x" (Secret "b") with "x" (ConfigMap "a")',
  ])
})

test("files are compared only if they overlap, and no more warnings are made than are told", () => {
  const many = 30_000
  const numbers = Array.from({ length: many }, (_, index) => index)
  expect(shown(numbers.map((index) => `d/${index}`))).toEqual([])
  expect(shown([...numbers.map((index) => `d/${index}`), "d"])).toHaveLength(100)
  expect(shown(numbers.map(() => "same"))).toHaveLength(1)
  expect(shown([`${"a/".repeat(many)}a`, `${"a/".repeat(many)}b`])).toEqual([])
})
