// Errors as the API gives them: a Status with a reason and a code. Made only by the constructors below, so that the
// words clients parse (kubectl and client-go do) are written once. Source: k8s.io/apimachinery/pkg/api/errors.

import { printGroupResource } from "./object.ts"
import type { FieldError } from "./field-errors.ts"
import { goQuote } from "./go-quote.ts"

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** metav1.Status on the wire. */
export interface Status {
  kind: "Status"
  apiVersion: "v1"
  metadata: { [key: string]: unknown }
  status: "Success" | "Failure"
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

/** Reason → HTTP code. The one table; a reason that is not here cannot be thrown. */
const codes = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  NotImplemented: 501,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const

export type StatusReason = keyof typeof codes

/** What a request to the API fails with. `status` is the body on the wire. */
export class StatusError extends Error {
  readonly status: Status

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? "unknown", options)
    this.name = "StatusError"
    this.status = status
  }

  get reason(): string {
    return this.status.reason ?? ""
  }

  get code(): number {
    return this.status.code ?? 500
  }
}

export interface GroupResource {
  group: string
  resource: string
}

function failure(reason: StatusReason, message: string, details?: StatusDetails, options?: ErrorOptions): StatusError {
  return new StatusError(
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason,
      ...(details === undefined ? {} : { details }),
      code: codes[reason],
    },
    options,
  )
}

/** `kind` of details is the resource's plural name, as upstream's (a historical naming there). */
function of(resource: GroupResource, name?: string): StatusDetails {
  return {
    ...(name === undefined || name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    ...(resource.resource === "" ? {} : { kind: resource.resource }),
  }
}

export function notFound(resource: GroupResource, name: string): StatusError {
  return failure("NotFound", `${printGroupResource(resource)} ${goQuote(name)} not found`, of(resource, name))
}

/** What the server answers for a path it does not serve. */
export function noSuchPath(): StatusError {
  return failure("NotFound", "the server could not find the requested resource", {})
}

export function alreadyExists(resource: GroupResource, name: string): StatusError {
  return failure("AlreadyExists", `${printGroupResource(resource)} ${goQuote(name)} already exists`, of(resource, name))
}

/** Somebody who let the server choose the name may try again. */
export function generatedNameExists(resource: GroupResource, name: string): StatusError {
  const detail = "already exists, the server was not able to generate a unique name for the object"
  const message = `${printGroupResource(resource)} ${goQuote(name)} ${detail}`
  return failure("AlreadyExists", message, { ...of(resource, name), retryAfterSeconds: 1 })
}

export function conflict(resource: GroupResource, name: string, detail: string, causes?: StatusCause[]): StatusError {
  return failure(
    "Conflict",
    `Operation cannot be fulfilled on ${printGroupResource(resource)} ${goQuote(name)}: ${detail}`,
    {
      ...of(resource, name),
      ...(causes === undefined ? {} : { causes }),
    },
  )
}

/** The optimistic lock's conflict, in the words client-go's retry helpers show. */
export const objectModified =
  "the object has been modified; please apply your changes to the latest version and try again"

/** The conflict of server-side apply: 409 with one cause per field another manager owns. */
export function applyConflict(message: string, causes: StatusCause[]): StatusError {
  return failure("Conflict", message, { causes })
}

/** Characters. Of many faults some show the whole list that each is in: those beyond it are not told. */
const maxFaultText = 3 * 1024 * 1024

/** 422. `kind` is the kind's name ("Pod"), as upstream's NewInvalid. */
export function invalid(kind: { group: string; kind: string }, name: string, errors: FieldError[]): StatusError {
  const printed = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`
  const causes = causesOf(errors)
  const list = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))]
  const message = list.length === 1 ? list[0] : `[${list.join(", ")}]`
  return failure("Invalid", `${printed} ${goQuote(name)} is invalid${list.length === 0 ? "" : `: ${message}`}`, {
    ...(name === "" ? {} : { name }),
    ...(kind.group === "" ? {} : { group: kind.group }),
    ...(kind.kind === "" ? {} : { kind: kind.kind }),
    ...(causes.length === 0 ? {} : { causes }),
  })
}

function causesOf(errors: readonly FieldError[]): StatusCause[] {
  const causes: StatusCause[] = []
  let room = maxFaultText
  for (const error of errors) {
    const message = error.body()
    room -= message.length + error.field.length
    if (room < 0 && causes.length > 0) break
    causes.push({ reason: error.type, message, field: error.field })
  }
  return causes
}

export function forbidden(
  resource: GroupResource,
  name: string,
  detail: string,
  causes: readonly StatusCause[] = [],
): StatusError {
  const subject =
    resource.resource === ""
      ? "forbidden"
      : `${printGroupResource(resource)}${name === "" ? "" : ` ${goQuote(name)}`} is forbidden`
  const details = of(resource, name)
  return failure(
    "Forbidden",
    `${subject}: ${detail}`,
    causes.length === 0 ? details : { ...details, causes: [...causes] },
  )
}

export function unauthorized(): StatusError {
  return failure("Unauthorized", "Unauthorized")
}

export function badRequest(message: string, options?: ErrorOptions): StatusError {
  return failure("BadRequest", message, undefined, options)
}

/** A custom resource's answer to a method that is no verb. */
export function methodNotSupported(resource: GroupResource, action: string): StatusError {
  const { group, resource: kind } = resource
  const message = `${action} is not supported on resources of kind ${JSON.stringify(printGroupResource(resource))}`
  return failure("MethodNotAllowed", message, { ...(group === "" ? {} : { group }), kind })
}

export function methodNotAllowed(): StatusError {
  return failure("MethodNotAllowed", "the server does not allow this method on the requested resource", {})
}

export function notAcceptable(accepted: string[]): StatusError {
  return failure("NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`)
}

/** The media type can be had, the form of the object asked for cannot. */
export function notAcceptableForm(message: string): StatusError {
  return failure("NotAcceptable", message)
}

export function unsupportedMediaType(accepted: string[]): StatusError {
  return failure(
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  )
}

export function expired(message: string): StatusError {
  return failure("Expired", message)
}

/** The watch or list asked for a revision that was compacted. */
export function resourceExpired(): StatusError {
  return expired("The resourceVersion for the provided watch is too old.")
}

/** The revision asked for is not there yet. Clients with the ResourceVersionTooLarge cause retry. */
export function resourceVersionTooLarge(wanted: number | bigint, current: number): StatusError {
  return failure("Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  })
}

export function requestEntityTooLarge(message: string): StatusError {
  return failure("RequestEntityTooLarge", message)
}

export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes?: StatusCause[],
  options?: ErrorOptions,
): StatusError {
  const after = retryAfterSeconds === 0 ? {} : { retryAfterSeconds }
  const details = { ...(causes === undefined ? {} : { causes }), ...after }
  return failure("TooManyRequests", message, details, options)
}

export function internalError(message: string, options?: ErrorOptions): StatusError {
  return failure("InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] }, options)
}

/** What upstream has no reason for: its words alone. */
export function unexplained(message: string, options?: ErrorOptions): StatusError {
  return new StatusError(
    { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 },
    options,
  )
}

/**
 * Why what was decoded is nothing that the API server works on: a fault of a client's, which upstream tells as its own where it is
 * not decoded from what the client sent, but from what was made of it.
 */
export class UnconvertedError extends Error {}

export function serviceUnavailable(message: string, options?: ErrorOptions): StatusError {
  return failure("ServiceUnavailable", message, undefined, options)
}

export function timeout(message: string, retryAfterSeconds?: number): StatusError {
  return failure("Timeout", message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
}

/** A Success status, as delete answers when the object is gone. */
export function success(details?: StatusDetails): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    ...(details === undefined ? {} : { details }),
  }
}

export function hasReason(error: unknown, ...reasons: StatusReason[]): error is StatusError {
  return error instanceof StatusError && (reasons as string[]).includes(error.reason)
}

export const isNotFound = (error: unknown): error is StatusError => hasReason(error, "NotFound")
export const isAlreadyExists = (error: unknown): error is StatusError => hasReason(error, "AlreadyExists")
export const isConflict = (error: unknown): error is StatusError => hasReason(error, "Conflict")
export const isExpired = (error: unknown): error is StatusError => hasReason(error, "Expired", "Gone")
