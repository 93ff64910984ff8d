// Merges the metrics of all processes: every series has a label for its process, so that sums over processes are correct.

import type { GatewayLimits } from "../options.ts"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { Metrics } from "../metrics/metrics.ts"

export interface ProcessMetrics {
  /** "primary", "worker-1", … */
  process: string
  text: string
}

/** The metrics of the primary, which print those of all processes. */
export class SharedMetrics extends Metrics {
  readonly #others: () => Promise<ProcessMetrics[]>

  constructor(
    limits: Pick<GatewayLimits, "maxInFlight">,
    others: () => Promise<ProcessMetrics[]>,
    clients: ClientMetrics | undefined,
  ) {
    super(limits, clients)
    this.#others = others
  }

  override async print(): Promise<string> {
    const others = await this.#others()
    return mergeMetrics([{ process: "primary", text: this.printAlone() }, ...others])
  }
}

/** Prints each family once with the series of all processes. The texts are in Prometheus' format as this project prints it. */
export function mergeMetrics(all: readonly ProcessMetrics[]): string {
  const families = new Map<string, { head: string[]; samples: string[] }>()
  for (const { process, text } of all) {
    let family: { head: string[]; samples: string[] } | undefined
    let isNew = false
    for (const line of text.split("\n")) {
      const [, comment, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? []
      if (name !== undefined) {
        if (comment === "HELP" || family === undefined) {
          isNew = !families.has(name)
          family = families.get(name) ?? { head: [], samples: [] }
          families.set(name, family)
        }
        if (isNew) family.head.push(line)
      } else if (line !== "" && !line.startsWith("#")) family?.samples.push(labelled(line, process))
    }
  }
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples])
  return `${lines.join("\n")}\n`
}

/** `name{a="b"} 1` → `name{process="…",a="b"} 1` */
function labelled(sample: string, process: string): string {
  const end = sample.search(/[{ ]/)
  const name = sample.slice(0, end)
  const rest = sample.slice(end)
  const label = `process="${process}"`
  if (!rest.startsWith("{")) return `${name}{${label}}${rest}`
  return `${name}{${label}${rest.startsWith("{}") ? "" : ","}${rest.slice(1)}`
}
