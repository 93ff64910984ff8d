/** A copy: as a part of a file's text it would keep all of that in memory. */
export function ownText(part: string): string {
  return Buffer.from(part).toString()
}
