// The watching half of bench/watch.ts: one connection per watch, as client-go has over HTTP/1.1. Each knows what number is to
// come next and tells what is missing, comes twice, and how long it was under way.

import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Server } from "./api-client.ts"

/** What the object's counter looks like in an event. */
const counter = /"seq":"(\d+)"/

export interface Tally {
  /** Milliseconds from the sending of the write to the event. */
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
    // It is cut off at the end; before, what does not come any more is lost.
    response.on("error", () => (this.#ended = true))
    response.on("close", () => (this.#ended = true))
  }

  get ended(): boolean {
    return this.#ended
  }

  /** The last number that came. */
  get seen(): number {
    return this.#seen
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n")
    this.#rest = lines.pop() ?? ""
    for (const line of lines) {
      const seq = Number(counter.exec(line)?.[1])
      if (!Number.isInteger(seq) || seq === 0) continue // a bookmark, or the object as it was at first
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
