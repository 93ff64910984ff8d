/** Copies a string: a substring would keep the whole text of the file in memory. */
export function ownText(part: string): string {
  return Buffer.from(part).toString()
}
