// The Secrets that the gateway writes into the super cluster for the other parts: its admin kubeconfig, and for vn-agents the
// public key that verifies the gateway's calls and a serving certificate. The certificate's authority signs nothing else, and its
// key is not kept: before the certificate expires, both are recreated, and the gateway also trusts the previous authority. Other gateways read the
// new authority first, and some minutes later vn-agents get what it has signed.

import { createPublicKey, X509Certificate, type KeyObject } from "node:crypto"
import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Secret } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { backoff } from "../../client/backoff.ts"
import { pause, systemClock, type Clock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { secrets } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { createAuthority, mustBeRenewed, issueServingCertificate } from "../../gateway/pki/pki.ts"
import type { ObjectName } from "../config.ts"

/** The certificate contains this name instead of addresses, because nodes come and go. */
export const vnAgentServerName = "vn-agent.polyplane"
/** Longer than any gateway takes to read a new authority, before a certificate of it is used. */
export const announcedMs = 10 * 60_000
/** An announced one, the current one and its predecessor, which vn-agents may still use. */
const maxAuthorities = 3

type Data = Readonly<Record<string, string>>

/** Often enough to renew a kubeconfig in time and to restore Secrets that were changed or deleted. */
export const dayMs = 24 * 60 * 60_000
/** As other files and Secrets that somebody else renews: vn-agents load what another gateway has made within minutes. */
export const minuteMs = 60_000

export interface Published {
  /** In log messages. */
  what: string
  /** Resolves with whether something had to be written. */
  publish: () => Promise<boolean>
  /** Time until it is published again. */
  againMs: number
}

/**
 * Calls until the signal ends: with retries until it succeeds, then periodically. Logs an error when it differs from the last one, and what
 * was written, as when somebody has deleted it.
 */
export async function publishPeriodically(
  { what, publish, againMs }: Published,
  { signal, log, clock = systemClock }: { signal: AbortSignal; log: Log; clock?: Clock },
): Promise<void> {
  let lastError: string | undefined = ""
  for (let failures = 0; !signal.aborted;) {
    try {
      const isWritten = await publish()
      if (isWritten || lastError !== undefined) log.info({}, `published ${what} in the super cluster`)
      failures = 0
      lastError = undefined
    } catch (error) {
      failures++
      const message = errorMessage(error)
      if (message !== lastError) log.warn({ error: message }, "cannot write to the super cluster; retrying")
      lastError = message
    }
    await pause(clock, failures === 0 ? againMs : backoff(failures), signal)
  }
}

/** Returns the last result of `issue` until it is `againAfterMs` old. */
export function reissued(issue: () => Promise<string>, againAfterMs: number, clock: Clock): () => Promise<string> {
  let last: { text: string; at: number } | undefined
  return async () => {
    if (last === undefined || clock.elapsed() - last.at >= againAfterMs)
      last = { text: await issue(), at: clock.elapsed() }
    return last.text
  }
}

/** Creates the Secret, or adds these values to an existing one. Returns false if it has them. */
export async function writeSecret(client: KubeClient, where: ObjectName, data: Data): Promise<boolean> {
  return write(client, where, await read(client, where), data)
}

interface Present {
  data: Data
  resourceVersion: string | undefined
}

interface Identity {
  /** PEM; they sign the vn-agents' certificates. */
  authorities: string
  isWritten: boolean
}

interface IdentityOptions {
  /** The authorities so far, also if the Secret has been deleted since: vn-agents load what replaces it only after a while. */
  known?: string | undefined
  clock?: Clock
}

export async function publishIdentity(
  client: KubeClient,
  where: ObjectName,
  signer: KeyObject,
  { known = "", clock = systemClock }: IdentityOptions = {},
): Promise<Identity> {
  const present = await read(client, where)
  const serving = await servingAfter(present?.data ?? {}, known, clock.now())
  const data = {
    ...serving,
    "identity.pub": createPublicKey(signer).export({ type: "spki", format: "pem" }).toString(),
  }
  const isWritten = await write(client, where, present, data)
  return { authorities: bundleOf(serving["ca.crt"] + known), isWritten }
}

/** What the Secret has to contain, given what it contains. `now`: ms since the epoch. */
async function servingAfter(present: Data, known: string, now: number): Promise<Data & Record<"ca.crt", string>> {
  const {
    "ca.crt": bundle = "",
    "next.crt": nextCertificate = "",
    "next.key": nextKey = "",
    "next.since": since,
  } = present
  const current = certificateOf(present, "tls", now)
  if (current !== undefined && !mustBeRenewed(current, now)) return { ...present, "ca.crt": bundle }
  const isAnnounced = certificateOf(present, "next", now) !== undefined
  // Of a time that cannot be read, too.
  const isEarly = now - Date.parse(since ?? "") < announcedMs
  if (isAnnounced && (current === undefined || !isEarly)) {
    const none = { "next.crt": "", "next.key": "", "next.since": "" }
    return { ...none, "ca.crt": bundle, "tls.crt": nextCertificate, "tls.key": nextKey }
  }
  if (isAnnounced) return { ...present, "ca.crt": bundle }
  const authority = await createAuthority("polyplane vn-agents")
  const { certificate, key } = await issueServingCertificate(authority, [vnAgentServerName])
  const authorities = { "ca.crt": bundleOf(authority.certificate + bundle + known) }
  // Nothing that vn-agents could use meanwhile.
  if (current === undefined) return { ...authorities, "tls.crt": certificate, "tls.key": key }
  return { ...authorities, "next.crt": certificate, "next.key": key, "next.since": new Date(now).toISOString() }
}

/** Undefined: vn-agents cannot use it, as if somebody else has changed the Secret. */
function certificateOf(present: Data, which: "tls" | "next", now: number): X509Certificate | undefined {
  const { "ca.crt": authorities = "", [`${which}.crt`]: text = "", [`${which}.key`]: key = "" } = present
  if (text === "" || key === "") return undefined
  try {
    const certificate = new X509Certificate(text)
    const isUsable =
      certificate.validFromDate.getTime() <= now &&
      certificate.validToDate.getTime() > now &&
      certificate.checkHost(vnAgentServerName) !== undefined &&
      certificatesOf(authorities).some((each) => certificate.verify(new X509Certificate(each).publicKey))
    return isUsable ? certificate : undefined
  } catch {
    return undefined
  }
}

/** The first of these certificates. */
function bundleOf(certificates: string): string {
  return [...new Set(certificatesOf(certificates))].slice(0, maxAuthorities).join("")
}

function certificatesOf(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? []
}

async function read(client: KubeClient, { namespace, name }: ObjectName): Promise<Present | undefined> {
  try {
    const { data = {}, metadata } = await client.get<Secret>(secrets, namespace, name)
    const decode = (value: string): string => Buffer.from(value, "base64").toString()
    const decoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)]))
    return { data: decoded, resourceVersion: metadata.resourceVersion }
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function write(
  client: KubeClient,
  { namespace, name }: ObjectName,
  present: Present | undefined,
  values: Data,
): Promise<boolean> {
  if (present !== undefined && Object.entries(values).every(([key, value]) => present.data[key] === value)) return false
  const encode = (value: string): string => Buffer.from(value).toString("base64")
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encode(value)]))
  if (present !== undefined) {
    // Another gateway may have written it meanwhile: then it is read again.
    const metadata = { resourceVersion: present.resourceVersion }
    await client.patch(secrets, namespace, name, { metadata, data }, { type: "merge" })
    return true
  }
  const secret: Secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, type: "Opaque", data }
  await client.create(secrets, secret)
  return true
}
