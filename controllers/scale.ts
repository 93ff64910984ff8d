// The scale subresource of whatever a reference names, custom resources included.

import { parseGroupVersion, type KubeObject } from "../apimachinery/object.ts"
import type { DiscoveredResource, KubeClient } from "../client/rest.ts"

export interface Scale extends KubeObject {
  spec?: { replicas?: number }
  status?: { replicas?: number; selector?: string }
}

/** undefined: nothing of that kind is served. A version other than the preferred one is as good. */
export async function resourceOfKind(
  client: KubeClient,
  { apiVersion, kind }: { apiVersion: string; kind: string },
): Promise<DiscoveredResource | undefined> {
  const { group } = parseGroupVersion(apiVersion)
  return (await client.discover()).find((resource) => resource.group === group && resource.kind === kind)
}
