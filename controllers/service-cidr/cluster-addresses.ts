// The addresses of a Service in the cluster.

import { parseLooseAddress, printAddress, unmapped } from "../../apimachinery/addresses.ts"
import type { Service } from "../../apimachinery/object.ts"

/** As IPAddresses are named: a Service may have them in another form, such as "10.0.0.010". */
export const clusterAddresses = ({ spec }: Service): readonly string[] =>
  (spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP])).flatMap((text) => {
    const address = parseLooseAddress(text)
    return address === undefined ? [] : [printAddress(unmapped(address))]
  })
