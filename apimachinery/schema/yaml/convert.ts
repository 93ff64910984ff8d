// From the bytes of a YAML text to JSON, as Kubernetes reads it, step by step: text.ts (characters), scanner.ts (tokens), compose.ts
// (nodes), decode.ts (values), json.ts. What is long is converted in a thread of its own.

import { maxDepth, tooDeep } from "../json-survey.ts"
import { readCharacters } from "./characters.ts"
import { compose } from "./compose.ts"
import { Decoder, YamlTooLong } from "./decode.ts"
import { printJson } from "./json.ts"
import { YamlFault } from "./text.ts"

/** Of the text. What aliases stand for counts as often as it stands there. */
export const maxYamlBytes = 1024 * 1024

export interface YamlAsJson {
  json: string
  /** Some of its integers are no doubles. */
  hasLongIntegers: boolean
  /** `line 3: key "a" already set in map`. */
  repeatedKeys: readonly string[]
}

/** Can be passed between threads. `fault`: in upstream's words. */
export type YamlOutcome = YamlAsJson | { fault: string } | { isTooLong: true }

export function convertYaml(bytes: Uint8Array): YamlOutcome {
  if (bytes.length > maxYamlBytes) return { isTooLong: true }
  try {
    return converted(bytes)
  } catch (error) {
    if (error instanceof YamlFault) return { fault: error.message }
    if (error instanceof YamlTooLong) return { isTooLong: true }
    throw error
  }
}

/** Many digits in a row: of an integer that may be no double. */
const longInteger = /\d{16}/

function converted(bytes: Uint8Array): YamlAsJson {
  const { text, fault } = readCharacters(bytes)
  if (fault !== undefined) throw new YamlFault(`yaml: ${fault}`)
  const node = compose(text)
  if (node === undefined) return { json: "null", hasLongIntegers: false, repeatedKeys: [] }
  const values = new Decoder({ maxSize: maxYamlBytes, maxDepth, tooDeep })
  const json = printJson(values.decode(node))
  return { json, hasLongIntegers: longInteger.test(json), repeatedKeys: values.repeatedKeys }
}
