// The metrics of all clients of a process: its workqueues, its requests to other API servers, its Leases, and metrics of
// individual components. Created by the composition of the process and passed to each component; printed for the metrics endpoint
// of the process.

import { family, printLabels, sample } from "./exposition.ts"
import { printQueues, QueueMetrics } from "./queue-metrics.ts"
import { printRequests, RequestMetrics } from "./request-metrics.ts"

/** Metrics of an individual component. */
interface Printed {
  print(): string
}

export class ClientMetrics {
  readonly #queues = new Map<string, QueueMetrics>()
  readonly #servers = new Map<string, RequestMetrics>()
  readonly #leases = new Map<string, boolean>()
  readonly #others = new Map<string, Printed>()

  /** A queue that is recreated under its name continues the counts. */
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
  setLeader(lease: string, holds: boolean): void {
    this.#leases.set(lease, holds)
  }

  /** As with queue(): a component that is restarted continues the counts of its name. */
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
