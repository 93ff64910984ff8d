// Installs the CRDs of VirtualCluster and ClusterVersion in the super cluster and updates them to this version.

import { readFile } from "node:fs/promises"
import { equalJson } from "../apimachinery/equality.ts"
import type { CustomResourceDefinition, Json, KubeObject } from "../apimachinery/object.ts"
import { applyMergePatch } from "../apimachinery/patch/merge-patch.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../apimachinery/status.ts"
import { parseYaml } from "../apimachinery/schema/yaml/parse.ts"
import { pause, type Clock } from "../client/clock.ts"
import { clusterVersions, customResourceDefinitions as definitions, virtualClusters } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { operatorLimits } from "./options.ts"
import { defaultClusterVersion, tenancyAPIVersion } from "./types.ts"

const files = ["virtualclusters.yaml", "clusterversions.yaml"]

async function customResourceDefinitions(): Promise<CustomResourceDefinition[]> {
  const texts = await Promise.all(
    files.map((file) => readFile(new URL(`../manifests/crds/${file}`, import.meta.url), "utf8")),
  )
  return texts.map((text) => parseYaml(text) as CustomResourceDefinition)
}

/** Idempotent. Resolves when the resources are served and the default ClusterVersion exists, or when the signal ends. */
export async function ensureCustomResourceDefinitions(
  superClient: KubeClient,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<void> {
  for (const definition of await customResourceDefinitions()) await ensure(superClient, definition)
  for (let wait: number = operatorLimits.firstBackoffMs; !signal.aborted; wait = longer(wait)) {
    try {
      await superClient.list(virtualClusters, { limit: 1 })
      await ensureDefaultClusterVersion(superClient)
      return
    } catch (error) {
      // Not served yet: the server takes a moment to establish a definition.
      if (!isNotFound(error)) throw error
    }
    await pause(clock, wait, signal)
  }
}

export async function ensureDefaultClusterVersion(superClient: KubeClient): Promise<void> {
  const object: KubeObject = {
    apiVersion: tenancyAPIVersion,
    kind: "ClusterVersion",
    metadata: { name: defaultClusterVersion },
    spec: {},
  }
  try {
    await superClient.create(clusterVersions, object)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

export const longer = (wait: number): number => Math.min(wait * 2, operatorLimits.longestBackoffMs)

async function ensure(superClient: KubeClient, definition: CustomResourceDefinition): Promise<void> {
  const { name = "" } = definition.metadata
  if (await isThere(superClient, name, definition)) return
  try {
    await superClient.create(definitions, definition)
    return
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  // A merge patch replaces the whole list of versions and keeps other fields that the server has added.
  try {
    await superClient.patch(definitions, undefined, name, { spec: definition.spec }, { type: "merge" })
  } catch (error) {
    if (!isConflict(error)) throw error
    // Another operator is writing the same definition.
  }
}

/** Whether the patch would change nothing. The server takes longer to find that out than everything else until it is ready. */
async function isThere(superClient: KubeClient, name: string, { spec }: CustomResourceDefinition): Promise<boolean> {
  try {
    const current = await superClient.get<CustomResourceDefinition>(definitions, undefined, name)
    const before = current.spec as unknown as Json
    return equalJson(applyMergePatch(before, spec), before)
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
