import { expect, test } from "vitest"
import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import type { Container, Pod, PodSpec } from "../../../../apimachinery/object.ts"
import { validateRestarts } from "./restarts.ts"

const rule = (action: string, operator: string, ...values: number[]) =>
  ({ restartPolicy: "Never", restartPolicyRules: [{ action, exitCodes: { operator, values } }] }) as Partial<Container>
const all = rule("RestartAllContainers", "In", 42)

const cases: { spec: Partial<PodSpec>; own?: Partial<Container>; exitCode: number; may: boolean }[] = [
  { spec: { restartPolicy: "Always" }, exitCode: 0, may: true },
  { spec: { restartPolicy: "Always" }, own: { restartPolicy: "Never" }, exitCode: 1, may: false },
  { spec: { restartPolicy: "Never" }, exitCode: 1, may: false },
  { spec: { restartPolicy: "Never" }, own: { restartPolicy: "Always" }, exitCode: 0, may: true },
  { spec: { restartPolicy: "OnFailure" }, exitCode: 1, may: true },
  { spec: { restartPolicy: "OnFailure" }, exitCode: 0, may: false },
  { spec: { restartPolicy: "Always" }, own: rule("Restart", "In", 42), exitCode: 42, may: true },
  { spec: { restartPolicy: "Always" }, own: rule("Restart", "In", 42), exitCode: 1, may: false },
  { spec: { restartPolicy: "Always" }, own: rule("Restart", "NotIn", 42), exitCode: 1, may: true },
  { spec: { restartPolicy: "Never", initContainers: [{ name: "i", ...all }] }, exitCode: 1, may: true },
]

test.each(cases)(
  "a container of $spec and $own may restart after exit code $exitCode: $may",
  ({ spec, own, exitCode, may }) => {
    const podWith = (state: object): Pod => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {},
      spec: { containers: [{ name: "a", ...own }], ...spec },
      status: { containerStatuses: [{ name: "a", state }] } as unknown as NonNullable<Pod["status"]>,
    })
    const before = podWith({ terminated: { exitCode } })
    const errors = validateRestarts(FieldPath.root("status"), podWith({ running: {} }), before)
    expect(errors.map((error) => String(error.field))).toEqual(may ? [] : ["status.containerStatuses[0].state"])
  },
)

test("init containers follow the same rules, ephemeral containers never restart", () => {
  const statuses = (state: object) => [{ name: "i", state }]
  const podWith = (state: object): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {},
    spec: { restartPolicy: "Never", containers: [], initContainers: [{ name: "i" }] },
    status: {
      initContainerStatuses: statuses(state),
      ephemeralContainerStatuses: statuses(state),
    } as unknown as NonNullable<Pod["status"]>,
  })
  const errors = validateRestarts(
    FieldPath.root("status"),
    podWith({ running: {} }),
    podWith({ terminated: { exitCode: 0 } }),
  )
  expect(errors.map((error) => String(error.field))).toEqual([
    "status.initContainerStatuses[0].state",
    "status.ephemeralContainerStatuses[0].state",
  ])
})

test("of statuses with one name, it is enough that one runs", () => {
  const podWith = (...states: object[]): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {},
    spec: { containers: [{ name: "a" }], restartPolicy: "Never" },
    status: { containerStatuses: states.map((state) => ({ name: "a", state })) } as unknown as NonNullable<
      Pod["status"]
    >,
  })
  const ended = { terminated: { exitCode: 0 } }
  const faults = (pod: Pod) => validateRestarts(FieldPath.root("status"), pod, podWith(ended)).length
  expect([podWith(ended), podWith(ended, { running: {} })].map(faults)).toEqual([0, 1])
})
