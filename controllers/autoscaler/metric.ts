// One metric of an autoscaler: its current value, the replica count it asks for, and its entry in the status.
// Source: k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go (computeStatusFor…).

import { errorMessage } from "../../apimachinery/error-message.ts"
import { printSelector, selectorFromLabelSelector, type LabelSelector } from "../../apimachinery/labels.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { milliValue, parseQuantity, printQuantity } from "../../apimachinery/quantity.ts"
import { printLabelSelector } from "../disruption/selector-text.ts"
import { byAverageValue, byTotal, byTotalPerPod, byUtilization, type Proposal, type Tolerances } from "./calculator.ts"
import type { MetricsClient, PodMetrics } from "./metrics-client.ts"
import type { Metric, MetricStatus, ValueStatus } from "./types.ts"

interface MetricQuestion {
  client: MetricsClient
  namespace: string
  /** Printed label selector of the pods. */
  selector: string
  pods: readonly Pod[]
  /** `current` is the scale's spec.replicas, `actual` its status.replicas. */
  current: number
  actual: number
  tolerances: Tolerances
  now: number
}

export interface MetricAnswer {
  replicas: number
  /** The metric's name in messages. */
  name: string
  status: MetricStatus
}

/** Why a metric could not be evaluated: the reason and the message of the event and the condition. */
export class MetricFailure extends Error {
  readonly reason: string
  readonly eventMessage: string

  constructor(reason: string, eventMessage: string, text: string, options?: ErrorOptions) {
    super(text, options)
    this.name = "MetricFailure"
    this.reason = reason
    this.eventMessage = eventMessage
  }
}

/** An error of which events and conditions show only the cause. */
class Wrapped extends Error {
  readonly inner: string

  constructor(prefix: string, cause: unknown) {
    super(`${prefix}: ${errorMessage(cause)}`, { cause })
    this.inner = errorMessage(cause)
  }
}

async function wrapped<T>(prefix: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw new Wrapped(prefix, error)
  }
}

type Amount = string | number

const milli = (quantity: Amount): number => milliValue(parseQuantity(quantity))
const selectorText = (selector: LabelSelector | undefined): string =>
  printSelector(selectorFromLabelSelector(selector ?? {}))

function quantity(value: number, format: "DecimalSI" | "BinarySI" = "DecimalSI"): string {
  return printQuantity({ nano: BigInt(Math.trunc(value)) * 1_000_000n, format })
}

/** Throws {@link MetricFailure}. */
export async function ask(metric: Metric, question: MetricQuestion): Promise<MetricAnswer> {
  const { resource, containerResource, pods, object, external } = metric
  if (resource !== undefined) {
    return failing("FailedGetResourceMetric", `failed to get ${resource.name} resource metric value`, () =>
      askResource(resource, undefined, question),
    )
  }
  if (containerResource !== undefined) {
    const { container } = containerResource
    return failing("FailedGetContainerResourceMetric", `failed to get ${container} container metric value`, () =>
      askResource(containerResource, container, question),
    )
  }
  if (pods !== undefined) {
    return failing("FailedGetPodsMetric", "failed to get pods metric value", () => askPods(pods, question))
  }
  if (object !== undefined) {
    return failing("FailedGetObjectMetric", "failed to get object metric value", () => askObject(object, question))
  }
  if (external !== undefined) {
    const { name } = external.metric
    return failing("FailedGetExternalMetric", `failed to get ${name} external metric value`, () =>
      askExternal(external, question),
    )
  }
  const text = `unknown metric source type "${metric.type}"`
  throw new MetricFailure("InvalidMetricSourceType", text, text)
}

async function failing(reason: string, prefix: string, call: () => Promise<MetricAnswer>): Promise<MetricAnswer> {
  try {
    return await call()
  } catch (error) {
    const eventMessage = error instanceof Wrapped ? error.inner : errorMessage(error)
    throw new MetricFailure(reason, eventMessage, `${prefix}: ${errorMessage(error)}`, { cause: error })
  }
}

async function explained<T>(prefix: string, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw new Error(`${prefix}: ${errorMessage(error)}`, { cause: error })
  }
}

async function askResource(
  source: NonNullable<Metric["resource"]>,
  container: string | undefined,
  question: MetricQuestion,
): Promise<MetricAnswer> {
  const { name, target } = source
  const kind = target.averageValue === undefined ? "utilization" : "usage"
  const { averageUtilization } = target
  if (target.averageValue === undefined && averageUtilization === undefined) {
    const neither = "neither an average utilization target nor an average value (usage) target was set"
    throw new Error(`invalid resource metric source: ${neither}`)
  }
  const proposal = await explained(`failed to get ${name} ${kind}`, async () => {
    const metrics = await explained(`unable to get metrics for resource ${name}`, () =>
      question.client.resource(name, container, question),
    )
    const calculation = { ...question, metrics, resource: name }
    return target.averageValue === undefined
      ? byUtilization(calculation, averageUtilization ?? 0, container)
      : byAverageValue(calculation, milli(target.averageValue))
  })
  const current: ValueStatus = {
    ...(proposal.utilization === undefined ? {} : { averageUtilization: proposal.utilization }),
    averageValue: quantity(proposal.usage, name === "memory" ? "BinarySI" : "DecimalSI"),
  }
  const subject = container === undefined ? "resource" : "container resource"
  return {
    replicas: proposal.replicas,
    name: kind === "usage" ? `${name} resource` : `${name} ${subject} utilization (percentage of request)`,
    status:
      container === undefined
        ? { type: "Resource", resource: { name, current } }
        : { type: "ContainerResource", containerResource: { name, container, current } },
  }
}

async function askPods(
  { metric, target }: NonNullable<Metric["pods"]>,
  question: MetricQuestion,
): Promise<MetricAnswer> {
  const metrics: PodMetrics = await explained(`unable to get metric ${metric.name}`, () =>
    question.client.pods(metric.name, selectorText(metric.selector), question),
  )
  const { replicas, usage } = byAverageValue({ ...question, metrics, resource: "" }, milli(target.averageValue ?? 0))
  const current = { averageValue: quantity(usage) }
  return { replicas, name: `pods metric ${metric.name}`, status: { type: "Pods", pods: { metric, current } } }
}

async function askObject(
  { metric, target, describedObject }: NonNullable<Metric["object"]>,
  question: MetricQuestion,
): Promise<MetricAnswer> {
  const { kind, name } = describedObject
  const { type, value, averageValue } = target
  if (!(type === "Value" && value !== undefined) && !(type === "AverageValue" && averageValue !== undefined)) {
    throw new Error("invalid object metric source: neither a value target nor an average value target was set")
  }
  // The format of this message is upstream's.
  const where = `${kind} on ${question.namespace} ${name}`
  const fetch = (): Promise<number> =>
    question.client
      .object(metric.name, selectorText(metric.selector), question.namespace, describedObject)
      .catch((error: unknown) => {
        throw new Error(`unable to get metric ${metric.name}: ${where}/${errorMessage(error)}`, { cause: error })
      })
  const answer = (proposal: Proposal, called: string, current: ValueStatus): MetricAnswer => ({
    replicas: proposal.replicas,
    name: called,
    status: { type: "Object", object: { describedObject, metric, current } },
  })
  if (type === "Value" && value !== undefined) {
    const proposal = byTotal(question, await fetch(), milli(value))
    return answer(proposal, `${kind} metric ${metric.name}`, { value: quantity(proposal.usage) })
  }
  const usage = await wrapped(`failed to get ${metric.name} object metric`, fetch)
  const proposal = byTotalPerPod(question.actual, usage, milli(averageValue ?? 0), question.tolerances)
  return answer(proposal, external(metric), { averageValue: quantity(proposal.usage) })
}

async function askExternal(
  { metric, target }: NonNullable<Metric["external"]>,
  question: MetricQuestion,
): Promise<MetricAnswer> {
  const { value, averageValue } = target
  const { name, selector } = metric
  if (value === undefined && averageValue === undefined) {
    throw new Error("invalid external metric source: neither a value target nor an average value target was set")
  }
  const isAverage = averageValue !== undefined
  const prefix = isAverage ? `failed to get ${name} external metric` : `failed to get external metric ${name}`
  const proposal = await wrapped(prefix, async () => {
    const where = `${question.namespace}/${name}/${printLabelSelector(selector)}`
    const values = await explained(`unable to get external metric ${where}`, () =>
      question.client.external(name, selectorText(selector), question.namespace),
    )
    const usage = values.reduce((sum, each) => sum + each, 0)
    return isAverage
      ? byTotalPerPod(question.actual, usage, milli(averageValue), question.tolerances)
      : byTotal(question, usage, milli(value ?? 0))
  })
  const current = isAverage ? { averageValue: quantity(proposal.usage) } : { value: quantity(proposal.usage) }
  return {
    replicas: proposal.replicas,
    name: external(metric),
    status: { type: "External", external: { metric, current } },
  }
}

function external({ name, selector }: { name: string; selector?: LabelSelector }): string {
  return `external metric ${name}(${printLabelSelector(selector)})`
}
