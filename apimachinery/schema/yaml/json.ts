// Converts YAML values to JSON: keys become strings, sorted by name. Source: sigs.k8s.io/yaml (convertToJSONableObject),
// encoding/json.

import { type YamlValue, isUnsigned, printGo } from "./decode.ts"
import type { Scalar } from "./resolve.ts"
import { YamlFault } from "./text.ts"

type Jsonable = string | boolean | null | bigint | number | Jsonable[] | Map<string, Jsonable>

/** Throws for keys and numbers that JSON does not support. */
export function printJson(value: YamlValue): string {
  return print(asJsonable(value))
}

function asJsonable(value: YamlValue): Jsonable {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(asJsonable)
  const map = new Map<string, Jsonable>()
  for (const [key, inner] of value.pairs()) map.set(nameOf(key, inner), asJsonable(inner))
  return map
}

function nameOf(key: Scalar, value: YamlValue): string {
  if (typeof key === "number") return nameOfFloat(key)
  if (key !== null && (typeof key !== "bigint" || !isUnsigned(key))) return String(key)
  const type = key === null ? "%!s(<nil>)" : "uint64"
  throw new YamlFault(`unsupported map key of type: ${type}, key: ${printGo(key)}, value: ${printGo(value)}`)
}

/** As a float32, with as few digits as identify it. Source: strconv.FormatFloat(f, 'g', -1, 32). */
function nameOfFloat(key: number): string {
  const single = Math.fround(key)
  if (Number.isNaN(single)) return ".nan"
  if (!Number.isFinite(single)) return single > 0 ? ".inf" : "-.inf"
  let digits = 1
  while (Math.fround(Number(single.toPrecision(digits))) !== single) digits++
  const [mantissa = "", exponent = ""] = Number(single.toPrecision(digits)).toExponential().split("e")
  const power = Number(exponent)
  if (power >= -4 && power < 6) return Object.is(single, -0) ? "-0" : String(Number(`${mantissa}e${power}`))
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`
}

function print(value: Jsonable): string {
  if (typeof value === "bigint") return String(value)
  if (typeof value === "number" && !Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"
    throw new YamlFault(`json: unsupported value: ${shown}`)
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(print).join(",")}]`
  const entries = [...value].sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${print(inner)}`).join(",")}}`
}
