// Fields of the removed versions of apps that upstream's internal types still have, and apps/v1 stores as annotations. Source:
// k8s.io/kubernetes/pkg/apis/apps/v1/conversion.go.

import { errorMessage } from "../../../apimachinery/error-message.ts"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { parseInt64 } from "../../../apimachinery/go/integers.ts"
import { badRequest, UnconvertedError } from "../../../apimachinery/status.ts"

/** Converts it to Go's format. An invalid integer is a decoding error with the message of `describe`. */
export function canonicalizeInteger(
  object: KubeObject,
  annotation: string,
  describe: (text: string, fault: string) => string,
): void {
  const { annotations } = object.metadata
  const text = annotations?.[annotation]
  if (text === undefined) return
  try {
    object.metadata.annotations = { ...annotations, [annotation]: String(parseInt64(text)) }
  } catch (error) {
    const { kind } = object
    const cause = new UnconvertedError(describe(text, errorMessage(error)), { cause: error })
    throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${cause.message}`, { cause })
  }
}
