// Classifies failed writes: unavailable servers, refusals, and conflicts, which the workers retry.

import { StatusError } from "../apimachinery/status.ts"
import { isNamespaceTerminating } from "../client/namespace-terminating.ts"

interface TenantWrite {
  /** When it comes too late (ms since the epoch), if it does. */
  lateAt?: number | undefined
}

/**
 * A write that will be refused until somebody changes something. What super refuses is reported to the tenant before it is thrown.
 */
export class RefusedError extends Error {
  /**
   * What refuses may change without being seen here: what a server decides, or an object that no informer has. Otherwise there is another
   * key when it changes, or the patrol makes one.
   */
  readonly mayChangeUnseen: boolean
  /** The tenant's own server refuses it, such as a webhook or a policy there. */
  readonly byTenant: boolean
  /** As in TenantWrite. */
  readonly lateAt: number | undefined

  constructor(
    message: string,
    {
      mayChangeUnseen,
      byTenant = false,
      lateAt,
      cause,
    }: { mayChangeUnseen: boolean; byTenant?: boolean; cause?: unknown } & TenantWrite,
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = "RefusedError"
    this.mayChangeUnseen = mayChangeUnseen
    this.byTenant = byTenant
    this.lateAt = lateAt
  }
}

export const isRefusedByTenant = (error: unknown): error is RefusedError =>
  error instanceof RefusedError && error.byTenant

/** The tenant's own server cannot do it at the moment: a webhook of the tenant does not respond, or fails, or the server does. */
export class TenantFailure extends Error {
  readonly code: number
  /** As in TenantWrite. */
  readonly lateAt: number | undefined

  constructor(cause: StatusError, { lateAt }: TenantWrite = {}) {
    super(cause.message, { cause })
    this.name = "TenantFailure"
    this.code = cause.code
    this.lateAt = lateAt
  }
}

/** The tenant is at fault, and not what is between it and super. */
export const isOfTenant = (error: unknown): error is RefusedError | TenantFailure =>
  isRefusedByTenant(error) || error instanceof TenantFailure

/** A write to a tenant. Throws RefusedError and TenantFailure. */
export async function inTenant<T>(write: Promise<T>, { lateAt }: TenantWrite = {}): Promise<T> {
  try {
    return await write
  } catch (error) {
    if (isRefusal(error))
      throw new RefusedError(error.message, { mayChangeUnseen: true, byTenant: true, lateAt, cause: error })
    throw isFailure(error) ? new TenantFailure(error, { lateAt }) : error
  }
}

/** Webhooks choose their codes. */
const isFailure = (error: unknown): error is StatusError =>
  error instanceof StatusError && (error.code >= 500 || error.code === 429)

/** Client errors that may be gone with the next attempt: credentials, absent or changed objects, timeouts, overload. */
const transient = new Set([401, 404, 408, 409, 429])

/** Any other client error: admission webhooks deny with codes of their choice. */
export function isRefusal(error: unknown): error is StatusError {
  if (!(error instanceof StatusError) || isNamespaceTerminating(error)) return false
  return error.code >= 400 && error.code < 500 && !transient.has(error.code)
}

/** The server is unreachable, overloaded or does not accept our credentials (yet), or a namespace is being deleted. */
export function isUnavailable(error: unknown): error is StatusError {
  if (!(error instanceof StatusError)) return false
  return error.code >= 500 || error.code === 429 || error.code === 401 || isNamespaceTerminating(error)
}
