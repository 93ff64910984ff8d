// Classifies failed writes: unavailable servers, refusals, and conflicts, which the workers retry.

import { StatusError } from "../apimachinery/status.ts"
import { isNamespaceTerminating } from "../client/namespace-terminating.ts"

/** A write that will be refused until somebody changes something. Whoever throws it has reported it to the tenant. */
export class RefusedError extends Error {
  /**
   * By a server, which may decide otherwise the next time; else here, by what is known of both sides. When that changes, there is
   * another key, or the patrol makes one.
   */
  get isByServer(): boolean {
    return this.cause !== undefined
  }

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "RefusedError"
  }
}

const refusals = new Set([400, 403, 405, 413, 415, 422])

export function isRefusal(error: unknown): error is StatusError {
  return error instanceof StatusError && refusals.has(error.code) && !isNamespaceTerminating(error)
}

/** The server is unreachable, overloaded or does not accept our credentials (yet), or a namespace is being deleted. */
export function isUnavailable(error: unknown): error is StatusError {
  if (!(error instanceof StatusError)) return false
  return error.code >= 500 || error.code === 429 || error.code === 401 || isNamespaceTerminating(error)
}

/** Exponential backoff from first to longest; the jitter keeps many keys from being retried at the same moment. */
export function backoff(limits: { first: number; longest: number }, attempt: number, random = Math.random()): number {
  const base = Math.min(limits.longest, limits.first * 2 ** Math.min(attempt, 30))
  return Math.round(base * (0.75 + random / 2))
}
