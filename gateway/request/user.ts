// Who asks, as authentication has found out, or impersonation wants it. Source: k8s.io/apiserver/pkg/authentication/user.

export interface User {
  name: string
  uid?: string
  groups: readonly string[]
  extra: Readonly<Record<string, readonly string[]>>
}
