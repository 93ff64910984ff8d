// Labels of Secrets with service account tokens, which preceded TokenRequest. Source:
// k8s.io/kubernetes/pkg/serviceaccount/legacy.go, KEP-2799.

export const tokenType = "kubernetes.io/service-account-token"
export const accountAnnotation = "kubernetes.io/service-account.name"
export const uidAnnotation = "kubernetes.io/service-account.uid"
/** A day, "2026-01-31", in UTC. */
export const lastUsedLabel = "kubernetes.io/legacy-token-last-used"
/** In the same format. While it is present, the token is rejected. */
export const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since"
