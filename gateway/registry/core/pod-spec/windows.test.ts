import { describe, expect, test } from "vitest"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import type { PodSpec } from "./types.ts"
import { validateHostProcess, validateWindowsOptions } from "./windows.ts"

const path = FieldPath.root("spec")

describe("the user of a Windows container", () => {
  test.each<[string, string[]]>([
    ["ContainerUser", []],
    ["NT AUTHORITY\\SYSTEM", []],
    ["example.com\\user", []],
    ["a\\b\\c", ["runAsUserName cannot contain more than one backslash"]],
    ["domain\\", ["runAsUserName's User cannot be empty"]],
    ["\\user", ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]],
    ["...", ["runAsUserName's User cannot contain only periods or spaces"]],
    ["u@x", [`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`]],
  ])("%j: %j", (runAsUserName, faults) => {
    expect(validateWindowsOptions(path, { runAsUserName }).map(({ detail }) => detail)).toEqual(faults)
  })
})

test("host process containers must be all containers of a pod, with host network", () => {
  const hosted = { name: "a", securityContext: { windowsOptions: { hostProcess: true } } }
  const faults = (spec: PodSpec): string[] => validateHostProcess(path, spec).map((error) => error.message())
  expect(faults({ containers: [hosted], hostNetwork: true })).toEqual([])
  expect(faults({ containers: [hosted, { name: "b" }] })).toEqual([
    'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
    "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
  ])
  const securityContext = { windowsOptions: { hostProcess: false } }
  expect(faults({ containers: [hosted], hostNetwork: true, securityContext })).toEqual([
    "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: true: pod hostProcess value must be identical if both are specified, was false",
  ])
})
