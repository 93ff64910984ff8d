// Names of iSCSI initiators and targets: iqn, eui and naa.

import { dictionary } from "../../../../apimachinery/dictionary.ts"

const initiators: Readonly<Record<string, (name: string) => boolean>> = dictionary({
  iqn: isQualifiedName,
  eui: (name) => /^eui.[a-zA-Z0-9]{16}$/.test(name),
  naa: (name) => /^naa.[a-zA-Z0-9]{32}$/.test(name),
})

/**
 * A qualified name followed by a colon and more text, anywhere in the value. Equivalent to upstream's expression:
 * iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$
 */
function isQualifiedName(name: string): boolean {
  const parts = lastPart(name, /[,;*&$|\s]/).split(":")
  const own = parts.pop() === "" ? parts.slice(0, -1) : parts
  return own.some((part) => /iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]/.test(lastPart(part, /[^a-zA-Z0-9.-]/)))
}

/** The part after the last separator. */
function lastPart(text: string, separator: RegExp): string {
  let from = text.length
  while (from > 0 && !separator.test(text.charAt(from - 1))) from--
  return text.slice(from)
}

/** The error of the name of an initiator or target, or undefined. Source: validateISCSIVolumeSource. */
export function initiatorFault(name: string, persistent: boolean): string | undefined {
  const form = initiators[name.slice(0, 3)]
  if (form === undefined) {
    return persistent ? "must be valid format" : "must be valid format starting with iqn, eui, or naa"
  }
  return form(name) ? undefined : "must be valid format"
}
