// Names that are reserved for configurations in files of a server, which are not API objects. Source:
// k8s.io/kubernetes/pkg/apis/admissionregistration/validation/static_suffix.go.

import type { KubeObject } from "../../../apimachinery/object.ts"

const reserved = ".static.k8s.io"

export function reservedNameWarnings({ metadata: { name = "" } }: KubeObject): string[] {
  return name.endsWith(reserved)
    ? [
        `metadata.name: names ending with "${reserved}" are reserved for static manifest-based configurations and cannot be managed via the API`,
      ]
    : []
}
