// Durations of admission by step, and of each webhook. Source: k8s.io/apiserver/pkg/admission/metrics.

import {
  family,
  type Histogram,
  histogram,
  histogramSamples,
  observe,
  printLabels,
} from "../../client/metrics/exposition.ts"
import type { AdmissionStep } from "../request/context.ts"

const stepBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5] as const
const webhookBounds = [...stepBounds, 10, 25] as const
/** Number of label sets for webhooks per control plane; further ones are counted as one without a name. */
const maxWebhooks = 500

export class AdmissionCounts {
  /** By operation. */
  readonly #accepted: Record<AdmissionStep, Map<string, Histogram>> = { admit: new Map(), validate: new Map() }
  readonly #rejected: Record<AdmissionStep, Map<string, Histogram>> = { admit: new Map(), validate: new Map() }
  readonly #webhooks = new Map<string, Histogram>()

  step(type: AdmissionStep, operation: string, rejected: boolean, seconds: number): void {
    const steps = (rejected ? this.#rejected : this.#accepted)[type]
    let one = steps.get(operation)
    if (one === undefined) steps.set(operation, (one = histogram(stepBounds)))
    observe(one, seconds)
  }

  webhook(name: string, type: AdmissionStep, operation: string, rejected: boolean, seconds: number): void {
    const key = `${type} ${operation} ${rejected} ${name}`
    let one = this.#webhooks.get(key)
    if (one === undefined) {
      if (this.#webhooks.size >= maxWebhooks && name !== "") return this.webhook("", type, operation, rejected, seconds)
      this.#webhooks.set(key, (one = histogram(webhookBounds)))
    }
    observe(one, seconds)
  }

  reset(): void {
    for (const steps of [this.#accepted, this.#rejected]) for (const type in steps) steps[type as AdmissionStep].clear()
    this.#webhooks.clear()
  }

  print(): string {
    const steps = "apiserver_admission_step_admission_duration_seconds"
    const webhooks = "apiserver_admission_webhook_admission_duration_seconds"
    return [
      family(steps, "histogram", "Time of admission, by step and operation", this.#stepSamples(steps)),
      family(
        webhooks,
        "histogram",
        "Time of admission webhooks, by name, step and operation",
        [...this.#webhooks].flatMap(([key, one]) => histogramSamples(webhooks, webhookLabels(key), one)),
      ),
    ].join("")
  }

  #stepSamples(name: string): string[] {
    const types = ["admit", "validate"] as const
    return [this.#accepted, this.#rejected].flatMap((counts) =>
      types.flatMap((type) =>
        [...counts[type]].flatMap(([operation, one]) =>
          histogramSamples(name, printLabels({ operation, rejected: String(counts === this.#rejected), type }), one),
        ),
      ),
    )
  }
}

function webhookLabels(key: string): string {
  const [type = "", operation = "", rejected = "", name = ""] = key.split(" ")
  return printLabels({ name, operation, rejected, type })
}
