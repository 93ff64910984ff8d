import { expect, test } from "vitest"
import { createRandom, pick, seedOf } from "../../../apimachinery/testing/random.ts"
import { mergeTolerations, type Toleration } from "./tolerations.ts"

const text = ({ key = "", operator = "", value = "", effect = "", tolerationSeconds }: Toleration): string =>
  [key, operator, value, effect, tolerationSeconds].join()

/** As upstream: each is compared with those that are kept, and with all after it. */
function mergeEach(all: readonly Toleration[]): Toleration[] {
  const covers = (one: Toleration, other: Toleration): boolean => {
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds: seconds } = one
    if (!(key === "" && operator === "Exists") && key !== (other.key ?? "")) return false
    if (effect !== "" && effect !== (other.effect ?? "")) return false
    if (effect === "NoExecute" && seconds !== undefined && !((other.tolerationSeconds ?? Infinity) <= seconds))
      return false
    if (operator === "Exists") return true
    return (operator === "" || operator === "Equal") && other.operator === "Equal" && value === (other.value ?? "")
  }
  const kept: Toleration[] = []
  for (const [index, one] of all.entries()) {
    const isKept = kept.some((other) => text(other) === text(one) || covers(other, one))
    if (!isKept && !all.slice(index + 1).some((other) => text(other) !== text(one) && covers(other, one)))
      kept.push(one)
  }
  return kept
}

const seed = seedOf()

test(`random tolerations are merged as if each were compared with each (SEED=${seed})`, () => {
  const random = createRandom(seed)
  const parts = {
    key: [undefined, "", "a", "b"],
    operator: [undefined, "", "Equal", "Exists", "Lt"],
    value: [undefined, "", "v", "w"],
    effect: [undefined, "", "NoExecute", "NoSchedule"],
    tolerationSeconds: [undefined, -1, 0, 5, 10],
  }
  const one = (): Toleration =>
    Object.fromEntries(
      Object.entries(parts).flatMap(([field, values]) => {
        const value = pick<string | number | undefined>(random, values)
        return value === undefined ? [] : [[field, value]]
      }),
    )
  for (let round = 0; round < 3000; round++) {
    const all = Array.from({ length: pick(random, [1, 2, 4, 7]) }, one)
    expect(mergeTolerations(all)).toEqual(mergeEach(all))
  }
})
