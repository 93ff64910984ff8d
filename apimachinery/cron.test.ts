import { describe, expect, test } from "vitest"
import { CronFault, parseCron } from "./cron.ts"

const sorted = (values: ReadonlySet<number>): number[] => [...values].sort((a, b) => a - b)

describe("parseCron()", () => {
  test.each([
    ["*/20", [0, 20, 40]],
    ["50/4", [50, 54, 58]],
    ["1-10/4", [1, 5, 9]],
    ["5,,7", [5, 7]],
    [",", []],
    ["+3", [3]],
    ["007", [7]],
    ["*-5/30", [0, 30]],
  ])("the minutes %s", (text, expected) => {
    const { times } = parseCron(`${text} * * * *`)
    expect(typeof times === "number" ? times : sorted(times.minute)).toEqual(expected)
  })

  test("has names of months and weekdays in any case", () => {
    expect(parseCron("0 0 * jan,DEC Sun-tue").times).toMatchObject({
      month: new Set([1, 12]),
      weekday: new Set([0, 1, 2]),
    })
  })

  test.each([
    ["* * * * *", true, true],
    ["* * ?,5 * 1", true, false],
    ["* * */1 * */2", true, false],
    ["* * 1-31 * *-3", false, true],
  ])("%s: any day %s, any weekday %s", (text, anyDay, anyWeekday) => {
    expect(parseCron(text).times).toMatchObject({ anyDay, anyWeekday })
  })

  test.each([
    ["@every 1h30m", 5_400_000],
    ["@every 1500ms", 1000],
    ["@every -5s", 1000],
    ["@every .5h", 1_800_000],
    ["@every 90000000µs", 90_000],
  ])("%s is %s ms", (text, expected) => {
    expect(parseCron(text).times).toBe(expected)
  })

  test("has the time zone of the text", () => {
    expect(parseCron("0 0 * * *").zone).toBeUndefined()
    const at = Date.parse("2026-01-01T12:00:00Z")
    expect(parseCron("CRON_TZ=Asia/Tokyo @daily").zone?.local(at).toISOString()).toBe("2026-01-01T21:00:00.000Z")
  })

  test.each([
    ["", "empty spec string"],
    ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
    [" @daily", "expected exactly 5 fields, found 1: [@daily]"],
    ["@Daily", "unrecognized descriptor: @Daily"],
    ["@every\t1h", "unrecognized descriptor: @every\t1h"],
    ["@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'],
    ["@every 1", 'failed to parse duration @every 1: time: missing unit in duration "1"'],
    ["60 * * * *", "end of range (60) above maximum (59): 60"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["* * * * 7", "end of range (7) above maximum (6): 7"],
    ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
    ["a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ["mon * * * *", 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
    ["-1 * * * *", 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ["*/-1 * * * *", "negative number (-1) not allowed: -1"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
    ["x-2-3 * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ["1/2/3 * * * *", "too many slashes: 1/2/3"],
    ["9007199254740993 * * * *", "end of range (9007199254740993) above maximum (59): 9007199254740993"],
    [
      "99999999999999999999 * * * *",
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ["TZ=Mars/Base @daily", "provided bad location Mars/Base: unknown time zone Mars/Base"],
    ["TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"],
    ["TZ=UTC ", "expected exactly 5 fields, found 0: []"],
  ])("rejects %j like upstream's parser", (text, message) => {
    expect(() => parseCron(text)).toThrow(new CronFault(message))
  })
})
