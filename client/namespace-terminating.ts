// Writes into a terminating namespace fail with this cause; there is nothing to do about it, and no need to report it. Source:
// k8s.io/api/core/v1 (NamespaceTerminatingCause).

import { StatusError } from "../apimachinery/status.ts"

export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false
  return (error.status.details?.causes ?? []).some((cause) => cause.reason === "NamespaceTerminating")
}
