// What all clients of one process count: its workqueues, its requests to other API servers, the Leases it stands for, and what
// only one of them has to count. Made by who composes the process and handed to each; printed where the process' metrics are
// asked for.

import { family, printLabels, sample } from "./exposition.ts"
import { printQueues, QueueMetrics } from "./queue-metrics.ts"
import { printRequests, RequestMetrics } from "./request-metrics.ts"

/** What counts something of its own. */
export interface Printed {
  print(): string
}

export class ClientMetrics {
  readonly #queues = new Map<string, QueueMetrics>()
  readonly #servers = new Map<string, RequestMetrics>()
  readonly #leases = new Map<string, boolean>()
  readonly #others = new Map<string, Printed>()

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

  /** Whether this process holds the Lease. Source: k8s.io/component-base/metrics/prometheus/clientgo/leaderelection. */
  leads(lease: string, holds: boolean): void {
    this.#leases.set(lease, holds)
  }

  /** As a queue: work that begins anew goes on with what its name has counted. */
  of<T extends Printed>(name: string, make: () => T): T {
    let other = this.#others.get(name) as T | undefined
    if (other === undefined) this.#others.set(name, (other = make()))
    return other
  }

  print(): string {
    const others = [...this.#others.values()].map((other) => other.print())
    const ofClients = [printQueues([...this.#queues.values()]), printRequests([...this.#servers.values()])]
    return [...ofClients, this.#printLeases(), ...others].join("")
  }

  #printLeases(): string {
    const name = "leader_election_master_status"
    const samples = [...this.#leases].map(([lease, holds]) => sample(name, printLabels({ name: lease }), holds ? 1 : 0))
    return family(name, "gauge", "1: this process holds the Lease and works; 0: another does", samples)
  }
}
