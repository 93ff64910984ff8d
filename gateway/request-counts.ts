// Requests of one control plane (or of all), counted under upstream's names and printed as Prometheus reads it. A label set is
// kept as one series of numbers, so that counting a request costs a lookup. Source: k8s.io/apiserver/pkg/endpoints/metrics.

export interface RequestLabels {
  verb: string
  group: string
  version: string
  resource: string
  subresource: string
  /** "resource", "namespace", "cluster" or "". */
  scope: string
}

/** A request that is over. `seconds` is undefined for what has no end of its own. */
export interface CountedRequest {
  kind: RequestKind
  labels: RequestLabels
  /** {@link seriesKey} */
  key: string
  code: number
  seconds: number | undefined
}

interface Series {
  labels: string
  codes: Map<number, number>
  /** Per bucket, not summed up. */
  buckets: Uint32Array
  seconds: number
  count: number
}

const bucketBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const
/** Label sets of one control plane; beyond it a request is counted as one of none. */
const maxSeries = 2000

const noLabels: RequestLabels = { verb: "other", group: "", version: "", resource: "", subresource: "", scope: "" }

export type RequestKind = "readOnly" | "mutating" | "longRunning"

export class RequestCounts {
  readonly #series = new Map<string, Series>()
  readonly #inFlight: Record<RequestKind, number> = { readOnly: 0, mutating: 0, longRunning: 0 }

  begin(kind: RequestKind): void {
    this.#inFlight[kind]++
  }

  end({ kind, labels, key, code, seconds }: CountedRequest): void {
    this.#inFlight[kind]--
    const series = this.#of(labels, key)
    series.codes.set(code, (series.codes.get(code) ?? 0) + 1)
    if (seconds === undefined) return
    let bucket = 0
    while (bucket < bucketBounds.length && seconds > (bucketBounds[bucket] ?? 0)) bucket++
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
    series.seconds += seconds
    series.count++
  }

  print(): string {
    const all = [...this.#series.values()]
    return [
      ...family("apiserver_request_total", "counter", "Requests, by verb, resource and HTTP code", all, requestLines),
      ...family("apiserver_request_duration_seconds", "histogram", "Time until a request was answered", all, (one) =>
        durationLines("apiserver_request_duration_seconds", one),
      ),
      ...family(
        "apiserver_request_sli_duration_seconds",
        "histogram",
        "Time until a request was answered, without what admission waits for others",
        all,
        (one) => durationLines("apiserver_request_sli_duration_seconds", one),
      ),
      "# HELP apiserver_current_inflight_requests Requests being worked on, long-running ones apart",
      "# TYPE apiserver_current_inflight_requests gauge",
      ...(["mutating", "readOnly", "longRunning"] as const).map(
        (kind) => `apiserver_current_inflight_requests{request_kind="${kind}"} ${this.#inFlight[kind]}`,
      ),
      "",
    ].join("\n")
  }

  #of(labels: RequestLabels, key: string): Series {
    let series = this.#series.get(key)
    if (series !== undefined) return series
    if (this.#series.size >= maxSeries && labels !== noLabels) return this.#of(noLabels, seriesKey(noLabels))
    series = {
      labels: printLabels(labels),
      codes: new Map(),
      buckets: new Uint32Array(bucketBounds.length + 1),
      seconds: 0,
      count: 0,
    }
    this.#series.set(key, series)
    return series
  }
}

/** Tells label sets apart. */
export function seriesKey({ verb, group, version, resource, subresource, scope }: RequestLabels): string {
  return `${verb} ${group} ${version} ${resource} ${subresource} ${scope}`
}

function printLabels({ group, resource, scope, subresource, verb, version }: RequestLabels): string {
  const all = { component: "apiserver", dry_run: "", group, resource, scope, subresource, verb, version }
  return Object.entries(all)
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

function* requestLines({ codes, labels }: Series): Generator<string> {
  for (const [code, count] of codes) yield `apiserver_request_total{code="${code}",${labels}} ${count}`
}

function* durationLines(name: string, { labels, buckets, seconds, count }: Series): Generator<string> {
  if (count === 0) return
  let sum = 0
  for (const [index, bound] of [...bucketBounds, "+Inf"].entries()) {
    sum += buckets[index] ?? 0
    yield `${name}_bucket{${labels},le="${bound}"} ${sum}`
  }
  yield `${name}_sum{${labels}} ${seconds}`
  yield `${name}_count{${labels}} ${count}`
}
