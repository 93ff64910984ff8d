// DeviceClasses: which devices can be claimed, and their configuration. Source: k8s.io/kubernetes/pkg/apis/resource/validation
// ValidateDeviceClass.

import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import { validateLongName } from "../../../apimachinery/names.ts"
import { isExtendedResource } from "../core/pod-spec/resources.ts"
import type { KindExtension, Strategy } from "../strategy.ts"
import { semanticEqual } from "../validation/equality.ts"
import { validateSelectors } from "./selectors.ts"
import type { DeviceClass } from "./types.ts"
import { configuration, limited, limits } from "./values.ts"

const path = FieldPath.root("spec")

function validate({ spec = {} }: DeviceClass, current?: DeviceClass): FieldError[] {
  const { selectors, config, extendedResourceName: name } = spec
  const isStored = current !== undefined && semanticEqual(config, current.spec?.config)
  const errors = [
    ...validateSelectors(path.child("selectors"), selectors),
    ...limited(path.child("config"), config, limits.configurations, (at, one) => configuration(at, one, isStored)),
  ]
  if (name !== undefined && !isExtendedResource(name)) {
    errors.push(invalidValue(path.child("extendedResourceName"), name, "must be a valid extended resource name"))
  }
  return errors
}

const strategy: Strategy<DeviceClass> = {
  /** Upstream validates only the final name, not generateName. */
  nameRule: (name, isPrefix) => (isPrefix ? [] : validateLongName(name)),
  validate: (_ctx, deviceClass) => validate(deviceClass),
  validateUpdate: (_ctx, deviceClass, current) => validate(deviceClass, current),
}

export const deviceClasses: KindExtension = { strategy }
