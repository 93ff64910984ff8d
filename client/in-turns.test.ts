import { expect, test } from "vitest"
import { inTurns } from "./in-turns.ts"
import { countTurns } from "./testing/turns.ts"

function workFor(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test("others have their turn between long stretches, and nothing is left out", async () => {
  using turns = countTurns()
  const taken: [item: number, turns: number][] = []
  await inTurns([1, 2, 3], (item) => {
    taken.push([item, turns.count])
    workFor(2)
  })
  expect(taken).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
  ])
})

test("short work is done at once", async () => {
  const taken: number[] = []
  const done = inTurns([1, 2, 3], (item) => void taken.push(item))
  expect(taken).toEqual([1, 2, 3])
  await done
})
