// The metrics of an HTTP client's requests to one server. Source: k8s.io/component-base/metrics/prometheus/restclient.

import { family, type Histogram, histogram, histogramSamples, observe, printLabels, sample } from "./exposition.ts"

const secondsBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const
const bytesBounds = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216] as const

/** Replaces the code if there was no response. */
export const noAnswer = "<error>"

interface Method {
  codes: Map<number | typeof noAnswer, number>
  seconds: Histogram
  requestBytes: Histogram
  responseBytes: Histogram
}

export class RequestMetrics {
  /** Includes the port, unless it is the default. */
  readonly host: string
  readonly #methods = new Map<string, Method>()

  constructor(host: string) {
    this.host = host
  }

  answered(method: string, code: number | typeof noAnswer): void {
    const { codes } = this.#of(method)
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }

  /** Counts a request other than a watch, with the time until the head of its response. */
  took(method: string, seconds: number): void {
    observe(this.#of(method).seconds, seconds)
  }

  sent(method: string, bytes: number): void {
    observe(this.#of(method).requestBytes, bytes)
  }

  received(method: string, bytes: number): void {
    observe(this.#of(method).responseBytes, bytes)
  }

  get methods(): ReadonlyMap<string, Readonly<Method>> {
    return this.#methods
  }

  #of(name: string): Method {
    let method = this.#methods.get(name)
    if (method === undefined) {
      method = {
        codes: new Map(),
        seconds: histogram(secondsBounds),
        requestBytes: histogram(bytesBounds),
        responseBytes: histogram(bytesBounds),
      }
      this.#methods.set(name, method)
    }
    return method
  }
}

export function printRequests(servers: readonly RequestMetrics[]): string {
  const all = servers.flatMap(({ host, methods }) => [...methods].map(([verb, method]) => ({ host, verb, method })))
  const total = "rest_client_requests_total"
  const samples = all.flatMap(({ host, verb, method }) =>
    [...method.codes].map(([code, count]) =>
      sample(total, printLabels({ code: String(code), host, method: verb }), count),
    ),
  )
  const print = (key: string, help: string, of: (method: Readonly<Method>) => Histogram): string => {
    const name = `rest_client_${key}`
    const lines = all.flatMap(({ host, verb, method }) =>
      histogramSamples(name, printLabels({ host, verb }), of(method)),
    )
    return family(name, "histogram", help, lines)
  }
  return [
    family(total, "counter", "Requests to other servers, by code, method and host", samples),
    print("request_duration_seconds", "Time until the head of an answer, by verb and host", ({ seconds }) => seconds),
    print("request_size_bytes", "Bytes of what was sent, by verb and host", ({ requestBytes }) => requestBytes),
    print("response_size_bytes", "Bytes of what was answered, by verb and host", ({ responseBytes }) => responseBytes),
  ].join("")
}
