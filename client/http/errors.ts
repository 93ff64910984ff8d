// Converts unsuccessful responses to StatusErrors: with the Status that Kubernetes sends, or with the text of a proxy in between. And
// what is said of connections that fail.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { requestEntityTooLarge, StatusError, type Status, type StatusReason } from "../../apimachinery/status.ts"

/** The reasons for responses without a Status body, by code. */
const reasons: Readonly<Record<number, StatusReason>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  501: "NotImplemented",
  503: "ServiceUnavailable",
  504: "Timeout",
}

/**
 * What kube-apiserver answers with code 500, in the words of its storage, of an object that is too large for that. Source: isTooLargeError
 * in k8s.io/apiserver/pkg/endpoints/handlers.
 */
const tooLarge = /etcdserver: request is too large|trying to send message larger than max/

/** Maximum number of quoted characters of a body that is not a Status. */
const shownCharacters = 256

/** The error for an unsuccessful response. */
export function readError(wanted: { method: string; path: string }, code: number, body: Buffer): StatusError {
  const status = parseStatus(body)
  if (status !== undefined) {
    const isTooLarge = code === 500 && tooLarge.test(status.message ?? "")
    return isTooLarge
      ? requestEntityTooLarge(status.message ?? "")
      : new StatusError({ ...status, code: status.code ?? code })
  }
  const text = body.toString("utf8").trim().slice(0, shownCharacters)
  const reason = reasons[code]
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `${wanted.method} ${wanted.path.split("?")[0] ?? ""}: the server answered ${code}${text === "" ? "" : `: ${text}`}`,
    ...(reason === undefined ? {} : { reason }),
    code,
  })
}

export function parseStatus(body: Buffer): Status | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"))
    return isStatus(value) ? value : undefined
  } catch {
    // Not JSON: a proxy's page, or nothing. The caller uses the code.
    return undefined
  }
}

export function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "Status"
}

/** Of a certificate that cannot be verified, Node says how to make it trust more authorities than those it was given. */
export function connectionMessage(error: unknown): string {
  const [message = ""] = errorMessage(error).split("; if the root CA is installed locally")
  const { code = "" } = error as NodeJS.ErrnoException
  const isUnknown = /^(UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED)/.test(code)
  return isUnknown ? `${message}: its certificate is not of the authority that the client trusts` : message
}
