// Secrets. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import {
  asJson,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import type { Secret } from "../../../../apimachinery/object.ts"
import { accountAnnotation, tokenType } from "../../../../apimachinery/core/service-account-tokens.ts"
import { forgetGiven, hasGivenNullBytes, isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import { setOwn } from "../../../../apimachinery/schema/json-object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { immutable } from "../../validation/values.ts"
import { objectFault } from "../annotated-json.ts"
import { tooMuch, validateDataKeys } from "../configmaps/data.ts"
import { keyPairFault } from "./key-pair.ts"

const data = FieldPath.root("data")
const immutableSet = "field is immutable when `immutable` is set"

const strategy: Strategy<Secret> = {
  generation: false,

  default(secret) {
    secret.type = secret.type || "Opaque"
  },

  /** stringData is write-only: it is merged into data and takes precedence. */
  convert(secret) {
    if (secret.stringData === undefined) return
    const bytes = (secret.data ??= {})
    for (const [key, text] of Object.entries(secret.stringData)) {
      setOwn(bytes, key, Buffer.from(text).toString("base64"))
      forgetGiven(bytes, key)
    }
    delete secret.stringData
  },

  prepareForUpdate(_ctx, secret, current) {
    // An update without a type keeps the current type.
    if (!secret.type && current.type) secret.type = current.type
  },

  validate: (_ctx, secret) => validateSecret(secret),

  validateUpdate(_ctx, secret, current) {
    const errors =
      secret.type === current.type ? [] : [invalidValue(FieldPath.root("type"), asJson(secret.type), immutable)]
    if (current.immutable === true) {
      if (secret.immutable !== true) errors.push(forbiddenField(FieldPath.root("immutable"), immutableSet))
      // Upstream distinguishes empty from absent data, and null from empty bytes, as which it has been read.
      if (isGivenEmpty(secret, "data") || hasGivenNullBytes(secret.data) || !semanticEqual(secret.data, current.data))
        errors.push(forbiddenField(data, immutableSet))
    }
    return [...errors, ...validateSecret(secret)]
  },

  warnings: (_ctx, secret) => (secret.type === "kubernetes.io/tls" ? keyPairWarnings(secret) : []),

  selectableFields: (secret) => ({ type: secret.type ?? "" }),
}

export const secrets: KindExtension = { strategy }

/** The secret is accepted, but a server cannot use this key pair. */
function keyPairWarnings(secret: Secret): string[] {
  const textOf = (key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString("latin1")
  const fault = keyPairFault(textOf("tls.crt"), textOf("tls.key"))
  return fault === undefined ? [] : [fault]
}

/** The keys that a type requires: `all` of them, or one of `any`. */
const keysOf: Readonly<Record<string, { all?: readonly string[]; any?: readonly string[]; json?: boolean }>> =
  dictionary({
    "kubernetes.io/dockercfg": { all: [".dockercfg"], json: true },
    "kubernetes.io/dockerconfigjson": { all: [".dockerconfigjson"], json: true },
    "kubernetes.io/basic-auth": { any: ["username", "password"] },
    "kubernetes.io/ssh-auth": { all: ["ssh-privatekey"] },
    "kubernetes.io/tls": { all: ["tls.crt", "tls.key"] },
  })

function validateSecret(secret: Secret): FieldError[] {
  const values = (secret.data ?? {}) as Record<string, string>
  const errors = [...validateDataKeys(data, Object.keys(values)), ...tooMuch(data, bytesOf(values))]
  if (secret.type === tokenType && !secret.metadata.annotations?.[accountAnnotation]) {
    errors.push(required(FieldPath.root("metadata", "annotations").key(accountAnnotation)))
  }
  const rule = keysOf[secret.type ?? ""]
  for (const key of rule?.all ?? []) {
    const value = values[key]
    if (value === undefined) errors.push(required(data.key(key)))
    else if (key === "ssh-privatekey" && value === "") errors.push(required(data.key(key)))
    else if (rule?.json === true) errors.push(...validateJson(data.key(key), value))
  }
  if (rule?.any !== undefined && !rule.any.some((key) => Object.hasOwn(values, key))) {
    errors.push(...rule.any.map((key) => required(data.key(key))))
  }
  return errors
}

function validateJson(path: FieldPath, encoded: string): FieldError[] {
  const fault = objectFault(Buffer.from(encoded, "base64").toString())
  return fault === undefined ? [] : [invalidValue(path, "<secret contents redacted>", fault)]
}

function bytesOf(values: Record<string, string>): number {
  return Object.values(values).reduce((sum, value) => sum + Buffer.byteLength(value, "base64"), 0)
}
