import { expect, test } from "vitest"
import { isTimeZoneName } from "./time-zone-names.ts"

test("names of time zones are as they are written in the database", () => {
  for (const name of ["UTC", "Europe/Berlin", "Asia/Calcutta", "Etc/GMT+5", "America/Argentina/ComodRivadavia"])
    expect(isTimeZoneName(name), name).toBe(true)
  for (const name of ["utc", "europe/berlin", "Europe", "Europe/", "+01:00", ""])
    expect(isTimeZoneName(name), name).toBe(false)
})

test("the list has every zone of the engine", () => {
  for (const name of Intl.supportedValuesOf("timeZone")) expect(isTimeZoneName(name), name).toBe(true)
})
