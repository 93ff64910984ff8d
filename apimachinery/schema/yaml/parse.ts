// Parses texts of configuration as Kubernetes does.

import { convertYaml, maxYamlBytes } from "./convert.ts"

/** Throws an Error with upstream's message if it is no YAML, repeats keys, or is too long. Of several documents it is the first. */
export function parseYaml(text: string): unknown {
  const outcome = convertYaml(Buffer.from(text))
  if ("fault" in outcome) throw new Error(outcome.fault)
  if ("isTooLong" in outcome) throw new Error(`yaml: more than ${maxYamlBytes} bytes`)
  const [repeated] = outcome.repeatedKeys
  if (repeated !== undefined) throw new Error(`yaml: ${repeated}`)
  return JSON.parse(outcome.json)
}
