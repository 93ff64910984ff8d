// Backoff for daemon pods that fail immediately (for example, rejected by the kubelet): per node, from one second doubling to 15
// minutes. Source: k8s.io/client-go/util/flowcontrol/backoff.go as pkg/controller/daemon uses it.

const firstMs = 1_000
const longestMs = 900_000

interface Entry {
  waitMs: number
  at: number
}

export class FailedBackoff {
  readonly #entries = new Map<string, Entry>()

  /** Time until the next pod may be deleted; 0: now. */
  remainingMs(key: string, now: number): number {
    const entry = this.#entries.get(key)
    return entry === undefined ? 0 : Math.max(0, entry.at + entry.waitMs - now)
  }

  failed(key: string, now: number): void {
    const entry = this.#entries.get(key)
    const isRecent = entry !== undefined && now - entry.at <= 2 * longestMs
    this.#entries.set(key, { waitMs: isRecent ? Math.min(entry.waitMs * 2, longestMs) : firstMs, at: now })
  }

  /** Forgets a deleted set; `prefix` is the prefix of its keys. */
  forget(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key)
  }
}
