// Kubernetes' order of API versions, most preferred first: v10, v2, v1, v0, v11beta2, v1beta1, v1alpha1, then others by name.
// Source: k8s.io/apimachinery/pkg/version/helpers.go (CompareKubeAwareVersionStrings).

const stabilities = ["alpha", "beta", undefined]
/** Go's largest int: larger numbers are not versions. */
const maxInt = 2 ** 63

/** For sort(). */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)]
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    if (right !== undefined) return 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2]
}

function rankOf(version: string): [stability: number, major: number, minor: number] | undefined {
  const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (parts === null) return undefined
  const [major, minor] = [Number(parts[1]), Number(parts[3] ?? 0)]
  return major < maxInt && minor < maxInt ? [stabilities.indexOf(parts[2]), major, minor] : undefined
}
