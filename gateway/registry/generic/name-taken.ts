// The error of a create whose name is taken. It says if the name belongs to an object that is being deleted: the client can wait for it.
// Source: k8s.io/apiserver/pkg/registry/generic/registry/store.go (Create).

import type { KubeObject } from "../../../apimachinery/object.ts"
import { alreadyExists, generatedNameExists, restated, StatusError } from "../../../apimachinery/status.ts"
import type { KeyValue } from "../../../storage/types.ts"
import type { ResourceDefinition } from "../rest.ts"
import { kindOf } from "./checks.ts"
import type { ValueReader } from "./storage/value-reader.ts"

/** `existing`: what has the name; undefined: it is gone again. */
export async function nameTaken(
  definition: ResourceDefinition,
  reader: ValueReader,
  existing: KeyValue | undefined,
  { metadata: { name = "", generateName } }: KubeObject,
): Promise<StatusError> {
  const error = generateName
    ? generatedNameExists({ ...definition, group: kindOf(definition).group }, name)
    : alreadyExists(definition, name)
  const isLeaving = existing !== undefined && (await isDeleting(reader, existing))
  return isLeaving ? restated(error, { message: `object is being deleted: ${error.message}` }) : error
}

/** What cannot be read, since a webhook does not convert it, is not said to be. */
async function isDeleting(reader: ValueReader, stored: KeyValue): Promise<boolean> {
  try {
    return (await reader.one(stored)).object().metadata.deletionTimestamp !== undefined
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return false
  }
}
