// Labels of EndpointSlices. Source: k8s.io/api/discovery/v1/well_known_labels.go.

/** The Service whose endpoints it contains. */
export const serviceNameLabel = "kubernetes.io/service-name"
/** Who maintains it. */
export const managedByLabel = "endpointslice.kubernetes.io/managed-by"
