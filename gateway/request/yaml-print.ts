// How YAML is printed, in either thread.

import { stringify } from "yaml"

export function printYaml(value: unknown): Buffer {
  return Buffer.from(stringify(value, { sortMapEntries: true, aliasDuplicateObjects: false }))
}
