// spec.conversion of a CustomResourceDefinition. Errors name the fields as v1beta1 did, like upstream's. Source:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation and k8s.io/apiserver/pkg/util/webhook/validation.go.

import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../apimachinery/field-errors.ts"
import { validateDNS1035Label, validateDNS1123Subdomain } from "../../../apimachinery/names.ts"
import { portNumber } from "../../registry/validation/values.ts"
import type { CustomResourceConversion } from "../types.ts"

const strategies = ["None", "Webhook"]
const reviewVersions = ["v1", "v1beta1"]
const form = "; desired format: https://host[/path]"

export function validateConversion(at: FieldPath, conversion: CustomResourceConversion | undefined): FieldError[] {
  if (conversion === undefined) return []
  const { strategy = "", webhook } = conversion
  if (strategy === "") return [required(at.child("strategy"))]
  if (!strategies.includes(strategy)) return [notSupported(at.child("strategy"), strategy, strategies)]
  const client = at.child("webhookClientConfig")
  const versions = at.child("conversionReviewVersions")
  if (strategy === "None") {
    const detail = "should not be set when strategy is not set to Webhook"
    return [
      ...(webhook?.clientConfig === undefined ? [] : [forbiddenField(client, detail)]),
      ...((webhook?.conversionReviewVersions ?? []).length === 0 ? [] : [forbiddenField(versions, detail)]),
    ]
  }
  return [
    ...validateClient(client, webhook?.clientConfig),
    ...validateReviewVersions(versions, webhook?.conversionReviewVersions ?? []),
  ]
}

function validateClient(
  at: FieldPath,
  config: NonNullable<CustomResourceConversion["webhook"]>["clientConfig"],
): FieldError[] {
  if (config === undefined) return [required(at, "required when strategy is set to Webhook")]
  const { url, service } = config
  if ((url === undefined) === (service === undefined || service === null)) {
    return [required(at, "exactly one of url or service is required")]
  }
  if (url !== undefined) return validateURL(at.child("url"), url)
  const place = at.child("service")
  return [
    ...(service?.name ? [] : [required(place.child("name"))]),
    ...(service?.namespace ? [] : [required(place.child("namespace"))]),
    ...portNumber(place.child("port"), service?.port ?? 443),
    ...validatePath(place.child("path"), service?.path ?? ""),
  ]
}

function validateURL(at: FieldPath, text: string): FieldError[] {
  if (!URL.canParse(text)) {
    return text.startsWith("https://")
      ? [invalidValue(at, "", `host must be specified${form}`)]
      : [invalidValue(at, "", `'https' is the only allowed URL scheme${form}`)]
  }
  const url = new URL(text)
  const errors: FieldError[] = []
  const scheme = url.protocol.slice(0, -1)
  if (scheme !== "https") errors.push(invalidValue(at, scheme, `'https' is the only allowed URL scheme${form}`))
  if (url.host === "") errors.push(invalidValue(at, "", `host must be specified${form}`))
  if (url.username !== "") {
    errors.push(invalidValue(at, url.username, "user information is not permitted in the URL"))
  }
  if (url.hash !== "") errors.push(invalidValue(at, url.hash.slice(1), "fragments are not permitted in the URL"))
  if (url.search !== "") {
    errors.push(invalidValue(at, url.search.slice(1), "query parameters are not permitted in the URL"))
  }
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

function validateReviewVersions(at: FieldPath, versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [required(at)]
  const errors = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [invalidValue(at.index(index), version, "duplicate version")]
      : validateDNS1035Label(version).map((fault) => invalidValue(at.index(index), version, fault)),
  )
  if (!versions.some((version) => reviewVersions.includes(version))) {
    errors.push(invalidValue(at, versions, `must include at least one of ${reviewVersions.join(", ")}`))
  }
  return errors
}
