// Errors of the API: a Status with a reason and a code. They are created only by the constructors below, so that the messages that
// clients parse (kubectl and client-go do) are in one place; those that others have sent are made of what was sent. Source:
// k8s.io/apimachinery/pkg/api/errors.

import { printGroupResource } from "./object.ts"
import type { FieldError } from "./field-errors.ts"
import { goQuote } from "./go/quote.ts"

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The wire format of metav1.Status. */
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

/** Reason → HTTP code. The only such table; other reasons cannot be thrown. */
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

/** The error of an API request. `status` is the response body. */
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

/** `kind` of details is the plural name of the resource, as upstream's, for historical reasons. */
function of(resource: GroupResource, name?: string): StatusDetails {
  return {
    ...(name === undefined || name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    ...(resource.resource === "" ? {} : { kind: resource.resource }),
  }
}

export function notFound(resource: GroupResource, name: string): StatusError {
  return failure("NotFound", notFoundMessage(resource, name), of(resource, name))
}

/** What that error says. An error takes ten times as long, where there may be very many that are only told. */
export function notFoundMessage(resource: GroupResource, name: string): string {
  return `${printGroupResource(resource)} ${goQuote(name)} not found`
}

/** The error for a path that is not served. */
export function noSuchPath(): StatusError {
  return failure("NotFound", "the server could not find the requested resource", {})
}

export function alreadyExists(resource: GroupResource, name: string): StatusError {
  return failure("AlreadyExists", `${printGroupResource(resource)} ${goQuote(name)} already exists`, of(resource, name))
}

/** A client whose name was generated may try again. */
export function generatedNameExists(resource: GroupResource, name: string): StatusError {
  const detail = "already exists, the server was not able to generate a unique name for the object"
  const message = `${printGroupResource(resource)} ${goQuote(name)} ${detail}`
  return failure("AlreadyExists", message, { ...of(resource, name), retryAfterSeconds: 1 })
}

export function conflict(resource: GroupResource, name: string, detail: string): StatusError {
  const message = `Operation cannot be fulfilled on ${printGroupResource(resource)} ${goQuote(name)}: ${detail}`
  return failure("Conflict", message, of(resource, name))
}

/** The conflict of optimistic locking, with the message of client-go's retry helpers. */
export const objectModified =
  "the object has been modified; please apply your changes to the latest version and try again"

/** The conflict of server-side apply: 409 with one cause per field that another manager owns. */
export function applyConflict(message: string, causes: StatusCause[]): StatusError {
  return failure("Conflict", message, { causes })
}

/** In characters. Some errors contain the whole list to which their item belongs; errors beyond this total are omitted. */
const maxFaultText = 3 * 1024 * 1024

/** 422. `kind` is the kind's name ("Pod"), as in upstream's NewInvalid. */
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
  const named = name === "" ? "" : ` ${goQuote(name)}`
  const subject = resource.resource === "" ? "forbidden" : `${printGroupResource(resource)}${named} is forbidden`
  const details = of(resource, name)
  const complete = causes.length === 0 ? details : { ...details, causes: [...causes] }
  return failure("Forbidden", `${subject}: ${detail}`, complete)
}

/** The caller is told no reason; the cause has it, for a TokenReview. */
export function unauthorized(reason?: string): StatusError {
  const options = reason === undefined ? undefined : { cause: new Error(reason) }
  return failure("Unauthorized", "Unauthorized", undefined, options)
}

export function badRequest(message: string, options?: ErrorOptions): StatusError {
  return failure("BadRequest", message, undefined, options)
}

/** A custom resource's error for a method without a verb. */
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

/** No route has the media types that the request names. */
export function noSuchRoute(reason: "NotAcceptable" | "UnsupportedMediaType", message: string): StatusError {
  return failure(reason, message, {})
}

/** The media type is available, but not the requested form of the object. */
export function notAcceptableForm(message: string): StatusError {
  return failure("NotAcceptable", message)
}

export function unsupportedMediaType(accepted: string[]): StatusError {
  return failure(
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  )
}

export function expired(message: string, options?: ErrorOptions): StatusError {
  return failure("Expired", message, undefined, options)
}

/** The requested revision of a watch or list was compacted. */
export function resourceExpired(): StatusError {
  return expired("The resourceVersion for the provided watch is too old.")
}

/** The requested revision does not exist yet. Clients retry because of the ResourceVersionTooLarge cause. */
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

/** An error without a reason upstream: only its message. */
export function unexplained(message: string, options?: ErrorOptions): StatusError {
  return new StatusError(
    { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 },
    options,
  )
}

/** A patch that cannot be applied. Upstream gives clients no details; the cause has them, for logs. */
export function patchRejected(cause: Error): StatusError {
  return failure("Invalid", "the server rejected our request due to an error in our request", {}, { cause })
}

/** The same error, except for what is changed: upstream often tells one with another text or other details. */
export function restated({ status }: StatusError, changes: Partial<Status>, options?: ErrorOptions): StatusError {
  return new StatusError({ ...status, ...changes }, options)
}

/**
 * A decoded value is not of a type that the API server works with. The client is at fault, but if the value was not decoded from
 * the request, but derived from it, upstream reports the error as its own.
 */
export class UnconvertedError extends Error {}

export function serviceUnavailable(message: string, options?: ErrorOptions): StatusError {
  return failure("ServiceUnavailable", message, undefined, options)
}

export function timeout(message: string): StatusError {
  return failure("Timeout", `Timeout: ${message}`, {})
}

/** The Success status, which a delete returns when the object has been removed. */
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
