// What two servers may print differently although they say the same: times, addresses, uids, random names and the column
// widths that follow from them.

import { withoutEarlyMessage } from "../../harness/kubectls.ts"

const replacements: [RegExp, string][] = [
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "TOKEN"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "UID"],
  // Containers and what is started in them.
  [/\b[0-9a-f]{64}\b/g, "ID"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "TIME"],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} [\d:]{8} [+-]\d{4}/g, "TIME"],
  // kubectl diff names temporary files, with their times.
  [/^(---|\+\+\+) \S*\/(LIVE|MERGED)-\d+\/(\S+)\t.*$/gm, "$1 $2/$3"],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, "$1"],
  [/\bhttps:\/\/127\.0\.0\.1:\d+(\/tenants\/[a-z0-9-]+)?/g, "SERVER"],
  [/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g, "IP"],
  [/\b(resourceVersion"?: )"?\d+"?/g, "$1VERSION"],
  [/\b(Resource Version: +)\d+/g, "$1VERSION"],
  // kubectl keeps what could not be saved, and logs some messages.
  [/-edit-\d+\.yaml/g, "-edit.yaml"],
  [/^[EIW]\d{4} [\d:.]+ +\d+ /gm, "LOG "],
  // Where kubectl itself fails completely: 1.36 does when it reconciles rights.
  [/\b0x[0-9a-f]+\b|\bgoroutine \d+/g, "ADDRESS"],
  // The suffixes of generated names have neither vowels nor 0, 1 and 3.
  // A hash is a number of up to ten digits, each a letter: few are short.
  [/-[bcdf-hj-np-tv-xz24-9]{6,10}-[bcdf-hj-np-tv-xz24-9]{5}\b/g, "-HASH-SUFFIX"],
  [/-[bcdf-hj-np-tv-xz24-9]{6,10}\b/g, "-HASH"],
  [/-[bcdf-hj-np-tv-xz24-9]{5}\b/g, "-SUFFIX"],
  [/\b(pod-template-hash"?[:=] ?"?)[bcdf-hj-np-tv-xz24-9]{6,10}/g, "$1HASH"],
  [/\b\d+(\.\d+)?(ms|s|m|h|d)(\d+s)?( ago)?(?=\s|$)/gm, "AGE"],
  [/\bnode-[123]\b/g, "NODE"],
  // How far a rollout is when it is asked for, and how often that changes.
  [/^Waiting for .*\n/gm, ""],
]

export function normalise(text: string): string {
  const said = withoutEarlyMessage(text)
  const replaced = replacements.reduce((result, [pattern, by]) => result.replaceAll(pattern, by), said)
  return withoutEventDetails(sortCauses(replaced))
    .split("\n")
    .map((line) =>
      line
        .trimEnd()
        .replaceAll(/(\S) {2,}/g, "$1  ")
        .replaceAll(/-{4,}/g, "----"),
    )
    .join("\n")
    .trimEnd()
}

/** The causes of an invalid custom resource come in the order of a Go map. */
function sortCauses(text: string): string {
  return text.replaceAll(/(^\* .*\n)+/gm, (causes) => causes.trimEnd().split("\n").sort().join("\n") + "\n")
}

/** kube-apiserver says it of a new Service when its repair loop is ahead of its own informer of addresses. */
const raced = "ClusterIPNotAllocated"

/** At the end of a description: which types and reasons there were; how often and in what order is a matter of speed. */
function withoutEventDetails(text: string): string {
  const [before = "", events] = text.split(/^Events:.*\n/m)
  if (events === undefined) return text
  const reasons = [...events.matchAll(/^ +(Normal|Warning) +(\S+)/gm)].flatMap(([, type, reason]) =>
    reason === raced ? [] : [`  ${type} ${reason}`],
  )
  return `${before}Events:\n${[...new Set(reasons)].sort().join("\n")}`
}

/** Lines that one has and the other lacks, as a diff has them; in the order they come. */
export function difference(expected: string, found: string): string {
  const [left, right] = [expected.split("\n"), found.split("\n")]
  const table = longestCommon(left, right)
  const lines: string[] = []
  for (let i = 0, j = 0; i < left.length || j < right.length;) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      i++
      j++
    } else if (j >= right.length || (i < left.length && (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0))) {
      lines.push(`  - ${left[i++]}`)
    } else {
      lines.push(`  + ${right[j++]}`)
    }
  }
  return lines.join("\n")
}

/** table[i][j]: how many lines left[i…] and right[j…] have in common, in order. */
function longestCommon(left: readonly string[], right: readonly string[]): number[][] {
  const table = Array.from({ length: left.length + 1 }, () => Array.from({ length: right.length + 1 }, () => 0))
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = table[i] as number[]
      row[j] =
        left[i] === right[j] ? (table[i + 1]?.[j + 1] ?? 0) + 1 : Math.max(table[i + 1]?.[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  return table
}
