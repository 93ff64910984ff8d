// Prometheus' text format and histograms. Components hold the counters they add to, so that counting is a mere addition; names
// and labels are formatted when the metrics are printed.

export interface Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[]
  /** Counts per bucket, not cumulative; the last one is above all bounds. */
  readonly buckets: number[]
  sum: number
  count: number
}

export function histogram(bounds: readonly number[]): Histogram {
  return { bounds, buckets: [...bounds.map(() => 0), 0], sum: 0, count: 0 }
}

export function observe(to: Histogram, value: number): void {
  const { bounds, buckets } = to
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
  buckets[bucket] = (buckets[bucket] ?? 0) + 1
  to.sum += value
  to.count++
}

/** Resets it in place: the component that holds it keeps adding to it. */
export function clear(all: Histogram): void {
  all.buckets.fill(0)
  all.sum = 0
  all.count = 0
}

/** `start`, each further bound multiplied by `factor`. */
export function exponentialBounds(start: number, factor: number, count: number): number[] {
  const bounds: number[] = []
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound)
  return bounds
}

/** Content type of metrics whose names are escaped in this way. */
export const expositionOf = (escaping: string): string =>
  `text/plain; version=0.0.4; charset=utf-8; escaping=${escaping}`

export const expositionType = expositionOf("underscores")

export type MetricType = "counter" | "gauge" | "histogram"

/** Empty if there are no samples. */
export function family(name: string, type: MetricType, help: string, samples: readonly string[]): string {
  return samples.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join("\n")}\n`
}

/** `labels` as formatted by {@link printLabels}, or "". */
export function sample(name: string, labels: string, value: number): string {
  return labels === "" ? `${name} ${value}` : `${name}{${labels}} ${value}`
}

/** Empty if nothing was observed. */
export function histogramSamples(name: string, labels: string, of: Histogram | undefined): string[] {
  if (of === undefined || of.count === 0) return []
  const before = labels === "" ? "" : `${labels},`
  const lines: string[] = []
  let sum = 0
  for (const [index, bound] of [...of.bounds.map(printBound), "+Inf"].entries()) {
    sum += of.buckets[index] ?? 0
    lines.push(`${name}_bucket{${before}le="${bound}"} ${sum}`)
  }
  return [...lines, sample(`${name}_sum`, labels, of.sum), sample(`${name}_count`, labels, of.count)]
}

/** A bound is a label, so its exact text matters: formatted like in Go, since dashboards select by it. */
function printBound(bound: number): string {
  const [digits = "", exponent = ""] = bound.toExponential().split("e")
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(bound)
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`
}

export function printLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(",")
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`
}
