import { expect, test } from "vitest"
import type { User } from "../request/user.ts"
import { Bindings } from "./bindings.ts"
import type { Binding, Subject } from "./rbac.ts"

const roleRef = { kind: "ClusterRole", name: "r" }
const user = (name: string, ...groups: string[]): User => ({ name, groups, extra: {} })

/** A second implementation that examines each binding. */
function appliesTo({ kind, name, namespace = "" }: Subject, asked: User, home: string): boolean {
  if (kind === "User") return asked.name === name
  if (kind === "Group") return asked.groups.includes(name)
  const place = namespace === "" ? home : namespace
  return kind === "ServiceAccount" && place !== "" && asked.name === `system:serviceaccount:${place}:${name}`
}

function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test.each(["", "ns"])("in %j, bindings of the user are found in order, with the first subject that matches", (home) => {
  const below = numbers(7)
  const names = ["a", "b", "c", "__proto__", "constructor"]
  const any = (): string => names[below(names.length)] ?? ""
  const bindings = new Bindings(home)
  const plain = new Map<string, Binding>()
  for (let step = 0; step < 400; step++) {
    const name = `binding-${below(20)}`
    if (below(4) === 0) {
      bindings.delete(name)
      plain.delete(name)
    } else {
      const subjects = Array.from({ length: below(5) }, (): Subject => {
        const kind = ["User", "Group", "ServiceAccount", "Robot"][below(4)] ?? ""
        return { kind, name: any(), ...(below(2) === 0 ? {} : { namespace: below(2) === 0 ? "" : "ns" }) }
      })
      const binding = { name, subjects, roleRef }
      bindings.put(binding)
      plain.set(name, binding)
    }
    expect(bindings.size).toBe(plain.size)
    for (const asked of [user(any(), any(), any()), user(`system:serviceaccount:ns:${any()}`, any())]) {
      const expected = [...plain.values()].flatMap((binding) => {
        const subject = binding.subjects.find((each) => appliesTo(each, asked, home))
        return subject === undefined ? [] : [{ binding, subject }]
      })
      expect(bindings.of(asked).map(({ binding, subject }) => ({ binding, subject }))).toEqual(expected)
    }
  }
})

test("bindings of other subjects are not examined", () => {
  const bindings = new Bindings("")
  const subjects = Array.from({ length: 1000 }, (_, index) => ({ kind: "User", name: `u-${index}` }))
  for (let index = 0; index < 1000; index++) bindings.put({ name: `b-${index}`, subjects, roleRef })
  const began = performance.now()
  for (let index = 0; index < 10_000; index++) expect(bindings.of(user("nobody"))).toHaveLength(0)
  expect(performance.now() - began).toBeLessThan(5_000)
})
