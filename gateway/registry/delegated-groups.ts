// Groups with servers of their own inside kube-apiserver: their schemes contain only their kinds, which other schemes lack, and they store
// JSON instead of protobuf. Source: k8s.io/kubernetes/cmd/kube-apiserver/app/server.go (CreateServerChain).

const delegated: ReadonlySet<string> = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"])

export const isDelegated = (group: string): boolean => delegated.has(group)
