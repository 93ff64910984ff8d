// What the fields of a body are told for: those that are unknown, and those that are given twice. Errors in kube-apiserver's words.

import type { Json } from "../../apimachinery/object.ts"
import { badRequest } from "../../apimachinery/status.ts"
import { unmarshalErrors } from "../../apimachinery/schema/json/parse.ts"
import { strictFaults } from "../../apimachinery/schema/json/scan.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import type { RequestContext } from "../request/context.ts"
import type { FieldValidation } from "./request-options.ts"

/** What a text repeats. */
export interface Repeated {
  faults: readonly string[]
  /** They are of a patch, which upstream reads whole: also what it keeps as it came. */
  isPatch?: boolean
  /** The text, if it is JSON or YAML. */
  text?: () => string
  /** The object of what stands first. */
  first?: Json
  /** What a patch or a text in YAML has made, with its keys in the order in which upstream reads them. */
  written?: () => Json
}

interface Asked {
  version: string
  kind: string
  schema: Schema
  /** The kind that was asked for. */
  as: string
  validation: FieldValidation
}

/** Fields that are unknown or repeated: who is strict is refused, others are warned. */
export function reportFaults(
  ctx: RequestContext,
  { version, kind, schema, as, validation }: Asked,
  repeated: Repeated,
  unknown: readonly string[],
  paths: Paths | undefined,
): void {
  const faults = allFaults(repeated, unknown, paths).filter(
    (fault) => repeated.isPatch === true || !isWithinRaw(schema, fault),
  )
  if (faults.length === 0) return
  if (validation === "Strict") {
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${as}: strict decoding error: ${faults.join(", ")}`,
    )
  }
  const [first = ""] = repeated.faults
  for (const fault of first.startsWith(unmarshalErrors) ? [...linesOf(first), ...unknown] : faults) ctx.warn(fault)
}

type Paths = readonly (readonly (string | number)[])[]

/** What upstream keeps as it came, or reads by itself, is not looked at for keys that are given twice. */
function isWithinRaw(root: Schema, fault: string): boolean {
  const path = /^duplicate field "(.*)"$/.exec(fault)?.[1]
  if (path === undefined || root.custom === true) return false
  let schema: Schema | undefined = root
  for (const [step] of path.matchAll(/[^.[\]]+/g)) {
    if (schema?.type === "any" || schema?.preserveUnknown === true) return true
    schema = schema?.fields?.[step]?.schema ?? schema?.items
  }
  return false
}

/** `paths`: of unknown fields, where they are looked for while the text is read. */
function allFaults(
  { faults, text }: Repeated,
  unknown: readonly string[],
  paths: Paths | undefined,
): readonly string[] {
  const [first] = faults
  if (first === undefined) return unknown
  if (text === undefined) return [...faults, ...unknown]
  return paths === undefined || first.startsWith(unmarshalErrors)
    ? [...faults, ...unknown]
    : strictFaults(text(), paths)
}

function linesOf(errors: string): string[] {
  return errors
    .split("\n")
    .slice(1)
    .map((line) => line.trim())
}
