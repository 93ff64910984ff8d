// Requests of one control plane (or of all), counted under upstream's names and printed as Prometheus reads it. A label set is
// kept as one series of numbers, so that counting a request costs a lookup. Source: k8s.io/apiserver/pkg/endpoints/metrics.

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
  /** Of the answer's body; counted of what is read. */
  bytes: number
}

interface Series {
  labels: RequestLabels
  codes: Map<number, number>
  durations: Histogram
  /** Only of what has any. */
  sizes: Histogram | undefined
  /** Under way, of what has no end of its own; undefined: there never was any. */
  active: number | undefined
}

/** A histogram of one series; its bounds are its family's. */
interface Histogram {
  /** Per bucket, not summed up. */
  buckets: Uint32Array
  sum: number
  count: number
}

const secondsBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const
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
  end({ kind, labels, key, code, seconds, bytes }: CountedRequest): boolean {
    this.#inFlight[kind]--
    const series = this.#of(labels, key)
    const isFirst = series.durations.count === 0
    series.codes.set(code, (series.codes.get(code) ?? 0) + 1)
    observe(series.durations, secondsBounds, seconds)
    if (reading.has(labels.verb)) observe((series.sizes ??= histogram(bytesBounds)), bytesBounds, bytes)
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

  print(): string {
    const all = [...this.#series.values()]
    return [
      ...family("apiserver_request_total", "counter", "Requests, by verb, resource and HTTP code", all, requestLines),
      ...family("apiserver_request_duration_seconds", "histogram", "Time until a request was answered", all, (one) =>
        histogramLines("apiserver_request_duration_seconds", requestLabels(one), secondsBounds, one.durations),
      ),
      ...family(
        "apiserver_request_sli_duration_seconds",
        "histogram",
        "Time until a request was answered, without what admission waits for others",
        all,
        (one) =>
          histogramLines("apiserver_request_sli_duration_seconds", placeLabels(one), secondsBounds, one.durations),
      ),
      ...family("apiserver_response_sizes", "histogram", "Bytes of what was read", all, (one) =>
        histogramLines("apiserver_response_sizes", placeLabels(one), bytesBounds, one.sizes),
      ),
      ...family("apiserver_longrunning_requests", "gauge", "Requests without an end of their own", all, (one) =>
        one.active === undefined ? [] : [`apiserver_longrunning_requests{${placeLabels(one)}} ${one.active}`],
      ),
      "# HELP apiserver_current_inflight_requests Requests being worked on, long-running ones apart",
      "# TYPE apiserver_current_inflight_requests gauge",
      ...(["mutating", "readOnly"] as const).map(
        (kind) => `apiserver_current_inflight_requests{request_kind="${kind}"} ${this.#inFlight[kind]}`,
      ),
      "# HELP apiserver_requested_deprecated_apis Deprecated kinds that were asked for",
      "# TYPE apiserver_requested_deprecated_apis gauge",
      ...[...this.#deprecated].map((labels) => `apiserver_requested_deprecated_apis{${labels}} 1`),
      "",
    ].join("\n")
  }

  #of(labels: RequestLabels, key: string): Series {
    let series = this.#series.get(key)
    if (series !== undefined) return series
    if (this.#series.size >= maxSeries && labels !== noLabels) return this.#of(noLabels, seriesKey(noLabels))
    series = { labels, codes: new Map(), durations: histogram(secondsBounds), sizes: undefined, active: undefined }
    this.#series.set(key, series)
    return series
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

function printLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(",")
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`
}

function* family(
  name: string,
  type: string,
  help: string,
  all: readonly Series[],
  linesOf: (series: Series) => Iterable<string>,
): Generator<string> {
  yield `# HELP ${name} ${help}`
  yield `# TYPE ${name} ${type}`
  for (const series of all) yield* linesOf(series)
}

function* requestLines(series: Series): Generator<string> {
  const labels = requestLabels(series)
  for (const [code, count] of series.codes) yield `apiserver_request_total{code="${code}",${labels}} ${count}`
}

function histogram(bounds: readonly number[]): Histogram {
  return { buckets: new Uint32Array(bounds.length + 1), sum: 0, count: 0 }
}

function observe(to: Histogram, bounds: readonly number[], value: number): void {
  let bucket = 0
  while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
  to.buckets[bucket] = (to.buckets[bucket] ?? 0) + 1
  to.sum += value
  to.count++
}

function* histogramLines(
  name: string,
  labels: string,
  bounds: readonly number[],
  of: Histogram | undefined,
): Generator<string> {
  if (of === undefined || of.count === 0) return
  let sum = 0
  for (const [index, bound] of [...bounds, "+Inf"].entries()) {
    sum += of.buckets[index] ?? 0
    yield `${name}_bucket{${labels},le="${bound}"} ${sum}`
  }
  yield `${name}_sum{${labels}} ${of.sum}`
  yield `${name}_count{${labels}} ${of.count}`
}
