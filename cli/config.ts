// Configuration files of the parts, in YAML. Fields are declared once, as a value from which both the reader and the type are
// derived. Every error is a UserError that names the file and the field.

import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import path from "node:path"
import { errorMessage } from "../apimachinery/error-message.ts"
import { validateDNS1123Subdomain } from "../apimachinery/names.ts"
import { parseYaml } from "../apimachinery/schema/yaml/parse.ts"
import { isNetwork } from "../gateway/backends/networks.ts"
import { UserError } from "./command.ts"

/** One value of a file. `read` gets undefined for an absent field, and throws UserError. */
export interface Field<T> {
  read(value: unknown, place: Place): T
}

export interface Place {
  file: string
  /** Such as "kubelet.port"; "" for the whole file. */
  field: string
}

type Fields = Record<string, Field<unknown>>
type ValueOf<F> = F extends Field<infer T> ? T : never
type OptionalNames<F extends Fields> = { [K in keyof F]: undefined extends ValueOf<F[K]> ? K : never }[keyof F]

/** Fields whose value may be undefined become optional properties. */
export type ConfigOf<F extends Fields> = { [K in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[K]> } & {
  [K in OptionalNames<F>]?: Exclude<ValueOf<F[K]>, undefined>
}

export async function readConfig<F extends Fields>(file: string, fields: F): Promise<ConfigOf<F>> {
  let text: string
  try {
    text = await readFile(file, "utf8")
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error })
  }
  return parseConfig(file, text, fields)
}

/** `file` is the source of the text, for errors and as the base of relative paths. */
export function parseConfig<F extends Fields>(file: string, text: string, fields: F): ConfigOf<F> {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw new UserError(`${file} is not YAML: ${errorMessage(error)}`, { cause: error })
  }
  return section(fields).read(value ?? {}, { file, field: "" })
}

/** A mapping with exactly these fields. */
export function section<F extends Fields>(fields: F): Field<ConfigOf<F>> {
  return {
    read(value, place) {
      if (value === undefined) throw missing(place)
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(place, "a mapping", value)
      const given = value as Record<string, unknown>
      const within = (name: string): Place => ({
        ...place,
        field: place.field === "" ? name : `${place.field}.${name}`,
      })
      for (const name of Object.keys(given)) {
        if (!Object.hasOwn(fields, name)) {
          const known = Object.keys(fields).sort().join(", ")
          throw new UserError(`${place.file}: there is no field "${within(name).field}"; known are ${known}`)
        }
      }
      const entries = Object.entries(fields).map(([name, field]) => [name, field.read(given[name], within(name))])
      return Object.fromEntries(entries.filter(([, read]) => read !== undefined)) as ConfigOf<F>
    },
  }
}

export const text: Field<string> = {
  read(value, place) {
    if (value === undefined) throw missing(place)
    if (typeof value !== "string" || value === "") throw wrong(place, "a text", value)
    return value
  },
}

/** A path, relative to the file's directory. */
export const filePath: Field<string> = {
  read: (value, place) => path.resolve(path.dirname(place.file), text.read(value, place)),
}

export const url: Field<string> = {
  read(value, place) {
    const read = text.read(value, place)
    if (!URL.canParse(read) || new URL(read).protocol !== "https:") throw wrong(place, "an https:// URL", value)
    return read
  },
}

export const ipAddress: Field<string> = {
  read(value, place) {
    const given = text.read(value, place)
    if (isIP(given) === 0) throw wrong(place, "an IP address", value)
    return given
  },
}

export const domainName: Field<string> = {
  read(value, place) {
    const given = text.read(value, place)
    if (validateDNS1123Subdomain(given).length > 0) throw wrong(place, "a DNS name like tenants.example.com", value)
    return given
  },
}

/** A name or address of a serving certificate; "*." stands for any first label. */
export const hostName: Field<string> = {
  read(value, place) {
    const given = text.read(value, place)
    if (isIP(given) === 0 && validateDNS1123Subdomain(given.replace(/^\*\./, "")).length > 0)
      throw wrong(place, "a DNS name or an IP address", value)
    return given
  },
}

/** Such as "10.1.0.0/16", or a single address. */
export const network: Field<string> = {
  read(value, place) {
    const given = text.read(value, place)
    if (!isNetwork(given)) throw wrong(place, "a network like 10.1.0.0/16", value)
    return given
  },
}

export function integer(minimum: number, maximum: number): Field<number> {
  return {
    read(value, place) {
      if (value === undefined) throw missing(place)
      if (!Number.isInteger(value) || (value as number) < minimum || (value as number) > maximum) {
        throw wrong(place, `a whole number from ${minimum} to ${maximum}`, value)
      }
      return value as number
    },
  }
}

/** 0 selects a free port. */
export const listenPort = integer(0, 65_535)
export const port = integer(1, 65_535)

export function oneOf<const T extends string>(...values: readonly T[]): Field<T> {
  return {
    read(value, place) {
      if (value === undefined) throw missing(place)
      const found = values.find((each) => each === value)
      if (found === undefined) throw wrong(place, `one of ${values.join(", ")}`, value)
      return found
    },
  }
}

export function listOf<T>(item: Field<T>): Field<T[]> {
  return {
    read(value, place) {
      if (value === undefined) throw missing(place)
      if (!Array.isArray(value)) throw wrong(place, "a list", value)
      return value.map((each, index) => item.read(each ?? null, { ...place, field: `${place.field}[${index}]` }))
    },
  }
}

export interface ObjectName {
  namespace: string
  name: string
}

/** "namespace/name" of an object in the super cluster. */
export const objectName: Field<ObjectName> = {
  read(value, place) {
    const [namespace = "", name = "", ...more] = text.read(value, place).split("/")
    if (namespace === "" || name === "" || more.length > 0) throw wrong(place, "NAMESPACE/NAME", value)
    return { namespace, name }
  },
}

export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { read: (value, place) => (value === undefined ? undefined : field.read(value, place)) }
}

export function withDefault<T>(field: Field<T>, otherwise: T): Field<T> {
  return { read: (value, place) => (value === undefined ? otherwise : field.read(value, place)) }
}

/** Reads the environment variable, if it is set, when the field is absent. */
export function orEnvironment(
  variable: string,
  field: Field<string>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Field<string> {
  return {
    read(value, place) {
      const set = environment[variable] ?? ""
      if (value === undefined && set === "") {
        throw new UserError(`${place.file}: field "${place.field}" is missing, and ${variable} is not set`)
      }
      return field.read(value ?? set, place)
    },
  }
}

function missing({ file, field }: Place): UserError {
  return new UserError(`${file}: field "${field}" is missing`)
}

function wrong({ file, field }: Place, wanted: string, value: unknown): UserError {
  const what = field === "" ? file : `${file}: field "${field}"`
  return new UserError(`${what} must be ${wanted}, not ${JSON.stringify(value)}`)
}
