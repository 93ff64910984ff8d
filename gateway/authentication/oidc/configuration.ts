// The additional issuers whose JWTs a tenant accepts: an AuthenticationConfiguration of Kubernetes (apiserver.config.k8s.io) in the
// tenant's ConfigMap kube-system/authentication-configuration, field config.yaml. Not supported: anonymous, egress selectors.
// Source: k8s.io/apiserver/pkg/apis/apiserver.

import { type FieldError, FieldPath, invalidValue, notSupported, omitted } from "../../../apimachinery/field-errors.ts"
import { parseYaml } from "../../../apimachinery/schema/yaml/parse.ts"
import type { CompiledAuthenticator } from "./expressions.ts"
import { faultsOfForm, list, record, text, withoutNulls } from "./form.ts"
import type { JWTAuthenticator } from "./types.ts"
import { validateAuthenticators } from "./validation.ts"

export const configurationName = "authentication-configuration"
export const configurationField = "config.yaml"

const claimOrExpression = { claim: text, expression: text }

const form = record({
  apiVersion: text,
  kind: text,
  jwt: list(
    record({
      issuer: record({
        url: text,
        discoveryURL: text,
        certificateAuthority: text,
        audiences: list(text),
        audienceMatchPolicy: text,
        egressSelectorType: text,
      }),
      claimValidationRules: list(record({ ...claimOrExpression, requiredValue: text, message: text })),
      claimMappings: record({
        username: record({ ...claimOrExpression, prefix: text }),
        groups: record({ ...claimOrExpression, prefix: text }),
        uid: record(claimOrExpression),
        extra: list(record({ key: text, valueExpression: text })),
      }),
      userValidationRules: list(record({ expression: text, message: text })),
    }),
  ),
})

const kind = "AuthenticationConfiguration"
const apiVersions = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`)

/** Maximum size of the text. */
const maxBytes = 64 * 1024

interface ParsedConfiguration {
  authenticators: readonly CompiledAuthenticator[]
  errors: FieldError[]
}

/** One of the two lists is empty. `ownIssuer`: of the control plane's own tokens, which may not be configured. */
export function parseConfiguration(source: string, ownIssuer: string): ParsedConfiguration {
  const { jwt, errors } = readConfiguration(source)
  if (errors.length > 0) return { authenticators: [], errors }
  const { authenticators, errors: faults } = validateAuthenticators(jwt, ownIssuer)
  return faults.length > 0 ? { authenticators: [], errors: faults } : { authenticators, errors: [] }
}

/** The URLs of the issuers, if it can be read. It may be invalid otherwise: its expressions, which may be many, are not compiled. */
export function issuerURLsIn(source: string): string[] {
  return readConfiguration(source).jwt.map(({ issuer }) => issuer?.url ?? "")
}

/** One of the two lists is empty. */
function readConfiguration(source: string): { jwt: readonly JWTAuthenticator[]; errors: FieldError[] } {
  const at = FieldPath.root("data").key(configurationField)
  const fail = (...errors: FieldError[]) => ({ jwt: [], errors })
  if (source.length > maxBytes) return fail(invalidValue(at, omitted, `must have at most ${maxBytes} bytes`))
  let configuration: unknown
  try {
    configuration = parseYaml(source)
  } catch (error) {
    return fail(invalidValue(at, omitted, `is no YAML: ${(error as Error).message}`))
  }
  if (typeof configuration !== "object" || configuration === null || Array.isArray(configuration))
    return fail(invalidValue(at, omitted, `must be an ${kind}`))
  const { anonymous = null, ...given } = configuration as Record<string, unknown>
  const errors = faultsOfKind(given)
  if (anonymous !== null) errors.push(invalidValue(FieldPath.root("anonymous"), omitted, "is not supported here"))
  errors.push(...faultsOfForm(FieldPath.root(), given, form))
  if (errors.length > 0) return fail(...errors)
  const { jwt = [] } = withoutNulls(given, form) as { jwt?: JWTAuthenticator[] }
  return { jwt, errors }
}

function faultsOfKind(given: Record<string, unknown>): FieldError[] {
  const errors: FieldError[] = []
  const shown = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
  if (given["kind"] !== kind) errors.push(notSupported(FieldPath.root("kind"), shown(given["kind"]), [kind]))
  if (!apiVersions.includes(shown(given["apiVersion"])))
    errors.push(notSupported(FieldPath.root("apiVersion"), shown(given["apiVersion"]), apiVersions))
  return errors
}
