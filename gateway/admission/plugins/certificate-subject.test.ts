import { expect, test } from "vitest"
import { createClientRequest } from "../../testing/certificate-request.ts"
import { organizationsOf } from "./certificate-subject.ts"

/** The request with another ASN.1 type for the text of its organization, 14 characters long. */
async function requestWith(organization: string, type: number): Promise<Buffer> {
  const { request } = await createClientRequest(`CN=jane, O=${organization}`)
  const der = Buffer.from(request.replace(/-----.*?-----|\s/g, ""), "base64")
  der[der.indexOf(organization) - 2] = type
  return Buffer.from(
    `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`,
  )
}

const [utf8, numericText, teletex] = [0x0c, 0x12, 0x14]

test("groups are read from every string type of a certificate request", async () => {
  for (const type of [utf8, teletex])
    expect(organizationsOf(await requestWith("system:masters", type))).toEqual(["system:masters"])
  expect(organizationsOf(await requestWith("system:masters", numericText))).toEqual([])
  expect(organizationsOf(await requestWith("12345678901234", numericText))).toEqual(["12345678901234"])
})
