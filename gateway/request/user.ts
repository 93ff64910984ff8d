// The user of a request, from authentication or impersonation. Source: k8s.io/apiserver/pkg/authentication/user.

import { validateDNS1123Label, validateDNS1123Subdomain } from "../../apimachinery/names.ts"

export interface User {
  name: string
  uid?: string
  groups: readonly string[]
  extra: Readonly<Record<string, readonly string[]>>
}

/** Undefined: it is not the name of a service account. */
export function serviceAccountOf(user: string): { namespace: string; name: string } | undefined {
  const prefix = "system:serviceaccount:"
  if (!user.startsWith(prefix)) return undefined
  const [namespace = "", name = "", ...more] = user.slice(prefix.length).split(":")
  const faults = [...validateDNS1123Label(namespace), ...validateDNS1123Subdomain(name)]
  return more.length === 0 && faults.length === 0 ? { namespace, name } : undefined
}
