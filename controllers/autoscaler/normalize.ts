// Limits the replica count that the metrics ask for to what is allowed now, and reports the limits in conditions.
// Source: k8s.io/kubernetes/pkg/controller/podautoscaler/horizontal.go (normalizeDesiredReplicas…).

import type { Memory } from "./memory.ts"
import type { AutoscalerSpec } from "./types.ts"

/** Without `behavior`, a target may at most double, but can always grow to 4. */
const upFactor = 2
const upMinimum = 4

interface Finding {
  type: "AbleToScale" | "ScalingLimited"
  status: "True" | "False"
  reason: string
  message: string
}

interface Normalized {
  replicas: number
  findings: Finding[]
}

interface Limited {
  replicas: number
  reason: string
  message: string
}

const withinRange = { reason: "DesiredWithinRange", message: "the desired count is within the acceptable range" }
const tooMany = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
}
const tooFew = { reason: "TooFewReplicas", message: "the desired replica count is less than the minimum replica count" }
const tooFastUp = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
}
const tooFastDown = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
}

export function normalize(
  spec: AutoscalerSpec,
  memory: Memory,
  current: number,
  desired: number,
  now: number,
): Normalized {
  const { behavior, minReplicas = 1, maxReplicas } = spec
  const stabilized =
    behavior === undefined ? memory.stabilized(desired, now) : memory.stabilizedBy(behavior, current, desired, now)
  const limited =
    behavior === undefined
      ? byDefault(current, stabilized, minReplicas, maxReplicas)
      : byBehavior(spec, memory, current, stabilized, now)
  const isLimited = limited.replicas !== stabilized
  return {
    replicas: limited.replicas,
    findings: [
      stabilization(stabilized !== desired, behavior !== undefined && desired >= current),
      {
        type: "ScalingLimited",
        status: isLimited ? "True" : "False",
        reason: limited.reason,
        message: limited.message,
      },
    ],
  }
}

function stabilization(isStabilized: boolean, isUp: boolean): Finding {
  const ableToScale = (reason: string, message: string): Finding => ({
    type: "AbleToScale",
    status: "True",
    reason,
    message,
  })
  if (!isStabilized) return ableToScale("ReadyForNewScale", "recommended size matches current size")
  const [compared, applied] = isUp ? ["lower", "lowest"] : ["higher", "highest"]
  return ableToScale(
    isUp ? "ScaleUpStabilized" : "ScaleDownStabilized",
    `recent recommendations were ${compared} than current one, applying the ${applied} recent recommendation`,
  )
}

function byDefault(current: number, desired: number, min: number, max: number): Limited {
  const fastest = Math.max(upFactor * current, upMinimum)
  const most = Math.min(max, fastest)
  if (desired < min) return { replicas: min, ...tooFew }
  if (desired > most) return { replicas: most, ...(max > fastest ? tooFastUp : tooMany) }
  return { replicas: desired, ...withinRange }
}

function byBehavior(spec: AutoscalerSpec, memory: Memory, current: number, desired: number, now: number): Limited {
  const { behavior, minReplicas = 1, maxReplicas } = spec
  if (desired > current) {
    const fastest = Math.max(current, memory.upLimit(behavior?.scaleUp, current, now))
    const most = Math.min(maxReplicas, fastest)
    if (desired > most) return { replicas: most, ...(maxReplicas > fastest ? tooFastUp : tooMany) }
  } else if (desired < current) {
    const fastest = Math.min(current, memory.downLimit(behavior?.scaleDown, current, now))
    const least = Math.max(minReplicas, fastest)
    if (desired < least) return { replicas: least, ...(minReplicas < fastest ? tooFastDown : tooFew) }
  }
  return { replicas: desired, ...withinRange }
}
