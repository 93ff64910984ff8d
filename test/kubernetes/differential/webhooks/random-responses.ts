// Responses of webhooks with random fields, many of which are of another type, and patches of every form (random-answers.ts).

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"

const ofMetadata = [
  "/metadata/labels",
  "/metadata/labels/x",
  "/metadata/labels/n",
  "/metadata/annotations",
  "/metadata/annotations/n",
  "/metadata/finalizers",
  "/metadata/finalizers/-",
  "/metadata/ownerReferences",
  "/metadata/generateName",
  "/metadata/uid",
  "/metadata",
  "/metadata/deletionGracePeriodSeconds",
  "/metadata/creationTimestamp",
  "/metadata/none",
  "/kind",
  "/apiVersion",
  "",
  "/",
]

const values: readonly unknown[] = [
  "x",
  "",
  5,
  0,
  -1,
  1.5,
  1e3,
  2 ** 31,
  2 ** 53,
  true,
  null,
  [],
  {},
  ["a"],
  [null],
  [5],
  { a: "b" },
  { a: null },
  { a: 5 },
  { A: "b" },
  [{ name: "n", image: "i" }],
  [{ name: "c", image: "j" }],
  { name: "s", image: "i", restartPolicy: "Always" },
  { cpu: "1" },
  { limits: { cpu: "1.0001", memory: 5 } },
  { httpGet: { port: "web" } },
  { httpGet: { port: 80, path: 5 } },
  [{ key: "k", operator: "Exists" }],
  { runAsUser: "1" },
  { runAsNonRoot: true, runAsUser: 0 },
  ["example.com/f"],
  [{ name: "v", emptyDir: { sizeLimit: "1Gi" } }],
  [{ name: "v", configMap: null }],
  "2024-01-01T00:00:00Z",
  [{ apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "u" }],
  { name: "other" },
]

function operation(random: Random, paths: readonly string[]): Loose {
  const where = (): unknown =>
    chance(random, 0.03)
      ? pick(random, [5, null, "a", "//", "/data~2", "/data/%61"])
      : pick(random, chance(random, 0.75) ? paths : ofMetadata)
  const op = pick(random, ["add", "add", "add", "add", "replace", "replace", "remove", "test", "copy", "move"])
  const made: Loose = { op, path: where() }
  if (op === "copy" || op === "move") made["from"] = where()
  else if (op !== "remove") made["value"] = pick(random, values)
  if (chance(random, 0.03)) delete made[pick(random, Object.keys(made))]
  if (chance(random, 0.02)) made["more"] = 1
  return made
}

function patchOf(random: Random, paths: readonly string[]): string {
  if (chance(random, 0.04))
    return pick(random, ["null", "{}", "[null]", "[", "5", "[{}]", "[]", " [] ", '[{"op":"add"}]x'])
  return JSON.stringify(Array.from({ length: 1 + random(3) }, () => operation(random, paths)))
}

/** Base64 in forms of which Go reads some. */
function encoded(random: Random, text: string): unknown {
  const whole = Buffer.from(text).toString("base64")
  if (chance(random, 0.9)) return whole
  return pick<unknown>(random, [
    whole.replaceAll("=", ""),
    `${whole.slice(0, 4)}\n${whole.slice(4)}`,
    `${whole.slice(0, 5)}\r\n${whole.slice(5)}`,
    `${whole.slice(0, 4)} ${whole.slice(4)}`,
    `${whole}\n`,
    `${whole}=`,
    `${whole}AAAA`,
    Buffer.from(text).toString("base64url"),
    [...Buffer.from(text)],
    [91, 93],
    [91, "93"],
    [300],
    { a: 1 },
    5,
    "%%%%",
    "A",
    "",
    null,
  ])
}

/** Sometimes the field, with one of these values. */
export const maybe = (random: Random, probability: number, field: string, ...of: readonly unknown[]): Loose =>
  chance(random, probability) ? { [field]: pick(random, of) } : {}

function statusOf(random: Random): unknown {
  if (chance(random, 0.08)) return pick<unknown>(random, [null, "x", 5, [], true])
  return {
    ...maybe(random, 0.5, "message", "no", "", " ", "a\nb", null, 5, "ü\u0000"),
    ...maybe(random, 0.3, "reason", "Forbidden", "Odd", "", null, 5, "NotFound"),
    ...maybe(
      random,
      0.5,
      "code",
      403,
      422,
      200,
      0,
      404.0,
      403.5,
      "403",
      null,
      2 ** 31,
      1e20,
      -5,
      429,
      1e2,
      500,
      100,
      99,
      204,
      304,
    ),
    ...maybe(random, 0.2, "status", "Failure", "Success", "", "odd", null, 5),
    ...maybe(
      random,
      0.2,
      "metadata",
      {},
      null,
      "x",
      { continue: "c" },
      { remainingItemCount: "1" },
      { selfLink: "s", more: 1 },
      [],
    ),
    ...maybe(
      random,
      0.3,
      "details",
      null,
      {},
      "x",
      { causes: [null, {}] },
      { causes: [{ field: "f", reason: "FieldValueInvalid", message: "m" }] },
      { causes: {} },
      { retryAfterSeconds: 3 },
      { retryAfterSeconds: "3" },
      { retryAfterSeconds: 1.5 },
      { name: 5 },
      { kind: "k", group: "g", uid: "u", name: "n", more: 1 },
    ),
    ...maybe(random, 0.1, "kind", "Status", "Other", 5),
    ...maybe(random, 0.1, "apiVersion", "v1", "v2", null),
    ...maybe(random, 0.1, "more", 1),
  }
}

export function responseOf(random: Random, uid: string, isMutating: boolean, paths: readonly string[]): unknown {
  if (chance(random, 0.02)) return pick<unknown>(random, [null, [], "x", 5, {}])
  const patches = chance(random, isMutating ? 0.7 : 0.1)
  return {
    uid: chance(random, 0.96) ? uid : pick<unknown>(random, ["other", "", null, 5, ` ${uid}`]),
    allowed: chance(random, 0.75) ? true : pick<unknown>(random, [false, false, false, "true", 1, null, [], "false"]),
    ...(chance(random, 0.25) ? { status: statusOf(random) } : {}),
    ...(patches ? { patch: encoded(random, patchOf(random, paths)) } : {}),
    ...(chance(random, 0.95) === patches
      ? { patchType: chance(random, 0.96) ? "JSONPatch" : pick<unknown>(random, ["", "jsonpatch", "MergePatch", null]) }
      : {}),
    ...maybe(
      random,
      0.15,
      "warnings",
      [],
      ["w"],
      ["a", "a"],
      [null],
      [5],
      "x",
      null,
      {},
      ["\u0000"],
      ["é".repeat(200)],
      [[]],
    ),
    ...maybe(
      random,
      0.15,
      "auditAnnotations",
      {},
      null,
      [],
      "x",
      { a: "b" },
      { a: null },
      { a: 5 },
      { "a/b": "c" },
      { "a/b/c": "d" },
      { "": "e" },
    ),
    ...maybe(random, 0.03, "more", 1, null, {}),
  }
}
