import { expect, test } from "vitest"
import { openRegistry } from "../generic/testing/open-registry.ts"

test("a prefix of a name that is not looked at otherwise is no path, whether or not there is a name", async () => {
  const { create, make } = openRegistry("deviceclasses", "resource.k8s.io")
  const prefixed = make("a", { spec: {} }, { generateName: "a/b%" })
  const faults = ["'/'", "'%'"].map((one) => `metadata.generateName: Invalid value: "a/b%": may not contain ${one}`)
  await expect(create(prefixed)).rejects.toThrow(`DeviceClass.resource.k8s.io "a" is invalid: [${faults.join(", ")}]`)
})
