// The watching half of bench/watch.ts: one connection per watch, like client-go over HTTP/1.1. Each watch knows the next expected
// number, counts lost and duplicate events, and measures their delay.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Server } from "./api-client.ts"

/** The object's counter in an event. */
const counter = /"seq":"(\d+)"/

export interface Tally {
  /** Milliseconds from sending the write to receiving the event. */
  took: number[]
  lost: number
  doubled: number
}

export class CountingWatch implements Disposable {
  readonly #response: IncomingMessage
  readonly #tally: Tally
  readonly #sentAt: (seq: number) => number | undefined
  #rest = ""
  #seen = 0
  #ended = false

  static async open(
    server: Server,
    path: string,
    tally: Tally,
    sentAt: (seq: number) => number | undefined,
  ): Promise<CountingWatch> {
    const { url, certificateAuthority: ca, certificate: cert, key } = server
    const { hostname, port, pathname } = new URL(url)
    const credential = cert === undefined || key === undefined ? {} : { cert, key }
    const request = httpsRequest({
      ...credential,
      agent: false,
      ca,
      checkServerIdentity: () => undefined,
      hostname,
      port,
      path: `${pathname}${path}`,
      headers: { accept: "application/json" },
    })
    request.end()
    const [response] = (await once(request, "response")) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`watch of ${url}: ${response.statusCode}`)
    return new CountingWatch(response, tally, sentAt)
  }

  private constructor(response: IncomingMessage, tally: Tally, sentAt: (seq: number) => number | undefined) {
    this.#response = response
    this.#tally = tally
    this.#sentAt = sentAt
    response.setEncoding("latin1")
    response.on("data", (text: string) => this.#take(text))
    // The connection is cut off at the end; if it breaks earlier, the missing events count as lost.
    response.on("error", () => (this.#ended = true))
    response.on("close", () => (this.#ended = true))
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The last number received. */
  get seen(): number {
    return this.#seen
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n")
    this.#rest = lines.pop() ?? ""
    for (const line of lines) {
      const seq = Number(counter.exec(line)?.[1])
      if (!Number.isInteger(seq) || seq === 0) continue // a bookmark, or the object's initial state
      const sent = this.#sentAt(seq)
      if (sent !== undefined) this.#tally.took.push(performance.now() - sent)
      if (seq <= this.#seen) this.#tally.doubled++
      else {
        this.#tally.lost += seq - this.#seen - 1
        this.#seen = seq
      }
    }
  }

  [Symbol.dispose](): void {
    this.#response.destroy()
  }
}
