import { expect, test } from "vitest"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import type { PodSpec } from "../../../../apimachinery/object.ts"
import { defaultPodResources, validatePodResources } from "./pod-resources.ts"
import { ClaimNames } from "./resources.ts"

const container = (requests: object, limits: object = {}) => ({ name: "c", resources: { requests, limits } })
const two = [container({ cpu: "600m" }, { cpu: "1" }), container({ cpu: "500m" }, { memory: "2Gi" })]

test.each<[string, object, string[]]>([
  ["none", {}, []],
  [
    "at least those of its containers",
    { resources: { requests: { cpu: "1100m" }, limits: { cpu: "2", memory: "2Gi" } } },
    [],
  ],
  [
    "less than the sum of its containers",
    { resources: { requests: { cpu: "1" } } },
    [
      'resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1100m',
    ],
  ],
  [
    "less than one of its containers",
    { resources: { requests: { memory: "1Gi" }, limits: { memory: "1Gi" } } },
    ['resources.containers[1][memory].limits: Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi'],
  ],
  [
    "less than a container beside a sidecar, which is told in its own format",
    {
      resources: { requests: { memory: "1Gi" } },
      initContainers: [{ ...container({ memory: "1Gi" }), restartPolicy: "Always" }, container({ memory: "67108864" })],
    },
    [
      'resources.requests[memory]: Invalid value: "1Gi": must be greater than or equal to aggregate container requests of 1140850688',
    ],
  ],
  [
    "claims",
    { resources: { claims: [] } },
    ["resources.claims: Forbidden: claims may not be set for Resources at pod-level"],
  ],
  [
    "on Windows",
    { os: { name: "windows" }, resources: { claims: [] } },
    ["resources: Forbidden: may not be set for a windows pod"],
  ],
])("pod-level resources are validated: %s", (_, spec, expected) => {
  const errors = validatePodResources(
    FieldPath.root("resources"),
    { containers: two, ...spec } as PodSpec,
    new ClaimNames(),
  )
  expect(errors.map((error) => error.message())).toEqual(expected)
})

test.each<[string, object | undefined, object | undefined]>([
  ["neither", undefined, undefined],
  ["only requests", { requests: { cpu: "2" } }, { requests: { cpu: "2" } }],
  [
    "limits",
    { limits: { cpu: "2", memory: "3Gi" } },
    { limits: { cpu: "2", memory: "3Gi" }, requests: { cpu: "1100m", memory: "3Gi" } },
  ],
  ["both", { limits: { cpu: "2" }, requests: { cpu: "1500m" } }, { limits: { cpu: "2" }, requests: { cpu: "1500m" } }],
])("pod-level resources that set %s are completed from the containers", (_, resources, expected) => {
  const spec = { containers: two, ...(resources === undefined ? {} : { resources }) } as PodSpec
  defaultPodResources(spec)
  expect(spec.resources).toEqual(expected)
})
