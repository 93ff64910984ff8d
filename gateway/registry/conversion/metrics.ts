// Converts a metric of a HorizontalPodAutoscaler between autoscaling/v2 (identifier, target, current) and autoscaling/v1 (flat).
// Source: k8s.io/kubernetes/pkg/apis/autoscaling/v1/conversion.go.

import { dictionary } from "../../../apimachinery/dictionary.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { isObject, present } from "../../../apimachinery/schema/json-object.ts"

type Fields = { [key: string]: Json }

/** Type of a metric → its field. */
const fields: Readonly<Record<string, string>> = dictionary({
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external",
})

const fieldOf = ({ type }: Fields): string => (typeof type === "string" ? fields[type] : undefined) ?? ""
const part = (of: Fields | undefined, name: string): Fields => (of?.[name] as Fields | undefined) ?? {}

/** Values that are not objects are left to the decoder. */
function convert<Metric extends Fields>(metric: Metric, to: (name: string, source: Fields) => Fields): Metric {
  if (!isObject(metric)) return metric
  const name = fieldOf(metric)
  const source = metric[name]
  return isObject(source) ? { ...metric, [name]: to(name, withoutNulls(source)) } : metric
}

const withoutNulls = (source: Fields): Fields =>
  Object.fromEntries(Object.entries(source).filter(([, value]) => value !== null))

export function metricToV1(metric: Fields): Fields {
  return convert(metric, (name, source) => {
    const [target, id] = [part(source, "target"), part(source, "metric")]
    switch (name) {
      case "pods":
        return present({
          metricName: id["name"],
          targetAverageValue: target["averageValue"] ?? "0",
          selector: id["selector"],
        })
      case "object":
        return present({
          target: source["describedObject"],
          metricName: id["name"],
          targetValue: target["value"] ?? "0",
          selector: id["selector"],
          averageValue: target["averageValue"],
        })
      case "external":
        return present({
          metricName: id["name"],
          metricSelector: id["selector"],
          targetValue: target["value"],
          targetAverageValue: target["averageValue"],
        })
      default:
        return present({
          name: source["name"],
          targetAverageUtilization: target["averageUtilization"],
          targetAverageValue: target["averageValue"],
          container: source["container"],
        })
    }
  })
}

export function metricFromV1<Metric extends Fields>(metric: Metric): Metric {
  return convert(metric, (name, source) => {
    const value = source["targetValue"]
    const average = name === "object" ? source["averageValue"] : source["targetAverageValue"]
    const id = present({ name: source["metricName"], selector: source["selector"] ?? source["metricSelector"] })
    switch (name) {
      case "pods":
        return { metric: id, target: { type: "AverageValue", averageValue: average ?? "0" } }
      case "object": {
        const kept = average === undefined ? (value ?? "0") : isNone(value) ? undefined : value
        const target = present({ type: typeOf(average), value: kept, averageValue: average })
        return present({ describedObject: source["target"], metric: id, target })
      }
      case "external": {
        const type = value === undefined ? "AverageValue" : "Value"
        return { metric: id, target: present({ type, value, averageValue: average }) }
      }
      default: {
        const averageUtilization = source["targetAverageUtilization"]
        const type = averageUtilization === undefined ? "AverageValue" : "Utilization"
        const target = present({ type, averageValue: average, averageUtilization })
        return present({ name: source["name"], container: source["container"], target })
      }
    }
  })
}

export function statusToV1(metric: Fields): Fields {
  return convert(metric, (name, source) => {
    const [now, id] = [part(source, "current"), part(source, "metric")]
    switch (name) {
      case "pods":
        return present({
          metricName: id["name"],
          currentAverageValue: now["averageValue"] ?? "0",
          selector: id["selector"],
        })
      case "object":
        return present({
          target: source["describedObject"],
          metricName: id["name"],
          currentValue: now["value"] ?? "0",
          selector: id["selector"],
          averageValue: now["averageValue"],
        })
      case "external":
        return present({
          metricName: id["name"],
          metricSelector: id["selector"],
          currentValue: now["value"] ?? "0",
          currentAverageValue: now["averageValue"],
        })
      default:
        return present({
          name: source["name"],
          currentAverageUtilization: now["averageUtilization"],
          currentAverageValue: now["averageValue"] ?? "0",
          container: source["container"],
        })
    }
  })
}

export function statusFromV1<Metric extends Fields>(metric: Metric): Metric {
  return convert(metric, (name, source) => {
    const id = present({ name: source["metricName"], selector: source["selector"] ?? source["metricSelector"] })
    const hasValue = name === "object" || name === "external"
    const averageValue = name === "object" ? source["averageValue"] : source["currentAverageValue"]
    const current = present({
      value: hasValue ? (source["currentValue"] ?? "0") : undefined,
      averageValue: hasValue ? averageValue : (averageValue ?? "0"),
      averageUtilization: source["currentAverageUtilization"],
    })
    switch (name) {
      case "pods":
      case "external":
        return { metric: id, current }
      case "object":
        return present({ describedObject: source["target"], metric: id, current })
      default:
        return present({ name: source["name"], container: source["container"], current })
    }
  })
}

/** No value of its own: v1 prints zero where it has none. */
const isNone = (value: Json | undefined): boolean =>
  value === undefined || value === 0 || (typeof value === "string" && /^[+-]?0+(?:\.0*)?[A-Za-z]*$/.test(value))

const typeOf = (average: Json | undefined): string => (average === undefined ? "Value" : "AverageValue")
