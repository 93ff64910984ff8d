// What all clients of one process count: its workqueues, and its requests to other API servers. Made by who composes the
// process and handed to each; printed where the process' metrics are asked for.

import { printQueues, QueueMetrics } from "./queue-metrics.ts"
import { printRequests, RequestMetrics } from "./request-metrics.ts"

export class ClientMetrics {
  readonly #queues = new Map<string, QueueMetrics>()
  readonly #servers = new Map<string, RequestMetrics>()

  /** Whoever has a queue of that name again goes on with its numbers. */
  queue(name: string): QueueMetrics {
    let queue = this.#queues.get(name)
    if (queue === undefined) this.#queues.set(name, (queue = new QueueMetrics(name)))
    return queue
  }

  requests(host: string): RequestMetrics {
    let server = this.#servers.get(host)
    if (server === undefined) this.#servers.set(host, (server = new RequestMetrics(host)))
    return server
  }

  print(): string {
    return printQueues([...this.#queues.values()]) + printRequests([...this.#servers.values()])
  }
}
