// Annotations of pods that came before fields: what they say has to be valid, agrees with the fields, or becomes them.

import type { Json } from "../../../../apimachinery/object.ts"
import { mergePatch, patch, post, type RequestStep, type Scenario } from "../scenario.ts"

const pods = "/api/v1/namespaces/@{ns}/pods"
const dry = `${pods}?dryRun=All`
const appArmor = "container.apparmor.security.beta.kubernetes.io/c"
const seccomp = "container.seccomp.security.alpha.kubernetes.io/c"
const seccompOfPod = "seccomp.security.alpha.kubernetes.io/pod"
const cost = "controller.kubernetes.io/pod-deletion-cost"
const tolerations = "scheduler.alpha.kubernetes.io/tolerations"
const mirror = "kubernetes.io/config.mirror"

export function podAnnotationCases(): Scenario[] {
  return [
    { name: "annotations of pods are checked, and become fields", steps: created(), anyOrder: true },
    { name: "annotations of templates are checked", steps: templates(), anyOrder: true },
    { name: "annotations of pods are kept", steps: updated(), anyOrder: true },
  ]
}

/** As text; what is no text is written as JSON. */
const tolerationLists: unknown[] = [
  "",
  " ",
  "x",
  "[",
  "[] x",
  '{"a":1,}',
  "nul",
  null,
  {},
  "[1,2",
  "[".repeat(100_000),
  [],
  [null],
  [1, {}],
  ["a"],
  [[]],
  [{}],
  [{ key: "a" }],
  [{ Key: "a", OPERATOR: "Exists", value: "" }],
  [{ key: "a", operator: "Exists", value: "b" }],
  [{ key: 1 }, { key: true }],
  [{ key: ["a"], operator: {} }],
  [{ operator: false }],
  [{ effect: 1.5 }],
  [{ key: "a", tolerationSeconds: "1" }],
  [{ key: "a", tolerationSeconds: 1 }],
  [{ key: "a", effect: "NoExecute", tolerationSeconds: 1 }],
  '[{"key":"a","effect":"NoExecute","tolerationSeconds":1.5}]',
  '[{"key":"a","effect":"NoExecute","tolerationSeconds":1e3}]',
  '[{"key":"a","effect":"NoExecute","tolerationSeconds":9223372036854775808}]',
  '[{"key":"a","effect":"NoExecute","tolerationSeconds":9223372036854775807}]',
  '[{"\u017feconds":1,"\u212aey":"a","operator":"Odd","effect":"Odd"}]',
  [
    { key: "-a", operator: "Equal", value: "-b" },
    { unknown: 1, constructor: 2 },
  ],
]

interface Variant {
  annotations: Record<string, string>
  /** Of the container, and of the pod. */
  context?: object
  ofPod?: object
  spec?: object
}

const values = [
  "runtime/default",
  "docker/default",
  "unconfined",
  "localhost/a",
  "localhost/../a",
  "localhost/",
  "odd",
  "",
]
const profiles = ["RuntimeDefault", "Unconfined", "Localhost"].map((type) => ({
  type,
  ...(type === "Localhost" ? { localhostProfile: "a" } : {}),
}))

function variants(): Variant[] {
  const keys = [appArmor, seccomp, seccompOfPod]
  const [first] = profiles
  return [
    ...keys.flatMap((key) => values.map((value) => ({ annotations: { [key]: value } }))),
    ...values.flatMap((value) =>
      profiles.flatMap((profile) => [
        { annotations: { [appArmor]: value }, context: { appArmorProfile: profile } },
        { annotations: { [appArmor]: value }, ofPod: { appArmorProfile: profile } },
        { annotations: { [seccomp]: value }, context: { seccompProfile: profile } },
        { annotations: { [seccompOfPod]: value, [seccomp]: value }, ofPod: { seccompProfile: profile } },
      ]),
    ),
    { annotations: { [`${appArmor}x`]: "unconfined", [`${seccomp}x`]: "unconfined" } },
    { annotations: { [appArmor]: "localhost/ a" } },
    { annotations: { [appArmor]: "unconfined" }, context: { appArmorProfile: first, runAsUser: 1 } },
    { annotations: { [appArmor]: "unconfined" }, spec: { os: { name: "windows" } } },
    ...["1", "-1", "0", "00", "-0", "-08", "+1", "2147483647", "2147483648", "-2147483648", "-2147483649", "x", ""].map(
      (value) => ({ annotations: { [cost]: value } }),
    ),
    ...tolerationLists.map((list) => ({
      annotations: { [tolerations]: typeof list === "string" ? list : JSON.stringify(list) },
    })),
    { annotations: { [mirror]: "a" } },
    { annotations: { [mirror]: "a" }, spec: { nodeName: "n" } },
  ]
}

function template({ annotations, context = {}, ofPod = {}, spec = {} }: Variant, labels = {}): object {
  const containers = [{ name: "c", image: "i", securityContext: context }]
  return { metadata: { annotations, labels }, spec: { containers, securityContext: ofPod, ...spec } }
}

function created(): RequestStep[] {
  return variants().map((variant) => {
    const { metadata, spec } = template(variant) as { metadata: object; spec: object }
    return post(dry, { metadata: { ...metadata, name: "a" }, spec } as Json, {
      label: JSON.stringify(variant).slice(0, 200),
    })
  })
}

function templates(): RequestStep[] {
  const labels = { app: "a" }
  return variants().map((variant) =>
    post(
      "/apis/apps/v1/namespaces/@{ns}/deployments?dryRun=All",
      {
        metadata: { name: "a" },
        spec: { selector: { matchLabels: labels }, template: template(variant, labels) },
      } as Json,
      { label: JSON.stringify(variant).slice(0, 200) },
    ),
  )
}

function updated(): RequestStep[] {
  const { metadata, spec } = template({ annotations: { [appArmor]: "runtime/default", [cost]: "1" } }) as {
    metadata: object
    spec: object
  }
  const change = (annotations: Record<string, string | null>, more = ""): RequestStep =>
    patch(`${pods}/a${more}?dryRun=All`, mergePatch, { metadata: { annotations } })
  return [
    post(pods, { metadata: { ...metadata, name: "a" }, spec } as Json),
    change({ [appArmor]: "unconfined" }),
    change({ [appArmor]: null }),
    change({ [`${appArmor}x`]: "unconfined" }),
    change({ [seccomp]: "unconfined" }),
    change({ [seccomp]: "odd" }),
    change({ [cost]: "x" }),
    change({ [cost]: null, [mirror]: "m" }),
    change({ [appArmor]: "unconfined", [cost]: "x" }, "/status"),
  ]
}
