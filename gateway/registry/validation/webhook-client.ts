// Validates the client configuration of admission and conversion webhooks. Source: k8s.io/apiserver/pkg/util/webhook/validation.go.

import { parseUrl, urlFault } from "../../../apimachinery/go/url.ts"
import { repeats } from "../../../apimachinery/repeats.ts"
import { type FieldError, type FieldPath, invalidValue, required } from "../../../apimachinery/field-errors.ts"
import { validateDNS1035Label, validateDNS1123Subdomain } from "../../../apimachinery/names.ts"
import type { WebhookClientConfig } from "../../backends/webhook-client.ts"
import { portNumber } from "./values.ts"

const form = "; desired format: https://host[/path]"
const reviewVersions = ["v1", "v1beta1"]

export function validateWebhookClient(at: FieldPath, { url, service }: WebhookClientConfig): FieldError[] {
  if ((url === undefined) === (service === undefined || service === null)) {
    return [required(at, "exactly one of url or service is required")]
  }
  if (url !== undefined) return validateURL(at.child("url"), url)
  const place = at.child("service")
  return [
    ...(service?.name ? [] : [required(place.child("name"))]),
    ...(service?.namespace ? [] : [required(place.child("namespace"))]),
    ...validatePort(place.child("port"), service?.port ?? 443),
    ...validatePath(place.child("path"), service?.path ?? ""),
  ]
}

function validatePort(at: FieldPath, port: number): FieldError[] {
  return portNumber(at, port).length === 0
    ? []
    : [invalidValue(at, port, "port is not valid: must be between 1 and 65535, inclusive")]
}

function validateURL(at: FieldPath, text: string): FieldError[] {
  const fault = urlFault(text, "reference")
  if (fault !== undefined) return [required(at, `url must be a valid URL: ${fault}${form}`)]
  const { scheme, host, user, fragment, query } = parseUrl(text, "reference")
  const errors: FieldError[] = []
  if (scheme !== "https") {
    errors.push(invalidValue(at, scheme, `'https' is the only allowed URL scheme${form}`))
  }
  if (host === "") errors.push(invalidValue(at, host, `host must be specified${form}`))
  if (user !== undefined) errors.push(invalidValue(at, user, "user information is not permitted in the URL"))
  if (fragment) errors.push(invalidValue(at, fragment, "fragments are not permitted in the URL"))
  if (query) errors.push(invalidValue(at, query, "query parameters are not permitted in the URL"))
  return errors
}

function validatePath(at: FieldPath, path: string): FieldError[] {
  if (path === "" || path === "/") return []
  if (path === "//") return [invalidValue(at, path, "segment[0] may not be empty")]
  const errors = path.startsWith("/") ? [] : [invalidValue(at, path, "must start with a '/'")]
  const steps = path.slice(1).replace(/\/$/, "").split("/")
  for (const [index, step] of steps.entries()) {
    const faults = step === "" ? [" may not be empty"] : validateDNS1123Subdomain(step).map((fault) => `: ${fault}`)
    errors.push(...faults.map((fault) => invalidValue(at, path, `segment[${index}]${fault}`)))
  }
  return errors
}

/** `missing`: the message if there are no versions. */
export function validateReviewVersions(at: FieldPath, versions: readonly string[], missing = ""): FieldError[] {
  if (versions.length === 0) return [required(at, missing)]
  const repeated = repeats(versions)
  const errors = versions.flatMap((version, index) =>
    repeated.has(index)
      ? [invalidValue(at.index(index), version, "duplicate version")]
      : validateDNS1035Label(version).map((fault) => invalidValue(at.index(index), version, fault)),
  )
  if (!versions.some((version) => reviewVersions.includes(version))) {
    errors.push(invalidValue(at, versions, `must include at least one of ${reviewVersions.join(", ")}`))
  }
  return errors
}
