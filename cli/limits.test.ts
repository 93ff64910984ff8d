import { expect, test } from "vitest"
import { parseConfig, withDefault } from "./config.ts"
import { limitFlags, limitsField } from "./limits.ts"

test("limits are flags by their names", () => {
  expect(limitFlags(["maxStoredObjects=1000", "maxInFlight=5"])).toEqual({ maxStoredObjects: 1000, maxInFlight: 5 })
  expect(() => limitFlags(["maxSeriousness=1"])).toThrow(/no such limit; known are .*maxStoredBytes/)
  for (const wrong of ["maxInFlight", "maxInFlight=", "maxInFlight=many", "maxInFlight=-1"])
    expect(() => limitFlags([wrong])).toThrow("--limit must be NAME=NUMBER")
})

test("limits that a gateway could not work with are refused", () => {
  expect(limitFlags(["maxServices=0", "shutdownMs=0"])).toEqual({ maxServices: 0, shutdownMs: 0 })
  expect(() => limitFlags(["maxInFlight=0"])).toThrow(
    /^--limit maxInFlight must be a whole number from 1 to \d+, not "0"$/,
  )
  expect(() => limitFlags(["requestTimeoutMs=3000000000"])).toThrow("a whole number from 1 to 1000000000")
  const fields = { limits: limitsField }
  expect(() => parseConfig("gateway.yaml", "limits: {headersTimeoutMs: 0}", fields)).toThrow(
    'field "limits.headersTimeoutMs" must be a whole number from 1 to 1000000000, not 0',
  )
})

test("limits are fields of a part's configuration file", () => {
  const fields = { limits: withDefault(limitsField, {}) }
  expect(parseConfig("gateway.yaml", "limits: {maxConnections: 100}", fields)).toEqual({
    limits: { maxConnections: 100 },
  })
  expect(parseConfig("gateway.yaml", "", fields)).toEqual({ limits: {} })
  expect(() => parseConfig("gateway.yaml", "limits: {most: 1}", fields)).toThrow('there is no field "limits.most"')
})
