// Windows options of security contexts. Source: k8s.io/kubernetes/pkg/apis/core/validation (validateWindowsSecurityContextOptions,
// validateWindowsHostProcessPod).

import { type FieldError, type FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import { messages } from "../../validation/values.ts"
import type { Container, PodSpec } from "./types.ts"

type Options = NonNullable<NonNullable<Container["securityContext"]>["windowsOptions"]>

const credentialKiB = 64
const longestDomain = 255
const longestUser = 104
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/u
const domainLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
const domainName = new RegExp(`^${domainLabel}(?:\\.${domainLabel})*$`)
const forbiddenInUser = /["/\\:;|=,+*?<>@[\]]/

export function validateWindowsOptions(path: FieldPath, options: Options = {}): FieldError[] {
  const { gmsaCredentialSpecName: credentialName, gmsaCredentialSpec: credential, runAsUserName: user } = options
  const errors: FieldError[] = []
  if (credentialName !== undefined) {
    const at = path.child("gmsaCredentialSpecName")
    errors.push(...messages(at, credentialName, validateDNS1123Subdomain(credentialName)))
  }
  if (credential !== undefined) {
    errors.push(...messages(path.child("gmsaCredentialSpec"), credential, credentialFaults(credential)))
  }
  if (user !== undefined) errors.push(...messages(path.child("runAsUserName"), user, userFaults(user)))
  return errors
}

function credentialFaults(credential: string): string[] {
  if (credential === "") return ["gmsaCredentialSpec cannot be an empty string"]
  return Buffer.byteLength(credential) > credentialKiB * 1024
    ? [`gmsaCredentialSpec size must be under ${credentialKiB} KiB`]
    : []
}

/** "user" or "domain\user" */
function userFaults(name: string): string[] {
  if (name === "") return ["runAsUserName cannot be an empty string"]
  if (Array.from(name).some((character) => character < " " || character === "\u007f"))
    return ["runAsUserName cannot contain control characters"]
  const parts = name.split("\\")
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"]
  const domain = parts.length === 2 ? parts[0] : undefined
  const user = parts.at(-1) ?? ""
  const faults: string[] = []
  if (Buffer.byteLength(domain ?? "") > longestDomain) {
    faults.push(`runAsUserName's Domain length must be under ${longestDomain + 1} characters`)
  }
  if (domain !== undefined && !netBiosName.test(domain) && !domainName.test(domain)) {
    faults.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  if (user === "") faults.push("runAsUserName's User cannot be empty")
  if (Buffer.byteLength(user) > longestUser) {
    faults.push(`runAsUserName's User length must not be longer than ${longestUser} characters`)
  }
  if (/^[. ]+$/.test(user)) faults.push("runAsUserName's User cannot contain only periods or spaces")
  if (forbiddenInUser.test(user)) {
    faults.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`)
  }
  return faults
}

/** Either all or no containers of a pod are host processes, and host processes require the host network. */
export function validateHostProcess(path: FieldPath, spec: PodSpec): FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  const errors: FieldError[] = []
  let [all, count] = [0, 0]
  for (const list of ["initContainers", "containers", "ephemeralContainers"] as const) {
    for (const [index, { securityContext }] of (spec[list] ?? []).entries()) {
      const own = securityContext?.windowsOptions?.hostProcess
      if (ofPod !== undefined && own !== undefined && own !== ofPod) {
        const at = path.child(list).index(index).child("securityContext", "windowsOptions", "hostProcess")
        const detail = `pod hostProcess value must be identical if both are specified, was ${String(ofPod)}`
        errors.push(invalidValue(at, own, detail))
      }
      all++
      if (own ?? ofPod ?? false) count++
    }
  }
  if (count === 0) return errors
  if (count !== all) {
    const detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
    errors.push(invalidValue(path, "", detail))
  }
  if (spec.hostNetwork === true) return errors
  const detail = "hostNetwork must be true if pod contains any hostProcess containers"
  return [...errors, invalidValue(path.child("hostNetwork"), false, detail)]
}
