// Expressions that select devices, in DeviceClasses and ResourceClaims, which a scheduler evaluates. Here they are only compiled,
// and rejected if they may cost too much. Source: k8s.io/dynamic-resource-allocation/cel/compile.go.

import { dictionary } from "../dictionary.ts"
import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  internalFieldError,
  invalidValue,
  tooLong,
} from "../field-errors.ts"
import type { Steps } from "../steps.ts"
import { estimateCost, type SizeEstimator } from "./cost/cost.ts"
import type { Environment } from "./types/environment.ts"
import { compileExpression, perCallLimit } from "./program.ts"
import { anyType, boolType, mapType, printGoType, stringType, structType, type Type } from "./types/types.ts"

const maxLength = 10 * 1024
const [domainLength, idLength, driverLength, valueLength, maxAttributes] = [63, 32, 63, 64, 32]
const deviceType = "kubernetes.DRADevice"

const fields: Readonly<Record<string, Type>> = dictionary({
  driver: stringType,
  allowMultipleAllocations: boolType,
  // Lists of attributes are behind a disabled feature gate, so no attribute can be iterated over.
  attributes: mapType(stringType, mapType(stringType, anyType)),
  capacity: mapType(stringType, mapType(stringType, structType("kubernetes.Quantity"))),
})

const environment: Environment = {
  variables: new Map([["device", structType(deviceType)]]),
  types: {
    has: (name) => name === deviceType,
    field: (name, field) => (name === deviceType ? fields[field] : undefined),
  },
  functions: new Set(["cel.bind"]),
}

/** Maximum sizes of the values by path. */
const sizes: SizeEstimator = {
  sizeOf([root, field, ...steps]) {
    if (root !== "device") return undefined
    const max = field === undefined ? 0 : sizeAt(field, steps)
    return max === undefined ? undefined : { min: 0, max }
  },
}

function sizeAt(field: string, [domain, id, ...beyond]: readonly string[]): number | undefined {
  if (field === "driver") return domain === undefined ? driverLength : undefined
  if (field === "allowMultipleAllocations") return domain === undefined ? 1 : undefined
  if (field !== "attributes" && field !== "capacity") return undefined
  if (domain === undefined) return maxAttributes
  if (domain === "@keys") return id === undefined ? domainLength : undefined
  if (domain !== "@values" && domain !== "@items") return undefined
  if (id === undefined) return maxAttributes
  if (beyond.length > 0) return undefined
  if (id === "@keys") return idLength
  if (field === "attributes") return valueLength
  return id === "@values" || id === "@items" ? 0 : undefined
}

/** The errors of a selector with the expression at this path. */
type ErrorsAt = (at: FieldPath) => FieldError[]

/** By expression. */
export type SelectorErrors = ReadonlyMap<string, ErrorsAt>

/** A step compiles one, which may be that of several selectors. */
export function* compilingSelectors(expressions: ReadonlySet<string>): Steps<SelectorErrors> {
  const errors = new Map<string, ErrorsAt>()
  for (const expression of expressions) {
    errors.set(expression, compileSelector(expression))
    yield
  }
  return errors
}

const right: ErrorsAt = () => []

function compileSelector(expression: string): ErrorsAt {
  if (Buffer.byteLength(expression) > maxLength) return (at) => [tooLong(at, "", maxLength)]
  const { program, type, issues, fault, checked } = compileExpression(expression, environment)
  if (issues !== undefined) return (at) => [invalidValue(at, expression, `compilation failed: ${issues}`)]
  if (type.kind !== "bool" && type.kind !== "any") {
    const detail = `must evaluate to bool or the unknown type, not ${printGoType(type)}`
    return (at) => [invalidValue(at, expression, detail)]
  }
  if (program === undefined) return (at) => [internalFieldError(at, `program instantiation failed: ${fault}`)]
  const { max } = estimateCost(checked, sizes)
  return max > perCallLimit ? (at) => [forbiddenField(at, "too complex, exceeds cost limit")] : right
}
