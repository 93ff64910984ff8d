// The claims that a pod names, and those that are created for it.

import type { Pod } from "../../apimachinery/object.ts"

export function claimNamesOf({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim, ephemeral, name }) => {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral && `${metadata.name ?? ""}-${name}`)
    return claim === undefined ? [] : [claim]
  })
}
