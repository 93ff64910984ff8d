// The scale subresource of the target of a reference, including custom resources.

import { parseGroupVersion, type KubeObject } from "../apimachinery/object.ts"
import type { DiscoveredResource, KubeClient } from "../client/rest.ts"

export interface Scale extends KubeObject {
  spec?: { replicas?: number }
  status?: { replicas?: number; selector?: string }
}

/** undefined if the kind is not served. A version other than the preferred one is also found. */
export async function resourceOfKind(
  client: KubeClient,
  { apiVersion, kind }: { apiVersion: string; kind: string },
): Promise<DiscoveredResource | undefined> {
  const { group } = parseGroupVersion(apiVersion)
  return (await client.discover()).find((resource) => resource.group === group && resource.kind === kind)
}

/** undefined if the kind is not served in the version of the reference. */
export async function resourceOfVersion(
  client: KubeClient,
  reference: { apiVersion: string; kind: string },
): Promise<DiscoveredResource | undefined> {
  const found = await resourceOfKind(client, reference)
  const { version } = parseGroupVersion(reference.apiVersion)
  const versions = found === undefined ? [] : [found.version, ...(found.otherVersions ?? [])]
  return versions.includes(version) ? found : undefined
}
