// Validates cron schedules like the parser that upstream uses (github.com/robfig/cron/v3, standard form).

import { dictionary } from "../../../../apimachinery/dictionary.ts"

const names: Readonly<Record<string, readonly string[]>> = dictionary({
  month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
})
const fields = [
  { name: "minute", low: 0, high: 59 },
  { name: "hour", low: 0, high: 23 },
  { name: "day", low: 1, high: 31 },
  { name: "month", low: 1, high: 12 },
  { name: "weekday", low: 0, high: 6 },
] as const
const descriptors = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]

/** The error in the schedule, or undefined. */
export function scheduleFault(schedule: string): string | undefined {
  let spec = schedule
  const zone = /^(TZ|CRON_TZ)=(\S+)\s+(\S.*)?$/.exec(spec)
  if (zone !== null) spec = zone[3] ?? ""
  if (spec.startsWith("@")) {
    if (descriptors.includes(spec)) return undefined
    if (/^@every (\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(spec)) return undefined
    return spec.startsWith("@every ")
      ? `failed to parse duration ${spec}: invalid duration`
      : `unrecognized descriptor: ${spec}`
  }
  const parts = spec
    .trim()
    .split(/\s+/)
    .filter((part) => part !== "")
  if (parts.length !== fields.length) {
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`
  }
  for (const [index, field] of fields.entries()) {
    for (const range of (parts[index] ?? "").split(",")) {
      const fault = rangeFault(range, field)
      if (fault !== undefined) return fault
    }
  }
  return undefined
}

function rangeFault(text: string, field: (typeof fields)[number]): string | undefined {
  const [range = "", step, ...more] = text.split("/")
  if (more.length > 0) return `too many slashes: ${text}`
  const [first = "", last, ...others] = range.split("-")
  if (others.length > 0) return `too many hyphens: ${text}`
  let [from, to]: [number, number] = [field.low, field.high]
  if (first !== "*" && first !== "?") {
    const start = valueOf(first, field.name)
    if (start === undefined)
      return `failed to parse int from ${first}: strconv.Atoi: parsing "${first}": invalid syntax`
    const end = last === undefined ? (step === undefined ? start : field.high) : valueOf(last, field.name)
    if (end === undefined) return `failed to parse int from ${last}: strconv.Atoi: parsing "${last}": invalid syntax`
    ;[from, to] = [start, end]
  } else if (last !== undefined) return `too many hyphens: ${text}`
  if (step !== undefined && !/^\d+$/.test(step)) {
    return `failed to parse int from ${step}: strconv.Atoi: parsing "${step}": invalid syntax`
  }
  if (from < field.low) return `beginning of range (${from}) below minimum (${field.low}): ${text}`
  if (to > field.high) return `end of range (${to}) above maximum (${field.high}): ${text}`
  if (from > to) return `beginning of range (${from}) beyond end of range (${to}): ${text}`
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${text}`
  return undefined
}

function valueOf(text: string, field: string): number | undefined {
  const index = names[field]?.indexOf(text.toLowerCase()) ?? -1
  if (index >= 0) return field === "month" ? index + 1 : index
  return /^\d+$/.test(text) ? Number(text) : undefined
}
