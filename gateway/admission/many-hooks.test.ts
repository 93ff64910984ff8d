import { describe, expect, onTestFinished, test, vi } from "vitest"
import { silentLog } from "../../client/log.ts"
import { createMemoryStore } from "../../storage/memory/store.ts"
import type { RequestContext } from "../request/context.ts"
import { createKindsStub, type KindsStub, type Loose, verdict } from "../testing/kinds.ts"
import { ValidatingPolicies } from "./policies/validating.ts"
import { MutatingPolicies } from "./policies/mutating.ts"
import { AdmissionRegistrations } from "./registrations.ts"
import { MutatingWebhooks } from "./webhooks/mutating.ts"
import { ValidatingWebhooks } from "./webhooks/validating.ts"
import type { AdmissionPlugin } from "./chain.ts"

const many = 200
const rule = { operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }
const others = { ...rule, resources: ["secrets"] }
const webhook = { clientConfig: { url: "https://a" }, sideEffects: "None", admissionReviewVersions: ["v1"] }

const webhooks = (kind: string): [string, (name: string) => Loose][] => [
  [
    `admissionregistration.k8s.io/${kind}webhookconfigurations`,
    (name) => ({ metadata: { name }, webhooks: [{ ...webhook, name: `${name}.example.com`, rules: [others] }] }),
  ],
]
const policies = (kind: string, spec: Loose, binding: Loose): [string, (name: string) => Loose][] => [
  [
    `admissionregistration.k8s.io/${kind}admissionpolicies`,
    (name) => ({ metadata: { name }, spec: { matchConstraints: { resourceRules: [rule] }, ...spec } }),
  ],
  [
    `admissionregistration.k8s.io/${kind}admissionpolicybindings`,
    (name) => ({ metadata: { name }, spec: { policyName: name, ...binding } }),
  ],
]
const validations = [{ expression: "true" }]
const jsonPatch = { expression: "[JSONPatch{op: 'add', path: '/data', value: Object.data{}}].filter(p, false)" }
const mutation = { patchType: "JSONPatch", jsonPatch }
const mutations = [mutation]

type Made = [string, (name: string) => Loose][]
test.each<[string, (registrations: AdmissionRegistrations) => AdmissionPlugin, Made, number?]>([
  ["validating webhooks", (of) => new ValidatingWebhooks(of, undefined), webhooks("validating")],
  ["mutating webhooks", (of) => new MutatingWebhooks(of, undefined), webhooks("mutating")],
  [
    "validating policies",
    (of) => new ValidatingPolicies(of),
    policies("validating", { validations }, { validationActions: ["Deny"] }),
  ],
  [
    "mutating policies",
    (of) => new MutatingPolicies(of),
    policies("mutating", { mutations, reinvocationPolicy: "Never" }, {}),
  ],
  [
    "the mutations of policies",
    (of) => new MutatingPolicies(of),
    policies("mutating", { mutations: Array<Loose>(many).fill(mutation), reinvocationPolicy: "Never" }, {}),
    1,
  ],
])("others have their turns between %s", async (_, plugin, made, count = many) => {
  const store = createMemoryStore()
  const registrations = new AdmissionRegistrations({ store, log: silentLog })
  const kinds = createKindsStub({ store, plugins: [plugin(registrations)] })
  onTestFinished(async () => {
    await registrations[Symbol.asyncDispose]()
    await kinds[Symbol.asyncDispose]()
  })
  await kinds.create("namespaces", { metadata: { name: "default" } }) // expressions see it
  const pauses = async (name: string): Promise<number> => {
    using pausing = vi.spyOn(kinds.stub.turns, "pause")
    await kinds.create("configmaps", { metadata: { name } })
    return pausing.mock.calls.length
  }
  const before = await pauses("before")
  for (let index = 0; index < count; index++)
    for (const [what, object] of made) await kinds.create(what, object(`n${index}`))
  await pauses("compiling")
  expect(await pauses("after")).toBeGreaterThanOrEqual(before + many)
})

const selecting = { paramRef: { selector: {}, parameterNotFoundAction: "Allow" } }
const paramKind = { apiVersion: "v1", kind: "Secret" }
describe.each<
  [string, (registrations: AdmissionRegistrations) => AdmissionPlugin, [string, (name: string) => Loose][]]
>([
  [
    "validating",
    (of) => new ValidatingPolicies(of),
    policies("validating", { validations, paramKind }, { validationActions: ["Deny"], ...selecting }),
  ],
  [
    "mutating",
    (of) => new MutatingPolicies(of),
    policies("mutating", { mutations, reinvocationPolicy: "Never", paramKind }, selecting),
  ],
])("many params of a %s policy", (_, plugin, made) => {
  async function withParams(isOver: () => boolean): Promise<KindsStub> {
    const store = createMemoryStore()
    const registrations = new AdmissionRegistrations({ store, log: silentLog })
    const asked = plugin(registrations)
    const on = (ctx: RequestContext): RequestContext =>
      Object.create(ctx, { isOver: { get: isOver } }) as RequestContext
    const kinds = createKindsStub({
      store,
      plugins: [
        {
          mutate: async (ctx, attributes) => asked.mutate?.(on(ctx), attributes),
          validate: async (ctx, attributes) => asked.validate?.(on(ctx), attributes),
        },
      ],
    })
    onTestFinished(async () => {
      await registrations[Symbol.asyncDispose]()
      await kinds[Symbol.asyncDispose]()
    })
    await kinds.create("namespaces", { metadata: { name: "default" } })
    for (let index = 0; index < many; index++) await kinds.create("secrets", { metadata: { name: `s${index}` } })
    for (const [what, object] of made) await kinds.create(what, object("p"))
    return kinds
  }

  test("let others have their turns", async () => {
    const kinds = await withParams(() => false)
    using pausing = vi.spyOn(kinds.stub.turns, "pause")
    await kinds.create("configmaps", { metadata: { name: "c" } })
    expect(pausing.mock.calls.length).toBeGreaterThanOrEqual(2 * many)
  })

  // A client that leaves again and again would leave any amount of work behind.
  test("are left when nobody waits any more", async () => {
    let isOver = false
    const kinds = await withParams(() => isOver)
    let paused = 0
    using _pausing = vi.spyOn(kinds.stub.turns, "pause").mockImplementation(() => {
      isOver = ++paused > many + many / 2 // they have been read
      return undefined
    })
    expect(await verdict(kinds.create("configmaps", { metadata: { name: "c" } }))).toContain("did not complete")
  })
})
