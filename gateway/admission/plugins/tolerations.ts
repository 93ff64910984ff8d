// Merges tolerations: one that tolerates no more than another is left out. Source: k8s.io/kubernetes/pkg/util/tolerations. Upstream
// compares each with all others.

import type { PodSpec } from "../../../apimachinery/object.ts"

export type Toleration = NonNullable<PodSpec["tolerations"]>[number]

/** Of equal ones the first is kept. */
export function mergeTolerations(all: readonly Toleration[]): Toleration[] {
  const later = new Covering()
  const isCoveredLater = all.toReversed().map((one) => {
    const isCovered = later.coversOther(one)
    later.add(one)
    return isCovered
  })
  const kept = new Covering()
  const texts = new Set<string>()
  return all.filter((one, index) => {
    const text = textOf(one)
    if (texts.has(text) || kept.coversOther(one) || isCoveredLater.at(-1 - index)) return false
    texts.add(text)
    kept.add(one)
    return true
  })
}

interface Reach {
  text: string
  /** How long it tolerates a taint. */
  seconds: number | bigint
}

/** Tolerations by what they cover: a toleration of no more taints, for no longer. */
class Covering {
  /** The two of each place that tolerate longest: of two different ones, one differs from that which is asked for. */
  readonly #furthest = new Map<string, Reach[]>()

  add(one: Toleration): void {
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = one
    // An operator that is left out means Equal, but upstream recognizes it in the covering toleration only.
    const equals = operator === "" || operator === "Equal"
    if (!equals && operator !== "Exists") return
    const place = placeOf(key, equals ? value : undefined, effect)
    const reaches = this.#furthest.get(place) ?? []
    const text = textOf(one)
    if (reaches.some((reach) => reach.text === text)) return
    const seconds = effect === "NoExecute" ? (tolerationSeconds ?? Infinity) : Infinity
    this.#furthest.set(
      place,
      [...reaches, { text, seconds }]
        .sort((a, b) => Number(a.seconds < b.seconds) - Number(a.seconds > b.seconds))
        .slice(0, 2),
    )
  }

  /** Whether one of them covers this one, and is not equal. */
  coversOther(one: Toleration): boolean {
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds = Infinity } = one
    const text = textOf(one)
    const covers = (place: string): boolean =>
      this.#furthest.get(place)?.some((reach) => reach.text !== text && reach.seconds >= tolerationSeconds) === true
    return (effect === "" ? [""] : ["", effect]).some(
      (each) =>
        covers(placeOf("", undefined, each)) ||
        covers(placeOf(key, undefined, each)) ||
        (operator === "Equal" && covers(placeOf(key, value, each))),
    )
  }
}

/** `value`: undefined if all values are tolerated. */
function placeOf(key: string, value: string | undefined, effect: string): string {
  return JSON.stringify([key, value, effect])
}

function textOf({ key = "", operator = "", value = "", effect = "", tolerationSeconds }: Toleration): string {
  return JSON.stringify([key, operator, value, effect, String(tolerationSeconds)])
}
