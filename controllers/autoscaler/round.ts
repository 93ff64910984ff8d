// One reconcile of one autoscaler: reads the current size, computes the desired size from the metrics, applies the limits and
// writes the status.
// Source: k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go (reconcileAutoscaler).

import { errorMessage } from "../../apimachinery/error-message.ts"
import { matches, parseSelector } from "../../apimachinery/labels.ts"
import { parseGroupVersion, timestamp, type Pod } from "../../apimachinery/object.ts"
import { parseQuantity } from "../../apimachinery/quantity.ts"
import { hasReason } from "../../apimachinery/status.ts"
import type { EventType } from "../../client/events.ts"
import { horizontalPodAutoscalers } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { withoutCondition, withStandardCondition } from "../conditions.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { resourceOfKind, type Scale } from "../scale.ts"
import type { Tolerances } from "./calculator.ts"
import type { Memory } from "./memory.ts"
import { ask, MetricFailure, type MetricAnswer } from "./metric.ts"
import { MetricsClient } from "./metrics-client.ts"
import { normalize } from "./normalize.ts"
import type { Autoscaler, AutoscalerStatus, MetricStatus } from "./types.ts"

const defaultTolerance = 0.1
/** Attempts to write the scale when another client changes it at the same time. */
const scaleAttempts = 5

interface RoundOptions {
  client: KubeClient
  event: (type: EventType, reason: string, message: string) => void
  autoscaler: Autoscaler
  memory: Memory
  /** All pods of the autoscaler's namespace. */
  pods: readonly Pod[]
  /** All autoscalers ("namespace/name"), this one included, that select one of these pods. */
  competitors: (pods: readonly Pod[]) => string[]
  /** Milliseconds since the epoch. */
  now: number
  /** The times of the memory. */
  elapsed: number
}

/** Ends the round; the failure is already recorded in an event and a condition. */
class ReportedError extends Error {}

export class Round {
  readonly #options: RoundOptions
  readonly #now: number
  #status: AutoscalerStatus

  constructor(options: RoundOptions) {
    this.#options = options
    this.#now = options.now
    this.#status = options.autoscaler.status ?? {}
  }

  async run(): Promise<void> {
    try {
      await this.#round()
    } catch (error) {
      if (!(error instanceof ReportedError)) throw error
    }
    if (equalIgnoringNulls(this.#status, this.#options.autoscaler.status)) return
    try {
      const changed = { ...this.#options.autoscaler, status: this.#status }
      await this.#options.client.update<Autoscaler>(horizontalPodAutoscalers, changed, { subresource: "status" })
    } catch (error) {
      this.#options.event("Warning", "FailedUpdateStatus", errorMessage(error))
      throw error
    }
  }

  async #round(): Promise<void> {
    const { autoscaler, memory, event, elapsed } = this.#options
    const { minReplicas = 1, maxReplicas = 1, behavior } = autoscaler.spec ?? {}
    const { resource, scale } = await this.#scale()
    this.#condition(
      "AbleToScale",
      "True",
      "SucceededGetScale",
      "the HPA controller was able to get the target's current scale",
    )
    const current = scale.spec?.replicas ?? 0
    memory.begin(current, elapsed)
    let desired = current
    let why = ""
    let metrics: MetricStatus[] | null = null
    if (current === 0) {
      const text = "scaling is disabled since the replica count of the target is zero"
      this.#condition("ScalingActive", "False", "ScalingDisabled", text)
      this.#forgetScaledToZero()
    } else if (current > maxReplicas) {
      desired = maxReplicas
      why = "Current number of replicas above Spec.MaxReplicas"
    } else if (current < minReplicas) {
      desired = minReplicas
      why = "Current number of replicas below Spec.MinReplicas"
    } else {
      const found = await this.#byMetrics(scale)
      metrics = found.metrics
      if (found.replicas > current) why = `${found.name} above target`
      else if (found.replicas < current) why = "All metrics below target"
      if (autoscaler.spec === undefined) return
      const { replicas, findings } = normalize(autoscaler.spec, memory, current, found.replicas, elapsed)
      for (const { type, status, reason, message: text } of findings) this.#condition(type, status, reason, text)
      desired = replicas
    }
    if (desired !== current) {
      await this.#rescale(resource, scale, desired, why, metrics)
      event("Normal", "SuccessfulRescale", `New size: ${desired}; reason: ${why}`)
      memory.scaled(behavior, current, desired, elapsed)
    }
    this.#counted(current, desired, metrics)
    if (desired !== current) this.#status = { ...this.#status, lastScaleTime: timestamp(new Date(this.#now)) }
  }

  async #scale(): Promise<{ resource: Resource; scale: Scale }> {
    const { autoscaler, client, event } = this.#options
    const { apiVersion = "v1", kind = "", name = "" } = autoscaler.spec?.scaleTargetRef ?? {}
    try {
      const resource = await resourceOfKind(client, { apiVersion, kind })
      if (resource === undefined)
        throw new Error(`no matches for kind "${kind}" in group "${parseGroupVersion(apiVersion).group}"`)
      const { namespace } = autoscaler.metadata
      return { resource, scale: await client.get<Scale>(resource, namespace, name, { subresource: "scale" }) }
    } catch (error) {
      const text = `the HPA controller was unable to get the target's current scale: ${errorMessage(error)}`
      event("Warning", "FailedGetScale", errorMessage(error))
      this.#condition("AbleToScale", "False", "FailedGetScale", text)
      throw new ReportedError(text, { cause: error })
    }
  }

  /** The largest replica count that any metric asks for. */
  async #byMetrics(scale: Scale): Promise<{ replicas: number; name: string; metrics: MetricStatus[] }> {
    const { autoscaler, client, now, event } = this.#options
    const specs = autoscaler.spec?.metrics ?? []
    const current = scale.spec?.replicas ?? 0
    const { selector, pods } = this.#selected(scale)
    const question = {
      client: new MetricsClient(client),
      namespace: autoscaler.metadata.namespace ?? "",
      selector,
      pods,
      current,
      actual: scale.status?.replicas ?? 0,
      tolerances: tolerancesOf(autoscaler),
      now,
    }
    const answers: (MetricAnswer | undefined)[] = []
    const failures: MetricFailure[] = []
    for (const spec of specs) {
      try {
        answers.push(await ask(spec, question))
      } catch (error) {
        if (!(error instanceof MetricFailure)) throw error
        answers.push(undefined)
        failures.push(error)
        event("Warning", error.reason, error.eventMessage)
      }
    }
    let [replicas, name] = [0, ""]
    for (const answer of answers) {
      if (answer !== undefined && (replicas === 0 || answer.replicas > replicas)) ({ replicas, name } = answer)
    }
    // Upstream reports a metric that it could not read as a metric with an empty type.
    const metrics = answers.map((answer) => answer?.status ?? { type: "" })
    const [first] = failures
    // If some metrics failed, the target may grow but not shrink.
    if (first !== undefined && (failures.length >= specs.length || replicas < current)) {
      const text = `the HPA was unable to compute the replica count: ${first.eventMessage}`
      this.#condition("ScalingActive", "False", first.reason, text)
      const count = `invalid metrics (${failures.length} invalid out of ${specs.length})`
      this.#failMetrics(current, metrics, `${count}, first error is: ${first.message}`)
    }
    const text = `the HPA was able to successfully calculate a replica count from ${name}`
    this.#condition("ScalingActive", "True", "ValidMetricFound", text)
    return { replicas, name, metrics }
  }

  #selected(scale: Scale): { selector: string; pods: Pod[] } {
    const { memory, event, pods, competitors } = this.#options
    const current = scale.spec?.replicas ?? 0
    const selector = scale.status?.selector ?? ""
    const fail = (reason: string, condition: string, text: string, shown = text): never => {
      event("Warning", reason, text)
      this.#condition("ScalingActive", "False", condition, shown)
      return this.#failMetrics(current, null, text)
    }
    if (selector === "") {
      fail(
        "SelectorRequired",
        "InvalidSelector",
        "selector is required",
        "the HPA target's scale is missing a selector",
      )
    }
    let selected: Pod[] = []
    try {
      const parsed = parseSelector(selector)
      selected = pods.filter((pod) => matches(parsed, pod.metadata.labels ?? {}))
      memory.selector = parsed
    } catch (error) {
      const text = `couldn't convert selector into a corresponding internal selector object: ${errorMessage(error)}`
      fail("InvalidSelector", "InvalidSelector", text)
    }
    const all = competitors(selected)
    if (all.length > 1) {
      const text = `pods by selector ${selector} are controlled by multiple HPAs: [${all.join(" ")}]`
      fail("AmbiguousSelector", "AmbiguousSelector", text)
    }
    return { selector, pods: selected }
  }

  #failMetrics(current: number, metrics: MetricStatus[] | null, text: string): never {
    this.#counted(current, this.#status.desiredReplicas ?? 0, metrics)
    this.#options.event("Warning", "FailedComputeMetricsReplicas", text)
    throw new ReportedError(text)
  }

  async #rescale(
    resource: Resource,
    scale: Scale,
    replicas: number,
    why: string,
    metrics: MetricStatus[] | null,
  ): Promise<void> {
    const { client, event } = this.#options
    const { namespace, name = "" } = scale.metadata
    let latest = scale
    for (let attempt = 1; ; attempt++) {
      try {
        await client.update<Scale>(resource, { ...latest, spec: { replicas } }, { subresource: "scale" })
        break
      } catch (error) {
        if (hasReason(error, "Conflict") && attempt < scaleAttempts) {
          latest = await client.get<Scale>(resource, namespace, name, { subresource: "scale" })
          continue
        }
        event("Warning", "FailedRescale", `New size: ${replicas}; reason: ${why}; error: ${errorMessage(error)}`)
        const text = `the HPA controller was unable to update the target scale: ${errorMessage(error)}`
        this.#condition("AbleToScale", "False", "FailedUpdateScale", text)
        this.#counted(scale.spec?.replicas ?? 0, this.#status.desiredReplicas ?? 0, metrics)
        throw new ReportedError(text, { cause: error })
      }
    }
    const text = `the HPA controller was able to update the target scale to ${replicas}`
    this.#condition("AbleToScale", "True", "SucceededRescale", text)
    this.#forgetScaledToZero()
  }

  /** Set where HPAScaleToZero (alpha) is enabled; otherwise it would become outdated. */
  #forgetScaledToZero(): void {
    this.#status = { ...this.#status, conditions: withoutCondition(this.#status.conditions, "ScaledToZero") }
  }

  #counted(currentReplicas: number, desiredReplicas: number, currentMetrics: MetricStatus[] | null): void {
    const { lastScaleTime, conditions } = this.#status
    this.#status = {
      ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
      ...(currentReplicas === 0 ? {} : { currentReplicas }),
      desiredReplicas,
      currentMetrics,
      ...(conditions === undefined ? {} : { conditions }),
    }
  }

  #condition(type: string, status: string, reason: string, text: string): void {
    const lastTransitionTime = timestamp(new Date(this.#now))
    const condition = { type, status, lastTransitionTime, reason, message: text }
    this.#status = { ...this.#status, conditions: withStandardCondition(this.#status.conditions, condition) }
  }
}

function tolerancesOf({ spec }: Autoscaler): Tolerances {
  const of = (quantity: string | undefined): number =>
    quantity === undefined ? defaultTolerance : Number(parseQuantity(quantity).nano) / 1e9
  return { up: of(spec?.behavior?.scaleUp?.tolerance), down: of(spec?.behavior?.scaleDown?.tolerance) }
}
