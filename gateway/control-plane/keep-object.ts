// Creates one of the gateway's own objects in a control plane, or corrects it.

import type { KubeObject } from "../../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"

/** `correct` returns what the object must be changed to, or undefined. */
export async function keepObject<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  wanted: T,
  correct: (current: T) => T | undefined,
): Promise<void> {
  const { namespace, name = "" } = wanted.metadata
  try {
    const current = await client.get<T>(resource, namespace, name).catch(unlessGone)
    if (current === undefined) await client.create(resource, wanted)
    else {
      const corrected = correct(current)
      if (corrected !== undefined) await client.update(resource, corrected)
    }
  } catch (error) {
    // Others write it as well, which repeats this (prepare.ts).
    if (!isAlreadyExists(error) && !isConflict(error)) throw error
  }
}

export function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error
  return undefined
}
