// State of an autoscaler between reconciles: its recommendations, for the stabilization windows, and its recent changes of
// size, for the scaling policies. As upstream, it is lost at a restart, and its times are of a clock that no correction changes.
// Source: k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go.

import type { Selector } from "../../apimachinery/labels.ts"
import type { Behavior, ScalingRules } from "./types.ts"

const defaultDownWindowSeconds = 300
/** Limit of samples per autoscaler; one is added every 15 s, and no window is longer than an hour. */
const maxSamples = 256

interface Sample {
  at: number
  value: number
}

export class Memory {
  #recommendations: Sample[] = []
  #ups: Sample[] = []
  #downs: Sample[] = []
  /** Time of the next reconcile, in ms. */
  nextAt = 0
  /** Of the pods, once it is known. */
  selector: Selector | undefined

  /** The current size is the first recommendation. */
  begin(replicas: number, at: number): void {
    if (this.#recommendations.length === 0) this.#recommendations.push({ at, value: replicas })
  }

  /** The largest recommendation of the last five minutes. */
  stabilized(desired: number, now: number): number {
    const cutoff = now - defaultDownWindowSeconds * 1000
    this.#recommendations = this.#recommendations.filter(({ at }) => at >= cutoff)
    const highest = Math.max(desired, ...this.#recommendations.map(({ value }) => value))
    this.#remember(this.#recommendations, { at: now, value: desired })
    return highest
  }

  /** `current`, limited to the range from the scale-up window's smallest to the scale-down window's largest recommendation. */
  stabilizedBy(behavior: Behavior, current: number, desired: number, now: number): number {
    const upCutoff = now - (behavior.scaleUp?.stabilizationWindowSeconds ?? 0) * 1000
    const downCutoff = now - (behavior.scaleDown?.stabilizationWindowSeconds ?? defaultDownWindowSeconds) * 1000
    let lowest = desired
    let highest = desired
    for (const { at, value } of this.#recommendations) {
      if (at > upCutoff) lowest = Math.min(lowest, value)
      if (at > downCutoff) highest = Math.max(highest, value)
    }
    this.#recommendations = this.#recommendations.filter(({ at }) => at >= Math.min(upCutoff, downCutoff))
    this.#remember(this.#recommendations, { at: now, value: desired })
    return Math.min(Math.max(current, lowest), highest)
  }

  scaled(behavior: Behavior | undefined, from: number, to: number, now: number): void {
    if (behavior === undefined || from === to) return
    const grows = to > from
    const samples = grows ? this.#ups : this.#downs
    const period = longestPeriod(grows ? behavior.scaleUp : behavior.scaleDown)
    const recent = samples.filter(({ at }) => at >= now - period * 1000)
    this.#remember(recent, { at: now, value: Math.abs(to - from) })
    if (grows) this.#ups = recent
    else this.#downs = recent
  }

  /** The largest size that the scale-up policies allow now. */
  upLimit(rules: ScalingRules | undefined, current: number, now: number): number {
    return this.#limit(rules, current, now, Math.max, (start, { type, value }) =>
      type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100)),
    )
  }

  /** The smallest size that the scale-down policies allow now. */
  downLimit(rules: ScalingRules | undefined, current: number, now: number): number {
    return this.#limit(rules, current, now, Math.min, (start, { type, value }) =>
      type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100)),
    )
  }

  #limit(
    rules: ScalingRules | undefined,
    current: number,
    now: number,
    mostPermissive: (...values: number[]) => number,
    proposed: (start: number, policy: NonNullable<ScalingRules["policies"]>[number]) => number,
  ): number {
    const { selectPolicy = "Max", policies = [] } = rules ?? {}
    if (selectPolicy === "Disabled") return current
    const limits = policies.map((policy) => {
      const since = now - policy.periodSeconds * 1000
      const start = current - changes(this.#ups, since) + changes(this.#downs, since)
      return proposed(start, policy)
    })
    const leastPermissive = mostPermissive === Math.max ? Math.min : Math.max
    return (selectPolicy === "Min" ? leastPermissive : mostPermissive)(...limits)
  }

  #remember(samples: Sample[], sample: Sample): void {
    samples.push(sample)
    if (samples.length > maxSamples) samples.shift()
  }
}

function changes(samples: readonly Sample[], since: number): number {
  return samples.reduce((sum, { at, value }) => (at > since ? sum + value : sum), 0)
}

function longestPeriod(rules: ScalingRules | undefined): number {
  return Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds))
}
