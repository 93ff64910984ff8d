// Random claims of devices and their statuses, as users, schedulers and drivers write them: requests with alternatives, admin access,
// capacities, constraints and configurations; allocations that fit the claim or not; and who may write which part of a status.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove } from "../scenario.ts"
import type { RequestStep, Scenario, User } from "../scenario.ts"
import { titled } from "./titled.ts"

const devices = "/apis/resource.k8s.io/v1/namespaces/@{ns}"
const claims = `${devices}/resourceclaims`
const access = "/apis/rbac.authorization.k8s.io/v1"
const length = 34
const names = ["a", "b"]

/** Each with the rules of its role, which apply in all namespaces. */
const users: Readonly<Record<string, readonly (readonly [resources: string[], verbs: string[], names?: string[]])[]>> =
  {
    status: [],
    scheduler: [[["resourceclaims/binding"], ["update", "patch"]]],
    driver: [[["resourceclaims/driver"], ["arbitrary-node:update", "arbitrary-node:patch"], ["d.example.com"]]],
    both: [
      [["resourceclaims/binding"], ["update"]],
      [["resourceclaims/driver"], ["arbitrary-node:update"]],
    ],
  }

export function randomClaimScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...Object.keys(users).flatMap(allowed),
    get(claims, { as: userOf("both"), untilCode: 200 }),
    ...names.map((name) => post(claims, claim(random, name))),
    ...Array.from({ length }, () => pick(random, choices)(random, pick(random, names))),
    ...Object.keys(users).flatMap((name) =>
      ["clusterrolebindings", "clusterroles"].map((kind) => remove(`${access}/${kind}/${name}-@{id}`)),
    ),
  ]
  return { name: `claims at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

const userOf = (name: string): User => ({ name: `${name}-@{id}`, groups: ["system:authenticated"] })

function allowed(name: string): RequestStep[] {
  const rule = (resources: string[], verbs: string[], resourceNames: string[] = []): Json => ({
    apiGroups: ["resource.k8s.io"],
    resources,
    verbs,
    resourceNames,
  })
  const common = rule(["resourceclaims", "resourceclaims/status"], ["get", "list", "create", "update", "patch"])
  const metadata = { name: `${name}-@{id}` }
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name }
  const subjects = [{ kind: "User", name: metadata.name, apiGroup: "rbac.authorization.k8s.io" }]
  const rules = [common, ...(users[name] ?? []).map((each) => rule(...each))]
  return [
    post(`${access}/clusterroles`, { metadata, rules }),
    post(`${access}/clusterrolebindings`, { metadata, roleRef, subjects }),
  ]
}

/** Each with its probability. */
function some(random: Random, fields: Record<string, readonly [number, () => Json]>): JsonObject {
  const chosen = Object.entries(fields).filter(([, [probability]]) => chance(random, probability))
  return Object.fromEntries(chosen.map(([name, [, value]]) => [name, value()]))
}

function several(random: Random, most: number, make: (index: number) => Json): Json[] {
  return Array.from({ length: random(most + 1) }, (_, index) => make(index))
}

const expressions = [
  "true",
  "device.driver == 'd.example.com'",
  "device.attributes['d.example.com'].model == 'x'",
  "device.capacity['d.example.com'].memory.compareTo(quantity('1Gi')) > 0",
  "device.allowMultipleAllocations == true",
  "device.bogus",
  "1",
  "",
]

function asked(random: Random): JsonObject {
  return {
    deviceClassName: pick(random, ["c", "c", "c", "C c", ""]),
    ...some(random, {
      selectors: [0.3, () => several(random, 2, () => ({ cel: { expression: pick(random, expressions) } }))],
      allocationMode: [0.4, () => pick(random, ["ExactCount", "All", "All", "Some"])],
      count: [0.4, () => pick(random, [1, 2, 0, -1, 33])],
      tolerations: [
        0.2,
        () => [
          {
            ...some(random, { key: [0.7, () => "k"], value: [0.3, () => "v"], tolerationSeconds: [0.2, () => 5] }),
            operator: pick(random, ["Exists", "Equal", "Odd"]),
            effect: pick(random, ["NoSchedule", "NoExecute", "None", "Odd"]),
          },
        ],
      ],
      capacity: [0.2, () => ({ requests: some(random, { memory: [0.8, () => "1Gi"], "a.b/c": [0.3, () => "5"] }) })],
    }),
  }
}

function request(random: Random, index: number): Json {
  const name = chance(random, 0.9) ? `r${index}` : pick(random, ["r0", "R r", "", "r0/s"])
  const admin = some(random, { adminAccess: [0.2, () => chance(random, 0.8)] })
  return pick<() => JsonObject>(random, [
    () => ({ name, exactly: { ...asked(random), ...admin } }),
    () => ({ name, exactly: { deviceClassName: "c" } }),
    () => ({ name, exactly: { deviceClassName: "c", ...admin } }),
    () => ({
      name,
      firstAvailable: several(random, 3, (at) => ({
        name: pick(random, [`s${at}`, `s${at}`, "s0"]),
        ...asked(random),
      })),
    }),
    () => ({ name }),
  ])()
}

const referred = ["r0", "r0", "r1", "r0/s0", "r1/s1", "r0/x", "x", "", "r0/s0/t"]
const opaque = (random: Random): Json => ({
  driver: pick(random, ["d.example.com", "D d", ""]),
  parameters: pick<Json>(random, [{ a: 1 }, { kind: "X", apiVersion: "v1" }, {}, [], "x", null]),
})

function spec(random: Random): JsonObject {
  const requests = several(random, 2, (index) => request(random, index))
  return {
    devices: {
      requests,
      ...some(random, {
        constraints: [
          0.3,
          () =>
            several(random, 2, () => ({
              requests: several(random, 2, () => pick(random, referred)),
              ...some(random, {
                matchAttribute: [0.7, () => pick(random, ["d.example.com/a", "a", "a/b/c"])],
                distinctAttribute: [0.2, () => "d.example.com/b"],
              }),
            })),
        ],
        config: [0.3, () => several(random, 2, () => ({ requests: [pick(random, referred)], opaque: opaque(random) }))],
      }),
    },
  }
}

/** Most are right, so that there is something to allocate. */
function claim(random: Random, name: string): JsonObject {
  const simple = {
    devices: {
      requests: [
        { name: "r0", exactly: { deviceClassName: "c" } },
        { name: "r1", exactly: { deviceClassName: "c" } },
      ],
    },
  }
  return {
    metadata: { name, ...(chance(random, 0.2) ? { finalizers: ["example.com/held"] } : {}) },
    spec: chance(random, 0.4) ? simple : spec(random),
  }
}

const shares = ["0123abcd-0123-4123-8123-0123456789ab", "x"]

function device(random: Random): JsonObject {
  return {
    driver: pick(random, ["d.example.com", "d.example.com", "e.example.com", "D d"]),
    pool: pick(random, ["p", "p", "p/q", "P p"]),
    device: pick(random, ["one", "two", "D d"]),
    ...some(random, { shareID: [0.1, () => pick(random, shares)] }),
  }
}

function allocation(random: Random): JsonObject {
  return {
    devices: {
      results: several(random, 2, () => ({
        request: pick(random, ["r0", "r0", "r1", ...referred]),
        ...device(random),
        ...some(random, {
          adminAccess: [0.15, () => chance(random, 0.8)],
          tolerations: [0.1, () => [{ key: "k", operator: "Exists" }]],
          bindingConditions: [0.1, () => pick<Json>(random, [["a"], ["A b"], []])],
          bindingFailureConditions: [0.1, () => ["b"]],
          consumedCapacity: [0.1, () => ({ memory: "1Gi" })],
        }),
      })),
      ...some(random, {
        config: [
          0.2,
          () => [
            {
              source: pick(random, ["FromClaim", "FromClass", "Odd"]),
              requests: [pick(random, referred)],
              opaque: opaque(random),
            },
          ],
        ],
      }),
    },
    ...some(random, {
      nodeSelector: [
        0.4,
        () => ({
          nodeSelectorTerms: [
            { matchFields: [{ key: "metadata.name", operator: "In", values: [pick(random, ["n", "m"])] }] },
            ...(chance(random, 0.1) ? [{}] : []),
          ],
        }),
      ],
      allocationTimestamp: [0.2, () => pick(random, ["2024-01-01T00:00:00Z", "x"])],
    }),
  }
}

function status(random: Random): JsonObject {
  const conditions = (): Json => [
    {
      type: pick(random, ["Ready", "A b"]),
      status: pick(random, ["True", "Odd"]),
      reason: "R",
      message: "",
      lastTransitionTime: "2024-01-01T00:00:00Z",
    },
  ]
  return some(random, {
    allocation: [0.6, () => (chance(random, 0.15) ? null : allocation(random))],
    reservedFor: [
      0.4,
      () =>
        several(random, 2, (index) => ({
          resource: "pods",
          name: `p${index}`,
          uid: pick(random, ["u0", "u1", ""]),
          ...some(random, { apiGroup: [0.1, () => "g"] }),
        })),
    ],
    devices: [
      0.4,
      () =>
        several(random, 2, () => ({
          ...device(random),
          ...some(random, {
            conditions: [0.4, conditions],
            data: [0.3, () => pick<Json>(random, [{ a: 1 }, [], "x", null])],
            networkData: [
              0.3,
              () => ({
                interfaceName: "eth0",
                ips: several(random, 2, () => pick(random, ["10.0.0.1/24", "10.0.0.0/8", "fd00::1/64", "x"])),
              }),
            ],
          }),
        })),
    ],
  })
}

type Choice = (random: Random, name: string) => RequestStep

const someone = (random: Random): { as?: User } =>
  chance(random, 0.5) ? {} : { as: userOf(pick(random, Object.keys(users))) }

const reports: Choice = (random, name) =>
  patch(`${claims}/${name}/status`, mergePatch, { status: status(random) }, someone(random))

const choices: readonly Choice[] = [
  reports,
  reports,
  reports,
  reports,
  reports,
  (random, name) => put(`${claims}/${name}/status`, { metadata: { name }, status: status(random) }, someone(random)),
  (random, name) => {
    const body = { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata: { name }, status: status(random) }
    return patch(`${claims}/${name}/status?fieldManager=x&force=true`, applyPatch, body, someone(random))
  },
  (random, name) => patch(`${claims}/${name}`, mergePatch, { spec: spec(random) }),
  (random) => post(`${claims}?dryRun=All`, claim(random, "dry"), someone(random)),
  (random) => post(`${claims}?dryRun=All`, claim(random, "dry")),
  (random) => {
    const { metadata, ...rest } = claim(random, "t")
    return post(`${devices}/resourceclaimtemplates?dryRun=All`, { metadata: metadata ?? {}, spec: rest })
  },
  (random, name) => post(claims, claim(random, name)),
  (_, name) => remove(`${claims}/${name}`),
  (random) =>
    patch("/api/v1/namespaces/@{ns}", mergePatch, {
      metadata: { labels: { "resource.kubernetes.io/admin-access": pick<Json>(random, ["true", "false", null]) } },
    }),
  (_, name) => get(`${claims}/${name}`),
]
