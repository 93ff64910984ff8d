// Service account tokens: their lifetimes, and labels of Secrets that contain them, which preceded TokenRequest. Source:
// k8s.io/kubernetes/pkg/serviceaccount/legacy.go, KEP-2799.

export const tokenType = "kubernetes.io/service-account-token"
export const accountAnnotation = "kubernetes.io/service-account.name"
export const uidAnnotation = "kubernetes.io/service-account.uid"
/** A day, "2026-01-31", in UTC. */
export const lastUsedLabel = "kubernetes.io/legacy-token-last-used"
/** In the same format. While it is present, the token is rejected. */
export const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since"
/** The lifetime of the token in a Secret, which is the maximum of TokenRequest. */
export const longestTokenSeconds = 2 ** 32
/** The lifetime that admission requests for a pod's token. The odd number identifies tokens without an explicitly requested lifetime. */
export const mountedTokenSeconds = 3607
