// Any write into a namespace on its way out fails with this cause; there is nothing to do about it, and nobody to tell.
// Source: k8s.io/api/core/v1 (NamespaceTerminatingCause).

import { StatusError } from "../apimachinery/status.ts"

export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false
  return (error.status.details?.causes ?? []).some((cause) => cause.reason === "NamespaceTerminating")
}
