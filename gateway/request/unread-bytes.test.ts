import { expect, test } from "vitest"
import { UnreadBytes } from "./unread-bytes.ts"

test("beyond the limit those are cut that have waited longest, until the others are within it", () => {
  const unread = new UnreadBytes(100)
  const cut: string[] = []
  const add = (name: string, bytes: number): (() => void) => unread.add(bytes, () => void cut.push(name))
  add("first", 40)
  const taken = add("second", 40)
  add("third", 20)
  expect(cut).toEqual([])
  taken()
  taken()
  add("fourth", 30)
  expect(cut).toEqual([])
  add("fifth", 60)
  expect(cut).toEqual(["first", "third"])
  add("sixth", 101)
  expect(cut).toEqual(["first", "third", "fourth", "fifth", "sixth"])
  add("seventh", 100)
  expect(cut).toHaveLength(5)
})

test("one that is cut while another is added may say so itself", () => {
  const unread = new UnreadBytes(100)
  const cut: string[] = []
  const done: (() => void)[] = []
  for (const name of ["a", "b", "c"])
    done.push(
      unread.add(60, () => {
        cut.push(name)
        done[cut.length - 1]?.()
      }),
    )
  expect(cut).toEqual(["a", "b"])
})
