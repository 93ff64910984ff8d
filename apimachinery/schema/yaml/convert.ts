// Converts the bytes of a YAML text to JSON like Kubernetes, in steps: text.ts (characters), scanner.ts (tokens), compose.ts
// (nodes), decode.ts (values), json.ts. Long texts are converted in a separate thread.

import { maxDepth, tooDeep } from "../json/survey.ts"
import { readCharacters } from "./characters.ts"
import { compose } from "./compose.ts"
import { Decoder, YamlTooLong } from "./decode.ts"
import { printJson } from "./json.ts"
import { YamlFault } from "./text.ts"

/** Maximum size of the text. Aliases count with the size of their content. */
export const maxYamlBytes = 1024 * 1024

interface YamlAsJson {
  json: string
  /** Some of its integers are not exact as doubles. */
  hasLongIntegers: boolean
  /** Such as `line 3: key "a" already set in map`. */
  repeatedKeys: readonly string[]
}

/** Can be passed between threads. `fault`: upstream's message. */
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

/** Many consecutive digits: possibly an integer that is not exact as a double. */
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
