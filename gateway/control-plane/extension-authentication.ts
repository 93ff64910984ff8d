// The ConfigMap by which servers of aggregated APIs authenticate their callers. Others may add authorities, names and headers of their
// own. Source: k8s.io/kubernetes/pkg/controlplane/controller/clusterauthenticationtrust.

import { X509Certificate } from "node:crypto"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { frontProxyName } from "../aggregation/front-proxy.ts"
import { certificatesFault, certificatesIn } from "../pki/authorities.ts"

/** PEM. */
export interface CallerAuthorities {
  client: string
  frontProxy: string
}

export const authenticationName = "extension-apiserver-authentication"

/** By which gateways call other servers. */
const lists = {
  "requestheader-allowed-names": [frontProxyName],
  "requestheader-extra-headers-prefix": ["X-Remote-Extra-"],
  "requestheader-group-headers": ["X-Remote-Group"],
  "requestheader-uid-headers": ["X-Remote-Uid"],
  "requestheader-username-headers": ["X-Remote-User"],
} as const

/** An expired authority is trusted for so long, since clocks differ. */
const expirySlackMs = 5 * 60_000

export function extensionAuthentication({ client, frontProxy }: CallerAuthorities): ConfigMap {
  const metadata = { name: authenticationName, namespace: "kube-system" }
  const data: Record<string, string> = { "client-ca-file": client, "requestheader-client-ca-file": frontProxy }
  for (const [key, names] of Object.entries(lists)) data[key] = JSON.stringify(names)
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data }
}

/**
 * What it must be changed to: besides what others have added it contains these authorities, and nothing else. undefined: it needs no
 * change, or nothing can be made of what it contains.
 */
export function correctedAuthentication(
  current: ConfigMap,
  { client, frontProxy }: CallerAuthorities,
): ConfigMap | undefined {
  const before = current.data ?? {}
  const data: Record<string, string> = {}
  try {
    data["client-ca-file"] = bundle(before["client-ca-file"], client)
    data["requestheader-client-ca-file"] = bundle(before["requestheader-client-ca-file"], frontProxy)
    for (const [key, names] of Object.entries(lists)) {
      data[key] = JSON.stringify([...new Set([...listIn(before[key]), ...names])])
    }
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
  const keys = Object.keys(data)
  const isSame = keys.length === Object.keys(before).length && keys.every((key) => data[key] === before[key])
  return isSame ? undefined : { ...current, data }
}

class Unreadable extends Error {}

function listIn(text = ""): readonly string[] {
  if (text === "") return []
  const list = parsed(text) ?? []
  if (Array.isArray(list) && list.every((each) => typeof each === "string")) return list
  throw new Unreadable()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unreadable()
  }
}

function bundle(before = "", own: string): string {
  if (certificatesFault(before) !== undefined) throw new Unreadable()
  const certificates = [before, own].flatMap(certificatesIn).map((content) => new X509Certificate(content))
  const valid = certificates.filter(({ validToDate }) => validToDate.getTime() > Date.now() - expirySlackMs)
  return [...new Set(valid.map(String))].join("")
}
