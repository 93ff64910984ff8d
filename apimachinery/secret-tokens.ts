// Secrets that hold a service account's token, as they were before tokens were asked for: what marks them, and their use.
// Source: k8s.io/kubernetes/pkg/serviceaccount/legacy.go, KEP-2799.

export const tokenType = "kubernetes.io/service-account-token"
export const accountAnnotation = "kubernetes.io/service-account.name"
export const uidAnnotation = "kubernetes.io/service-account.uid"
/** A day, "2026-01-31", in UTC. */
export const lastUsedLabel = "kubernetes.io/legacy-token-last-used"
/** The same. While it is there, the token is refused. */
export const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since"
