// Projected service-account tokens. The kubelet would ask the super cluster for them; instead the syncer asks the tenant
// and keeps them in a Secret (../tokens.ts), which takes the source's place.

import type { Pod, PodSpec } from "../../../../apimachinery/object.ts"
import { withSpec, type PodMutator } from "../context.ts"

type Volume = NonNullable<PodSpec["volumes"]>[number]
type Source = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number]

export interface TokenSource {
  /** Under which the Secret has the token. Volumes of a pod never change, so their places are names enough. */
  key: string
  audience: string | undefined
  expirationSeconds: number
}

/** What the API server defaults it to. */
const defaultExpirationSeconds = 3600

/** The Secret of a pod's tokens. By uid: pods of the same name follow each other. */
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

export const serviceAccountToken: PodMutator = {
  name: "serviceAccountToken",
  mutate(pod) {
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
  },
}

function eachSource(spec: PodSpec | undefined, call: (source: Source, key: string) => void): void {
  for (const [volumeIndex, { projected }] of (spec?.volumes ?? []).entries()) {
    for (const [sourceIndex, source] of (projected?.sources ?? []).entries()) {
      call(source, keyOf(volumeIndex, sourceIndex))
    }
  }
}

const keyOf = (volume: number, source: number): string => `token-${volume}-${source}`
