// Counts requests of one control plane (or of all) under upstream's names, printed in Prometheus' format. Each label set is one
// series of numbers, so that counting a request costs one lookup. Source: k8s.io/apiserver/pkg/endpoints/metrics.

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
  /** "apiserver"; "" for requests that are not for resources. */
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

/** A request that has ended. */
interface CountedRequest {
  kind: RequestKind
  labels: RequestLabels
  /** {@link seriesKey} */
  key: string
  code: number
  seconds: number
  /** The part of the duration spent waiting for webhooks and for other requests. */
  waitedSeconds: number
  /** Terminated by the server: timed out, or rejected because of a limit. */
  isTerminated: boolean
  /** Size of the response body; counted for reads. */
  bytes: number
}

interface Series {
  labels: RequestLabels
  codes: Map<number, number>
  durations: Histogram
  /** Durations without waiting for others. Undefined: no request has waited. */
  ownDurations: Histogram | undefined
  /** Only for series with response sizes. */
  sizes: Histogram | undefined
  /** Long-running requests in progress; undefined: there has never been one. */
  active: number | undefined
  /** Requests terminated by the server, by code. */
  terminations: Map<number, number> | undefined
}

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const
/** This histogram has no buckets below these. */
const finestBounds = 2
const ownSecondsBounds = secondsBounds.slice(finestBounds)
const bytesBounds = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000] as const
/** Number of label sets per control plane; requests of further ones are counted without labels. */
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
  /** The labels of deprecated built-in kinds that were requested. */
  readonly #deprecated = new Set<string>()

  begin(kind: RequestKind): void {
    this.#inFlight[kind]++
  }

  /** Returns whether it is the first request with its labels. */
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

  /** Counts a long-running request by its labels; the returned function must be called when it ends. */
  enter(labels: RequestLabels, key: string): () => void {
    const series = this.#of(labels, key)
    series.active = (series.active ?? 0) + 1
    return () => (series.active = (series.active ?? 0) - 1)
  }

  askedForDeprecated({ group, version, resource, subresource }: RequestLabels): void {
    const place = { group, removed_release: "", resource, subresource, version }
    this.#deprecated.add(printLabels(place))
  }

  /** Requests in progress remain counted. */
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

/** The key of a label set. */
export function seriesKey(labels: RequestLabels): string {
  const { dryRun, verb, group, version, resource, subresource, scope } = labels
  return `${verb} ${group} ${version} ${resource} ${subresource} ${scope} ${dryRun}`
}

function requestLabels({
  labels: { component, dryRun, group, resource, scope, subresource, verb, version },
}: Series): string {
  return printLabels({ component, dry_run: dryRun, group, resource, scope, subresource, verb, version })
}

/** Without the dry-run label. */
function placeLabels({ labels: { component, group, resource, scope, subresource, verb, version } }: Series): string {
  return printLabels({ component, group, resource, scope, subresource, verb, version })
}

const ownDurationsOf = ({ ownDurations, durations }: Series): Histogram => ownDurations ?? asOwn(durations)

/** For requests that did not wait. */
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
