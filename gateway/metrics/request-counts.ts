// Requests of one control plane (or of all), counted under upstream's names and printed as Prometheus reads it. A label set is
// kept as one series of numbers, so that counting a request costs a lookup. Source: k8s.io/apiserver/pkg/endpoints/metrics.

import {
  family,
  type Histogram,
  histogram,
  histogramSamples,
  type MetricType,
  observe,
  printLabels,
  sample,
} from "../../client/metrics/exposition.ts"

export interface RequestLabels {
  /** "apiserver"; "" of what is no resource. */
  component: string
  /** "", "All", or "invalid". */
  dryRun: string
  verb: string
  group: string
  version: string
  resource: string
  subresource: string
  /** "resource", "namespace", "cluster" or "". */
  scope: string
}

/** A request that is over. */
export interface CountedRequest {
  kind: RequestKind
  labels: RequestLabels
  /** {@link seriesKey} */
  key: string
  code: number
  seconds: number
  /** Of these, for webhooks and for others' requests. */
  waitedSeconds: number
  /** Ended for the server's sake: too late, or one too many. */
  isTerminated: boolean
  /** Of the answer's body; counted of what is read. */
  bytes: number
}

interface Series {
  labels: RequestLabels
  codes: Map<number, number>
  durations: Histogram
  /** Without what it waited for others. Undefined: it never did. */
  ownDurations: Histogram | undefined
  /** Only of what has any. */
  sizes: Histogram | undefined
  /** Under way, of what has no end of its own; undefined: there never was any. */
  active: number | undefined
  /** Those that were ended for the server's sake, by code. */
  terminations: Map<number, number> | undefined
}

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const
/** Below these it makes no difference. */
const finestBounds = 2
const ownSecondsBounds = secondsBounds.slice(finestBounds)
const bytesBounds = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000] as const
/** Label sets of one control plane; beyond it a request is counted as one of none. */
const maxSeries = 2000

const noLabels: RequestLabels = {
  component: "",
  dryRun: "",
  verb: "other",
  group: "",
  version: "",
  resource: "",
  subresource: "",
  scope: "",
}

const reading: ReadonlySet<string> = new Set(["GET", "LIST", "WATCH"])

export type RequestKind = "readOnly" | "mutating" | "longRunning"

export class RequestCounts {
  readonly #series = new Map<string, Series>()
  readonly #inFlight: Record<RequestKind, number> = { readOnly: 0, mutating: 0, longRunning: 0 }
  /** The labels of deprecated built-in kinds that were asked for. */
  readonly #deprecated = new Set<string>()

  begin(kind: RequestKind): void {
    this.#inFlight[kind]++
  }

  /** Whether it is the first of its labels. */
  end({ kind, labels, key, code, seconds, waitedSeconds, isTerminated, bytes }: CountedRequest): boolean {
    this.#inFlight[kind]--
    const series = this.#of(labels, key)
    const isFirst = series.durations.count === 0
    add(series.codes, code)
    if (waitedSeconds > 0) series.ownDurations ??= asOwn(series.durations)
    if (series.ownDurations !== undefined) observe(series.ownDurations, seconds - waitedSeconds)
    observe(series.durations, seconds)
    if (reading.has(labels.verb)) observe((series.sizes ??= histogram(bytesBounds)), bytes)
    if (isTerminated) add((series.terminations ??= new Map()), code)
    return isFirst
  }

  /** A request without an end of its own is known by its labels; answers what to call when it is over. */
  enter(labels: RequestLabels, key: string): () => void {
    const series = this.#of(labels, key)
    series.active = (series.active ?? 0) + 1
    return () => (series.active = (series.active ?? 0) - 1)
  }

  askedForDeprecated({ group, version, resource, subresource }: RequestLabels): void {
    const place = { group, removed_release: "", resource, subresource, version }
    this.#deprecated.add(printLabels(place))
  }

  /** What is under way still is. */
  reset(): void {
    this.#deprecated.clear()
    for (const [key, series] of this.#series) {
      if (!series.active) this.#series.delete(key)
      else Object.assign(series, { ...emptySeries(series.labels), active: series.active })
    }
  }

  print(): string {
    const all = [...this.#series.values()]
    const of = (name: string, type: MetricType, help: string, samplesOf: (one: Series) => string[]): string =>
      family(name, type, help, all.flatMap(samplesOf))
    const total = "apiserver_request_total"
    const duration = "apiserver_request_duration_seconds"
    const ownDuration = "apiserver_request_sli_duration_seconds"
    const sizes = "apiserver_response_sizes"
    const longRunning = "apiserver_longrunning_requests"
    const terminations = "apiserver_request_terminations_total"
    const inFlight = "apiserver_current_inflight_requests"
    const deprecated = "apiserver_requested_deprecated_apis"
    return [
      of(total, "counter", "Requests, by verb, resource and HTTP code", (one) =>
        byCode(total, one.codes, requestLabels(one)),
      ),
      of(duration, "histogram", "Time until a request was answered", (one) =>
        histogramSamples(duration, requestLabels(one), one.durations),
      ),
      of(ownDuration, "histogram", "Time until a request was answered, without what it waited for others", (one) =>
        histogramSamples(ownDuration, placeLabels(one), one.labels.dryRun === "" ? ownDurationsOf(one) : undefined),
      ),
      of(sizes, "histogram", "Bytes of what was read", (one) => histogramSamples(sizes, placeLabels(one), one.sizes)),
      of(longRunning, "gauge", "Requests without an end of their own", (one) =>
        one.active === undefined ? [] : [sample(longRunning, placeLabels(one), one.active)],
      ),
      of(terminations, "counter", "Requests that were ended for the server's sake", (one) =>
        byCode(terminations, one.terminations ?? new Map(), placeLabels(one)),
      ),
      family(
        inFlight,
        "gauge",
        "Requests being worked on, long-running ones apart",
        (["mutating", "readOnly"] as const).map((kind) =>
          sample(inFlight, printLabels({ request_kind: kind }), this.#inFlight[kind]),
        ),
      ),
      family(
        deprecated,
        "gauge",
        "Deprecated kinds that were asked for",
        [...this.#deprecated].map((labels) => sample(deprecated, labels, 1)),
      ),
    ].join("")
  }

  #of(labels: RequestLabels, key: string): Series {
    let series = this.#series.get(key)
    if (series !== undefined) return series
    if (this.#series.size >= maxSeries && labels !== noLabels) return this.#of(noLabels, seriesKey(noLabels))
    series = emptySeries(labels)
    this.#series.set(key, series)
    return series
  }
}

function emptySeries(labels: RequestLabels): Series {
  return {
    labels,
    codes: new Map(),
    durations: histogram(secondsBounds),
    ownDurations: undefined,
    sizes: undefined,
    active: undefined,
    terminations: undefined,
  }
}

/** Tells label sets apart. */
export function seriesKey(labels: RequestLabels): string {
  const { dryRun, verb, group, version, resource, subresource, scope } = labels
  return `${verb} ${group} ${version} ${resource} ${subresource} ${scope} ${dryRun}`
}

function requestLabels({
  labels: { component, dryRun, group, resource, scope, subresource, verb, version },
}: Series): string {
  return printLabels({ component, dry_run: dryRun, group, resource, scope, subresource, verb, version })
}

/** Where it does not matter whether it was done. */
function placeLabels({ labels: { component, group, resource, scope, subresource, verb, version } }: Series): string {
  return printLabels({ component, group, resource, scope, subresource, verb, version })
}

const ownDurationsOf = ({ ownDurations, durations }: Series): Histogram => ownDurations ?? asOwn(durations)

/** Of requests that did not wait. */
function asOwn({ buckets, sum, count }: Histogram): Histogram {
  const short = buckets.slice(0, finestBounds + 1).reduce((total, each) => total + each, 0)
  return { bounds: ownSecondsBounds, buckets: [short, ...buckets.slice(finestBounds + 1)], sum, count }
}

function byCode(name: string, counts: ReadonlyMap<number, number>, labels: string): string[] {
  return [...counts].map(([code, count]) => sample(name, `code="${code}",${labels}`, count))
}

function add(counts: Map<number, number>, code: number): void {
  counts.set(code, (counts.get(code) ?? 0) + 1)
}
