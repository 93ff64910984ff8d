// The policy for pods in the labels of a namespace. Source: k8s.io/pod-security-admission/api (helpers.go, constants.go).

import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"

export const labelPrefix = "pod-security.kubernetes.io/"

/** From the least to the most restrictive. */
const levels = ["privileged", "baseline", "restricted"] as const
export type Level = (typeof levels)[number]

/** A minor version of Kubernetes 1, or the newest one. */
type Version = number | "latest"

export interface LevelVersion {
  level: Level
  version: Version
}

const modes = ["enforce", "audit", "warn"] as const
export type Policy = Record<(typeof modes)[number], LevelVersion>

export function printLevel({ level, version }: LevelVersion): string {
  return `${level}:${version === "latest" ? version : `v1.${version}`}`
}

export function compareLevels(a: Level, b: Level): number {
  return levels.indexOf(a) - levels.indexOf(b)
}

export function isSame(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.version === b.version
}

/** Invalid labels also result in a policy: the strictest level is then enforced, and there are no warnings or audit annotations. */
export function policyOf(labels: Readonly<Record<string, string>> = {}): { policy: Policy; errors: FieldError[] } {
  const errors: FieldError[] = []
  const read = <T>(name: string, otherwise: T, parse: (text: string) => T | undefined, wrong: T, rule: string): T => {
    const label = labelPrefix + name
    const given = ownValue(labels, label)
    if (given === undefined) return otherwise
    const parsed = parse(given)
    if (parsed === undefined) errors.push(invalidValue(FieldPath.root("metadata", "labels").key(label), given, rule))
    return parsed ?? wrong
  }
  const policy = {} as Policy
  for (const mode of modes) {
    const wrong = mode === "enforce" ? "restricted" : "privileged"
    const level = read<Level>(mode, "privileged", parseLevel, wrong, `must be one of ${levels.join(", ")}`)
    const version = read<Version>(`${mode}-version`, "latest", parseVersion, "latest", `must be "latest" or "v1.x"`)
    policy[mode] = { level, version }
  }
  return { policy: warnedOfEnforced(policy, labels), errors }
}

/** Unless the labels specify otherwise, the enforced level is also the level of warnings. */
function warnedOfEnforced(policy: Policy, labels: Readonly<Record<string, string>>): Policy {
  const { enforce, warn } = policy
  const isEnforced = parseLevel(labels[`${labelPrefix}enforce`] ?? "") !== undefined
  const isWarned = Object.hasOwn(labels, `${labelPrefix}warn`)
  if (isWarned || !isEnforced || compareLevels(enforce.level, warn.level) <= 0) return policy
  const version = Object.hasOwn(labels, `${labelPrefix}warn-version`) ? warn.version : enforce.version
  return { ...policy, warn: { level: enforce.level, version } }
}

function parseLevel(text: string): Level | undefined {
  return levels.find((level) => level === text)
}

function parseVersion(text: string): Version | undefined {
  if (text === "latest") return text
  const [, minor] = /^v1\.(0|[1-9]\d*)$/.exec(text) ?? []
  // Upstream's integers have 64 bits.
  return minor === undefined || BigInt(minor) >= 2n ** 63n ? undefined : Number(minor)
}
