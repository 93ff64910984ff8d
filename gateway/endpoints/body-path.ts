// The name of an object, and those of the path it was sent to. Errors in kube-apiserver's words.

import type { KubeObject } from "../../apimachinery/object.ts"
import { badRequest } from "../../apimachinery/status.ts"

/** The path of a Namespace has its name where others have their namespace. */
export const expectedNamespace = ({ namespaced }: { namespaced: boolean }, namespace: string): string =>
  namespaced ? namespace : ""

/** On PUT and patch: the path's name is the object's. */
export function agreeOnName(object: KubeObject, name: string): void {
  const given = object.metadata.name
  if (given === undefined || given === "") {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
}
