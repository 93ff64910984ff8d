// Daemons that fail at once (a kubelet that refuses them) are replaced ever more slowly: a second, doubled up to a quarter of
// an hour, per node. Source: k8s.io/client-go/util/flowcontrol/backoff.go as pkg/controller/daemon uses it.

const firstMs = 1_000
const longestMs = 900_000

interface Entry {
  waitMs: number
  at: number
}

export class FailedBackoff {
  readonly #entries = new Map<string, Entry>()

  /** How long until the next may go; 0: now. */
  remainingMs(key: string, now: number): number {
    const entry = this.#entries.get(key)
    return entry === undefined ? 0 : Math.max(0, entry.at + entry.waitMs - now)
  }

  failed(key: string, now: number): void {
    const entry = this.#entries.get(key)
    const isRecent = entry !== undefined && now - entry.at <= 2 * longestMs
    this.#entries.set(key, { waitMs: isRecent ? Math.min(entry.waitMs * 2, longestMs) : firstMs, at: now })
  }

  /** Of a set that is gone, by what its keys begin with. */
  forget(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key)
  }
}
