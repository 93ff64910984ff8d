// The user of a request, from authentication or impersonation. Source: k8s.io/apiserver/pkg/authentication/user.

import { validateDNS1123Label, validateDNS1123Subdomain } from "../../apimachinery/names.ts"

export interface User {
  name: string
  uid?: string
  groups: readonly string[]
  extra: Readonly<Record<string, readonly string[]>>
}

/** Begins the names of users that are service accounts. */
export const serviceAccountPrefix = "system:serviceaccount:"

export function serviceAccountUser(namespace: string, name: string): string {
  return `${serviceAccountPrefix}${namespace}:${name}`
}

/** Undefined: it is not the name of a service account. */
export function serviceAccountOf(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(serviceAccountPrefix)) return undefined
  const [namespace = "", name = "", ...more] = user.slice(serviceAccountPrefix.length).split(":")
  const faults = [...validateDNS1123Label(namespace), ...validateDNS1123Subdomain(name)]
  return more.length === 0 && faults.length === 0 ? { namespace, name } : undefined
}
