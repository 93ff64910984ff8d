// The user of a request, from authentication or impersonation. Source: k8s.io/apiserver/pkg/authentication/user.

export interface User {
  name: string
  uid?: string
  groups: readonly string[]
  extra: Readonly<Record<string, readonly string[]>>
}
