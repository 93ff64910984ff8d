import { expect, test } from "vitest"
import type { Json } from "../../object.ts"
import { schemaOf } from "../facts.ts"
import type { Schema } from "../schema.ts"
import { decodeObject } from "./decode.ts"

test("of what is merged in memory the first field of the struct that is wrong is told, and of a body the first that is given", () => {
  const lease = (): Json => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    spec: { renewTime: "today", acquireTime: "yesterday" },
  })
  const schema = schemaOf({ group: "coordination.k8s.io", version: "v1", kind: "Lease" }) as Schema
  expect(() => decodeObject(schema, lease(), false, "memory")).toThrow('parsing time "yesterday"')
  expect(() => decodeObject(schema, lease(), false, "json")).toThrow('parsing time "today"')
})
