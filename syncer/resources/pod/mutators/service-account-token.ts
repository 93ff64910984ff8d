// Projected service account tokens. The kubelet would request them from the super cluster; instead the syncer requests them from the
// tenant and stores them in a Secret (../tokens.ts), which replaces the volume source.

import type { Pod, PodSpec } from "../../../../apimachinery/object.ts"
import { withSpec, type PodMutator } from "../context.ts"

type Volume = NonNullable<PodSpec["volumes"]>[number]
type Source = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number]

export interface TokenSource {
  /** The token's key in the Secret. A pod's volumes never change, so their positions identify them. */
  key: string
  audience: string | undefined
  expirationSeconds: number
}

/** The API server's default. */
const defaultExpirationSeconds = 3600

/** The name of the Secret with a pod's tokens. It contains the uid, because a later pod may have the same name. */
export function tokenSecretName(podUID: string): string {
  return `pod-token-${podUID}`
}

export function tokenSources(pod: Pod): TokenSource[] {
  const found: TokenSource[] = []
  eachSource(pod.spec, ({ serviceAccountToken }, key) => {
    if (serviceAccountToken === undefined) return
    const { audience, expirationSeconds = defaultExpirationSeconds } = serviceAccountToken
    found.push({ key, audience: audience === "" ? undefined : audience, expirationSeconds })
  })
  return found
}

export const serviceAccountToken: PodMutator = (pod) => {
  if (tokenSources(pod).length === 0) return pod
  const name = tokenSecretName(pod.metadata.uid ?? "")
  return withSpec(pod, (spec) => ({
    ...spec,
    volumes: (spec.volumes ?? []).map((volume, volumeIndex) => {
      if (volume.projected?.sources === undefined) return volume
      const sources = volume.projected.sources.map((source, sourceIndex): Source => {
        const path = source.serviceAccountToken?.path
        if (path === undefined) return source
        return { secret: { name, items: [{ key: keyOf(volumeIndex, sourceIndex), path }] } }
      })
      return { ...volume, projected: { ...volume.projected, sources } }
    }),
  }))
}

function eachSource(spec: PodSpec | undefined, call: (source: Source, key: string) => void): void {
  for (const [volumeIndex, { projected }] of (spec?.volumes ?? []).entries()) {
    for (const [sourceIndex, source] of (projected?.sources ?? []).entries()) {
      call(source, keyOf(volumeIndex, sourceIndex))
    }
  }
}

const keyOf = (volume: number, source: number): string => `token-${volume}-${source}`
