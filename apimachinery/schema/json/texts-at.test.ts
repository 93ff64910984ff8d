import { expect, test } from "vitest"
import { createRandom, pick, seedOf } from "../../testing/random.ts"
import { each, type Way } from "../ways.ts"
import { textsAt } from "./texts-at.ts"

test.each<[json: string, way: Way, texts: Record<string, string>]>([
  ['{"a":1}', ["a"], { "/a": "1" }],
  [' { "b" : [ { } ] , "a" : { "c" : "}" } } ', ["a"], { "/a": '{ "c" : "}" }' }],
  ['{"a":{"b":null}}', ["a", "b"], { "/a/b": "null" }],
  ['{"a":[{"b":1.0},{},{"b":"\\"]"},2]}', ["a", each, "b"], { "/a/0/b": "1.0", "/a/2/b": '"\\"]"' }],
  ['{"a":{"x":1e3,"y":[]}}', ["a", each], { "/a/x": "1e3", "/a/y": "[]" }],
  ['{"a":1,"\\u0061":{"a":2}}', ["a"], { "/a": '{"a":2}' }],
  ['{"b":true}', ["a"], {}],
  ['{"a":false}', ["a", "b"], {}],
  ["[]", ["a"], {}],
])("textsAt(%j, %j) returns %j", (json, way, texts) => {
  expect(Object.fromEntries(textsAt(json, [way]))).toEqual(texts)
})

test("the texts of random values are found between blanks", () => {
  const seed = seedOf()
  const random = createRandom(seed)
  const blank = (): string => pick(random, ["", " ", "\n\t", "\r "])
  const text = (depth: number): string => {
    const items = depth === 0 ? [] : Array.from({ length: random(3) }, (_, index) => index)
    switch (random(4)) {
      case 0:
        return pick(random, ["null", "true", "-1.50e+3", '"a\\"}]{,:"', '""', '"\\\\"'])
      case 1:
        return `[${blank()}${items.map(() => text(depth - 1)).join(`${blank()},${blank()}`)}${blank()}]`
      default:
        return `{${blank()}${items.map((index) => `"k${index}"${blank()}:${blank()}${text(depth - 1)}`).join(`${blank()},${blank()}`)}${blank()}}`
    }
  }
  for (let round = 0; round < 500; round++) {
    const [before, wanted, after] = [text(4), text(4), text(4)]
    const json = `${blank()}{"x":${before},${blank()}"a"${blank()}:${blank()}${wanted}${blank()},"y":${after}}${blank()}`
    JSON.parse(json)
    expect(Object.fromEntries(textsAt(json, [["a"]])), `seed ${seed}`).toEqual({ "/a": wanted })
  }
})
