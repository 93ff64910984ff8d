// Schedules of CronJobs, valid and invalid, and their time zones.

import { post, type RequestStep, type Scenario } from "../scenario.ts"

export function cronScheduleCases(): Scenario[] {
  return [
    { name: "schedules of CronJobs", steps: schedules.map((schedule) => create({ schedule })), anyOrder: true },
    {
      name: "time zones of CronJobs",
      steps: zones.map((timeZone) => create({ schedule: "@daily", timeZone })),
      anyOrder: true,
    },
  ]
}

const fields = [
  "*",
  "*/0",
  "*/-1",
  "*/x",
  "*-5",
  "*-5-6",
  "5,,7",
  ",",
  "+3",
  "-1",
  "1-2-3",
  "x-2-3",
  "1/2/3",
  "5-1",
  "99",
]
const schedules = [
  ...fields.flatMap((field) => [`${field} * * * *`, `* * ${field} * *`]),
  "* * * * 7",
  "* * * jan,DEC Sun-tue",
  "mon * * * *",
  "9007199254740993 * * * *",
  "99999999999999999999 * * * *",
  "* * * *",
  "* * * * * *",
  "*\t*  *\u0085*\u00a0*",
  "*\ufeff* * * *",
  "@Daily",
  " @daily",
  "@every 1h",
  "@every  1h",
  "@every\t1h",
  "@every -1.5h3µs",
  "@every .5h",
  "@every 1",
  "@every 1d",
  "@every µ",
  "TZ=UTC",
  "TZ=UTC ",
  "TZ=UTC @daily",
  "TZ= @daily",
  "CRON_TZ=Mars/Base @daily",
  "TZ=Mars/Base * * * *",
]
const zones = ["Etc/UTC", "Europe/Berlin", "Mars/Base", "", "Local", "local", "+01:00", "../UTC", "UTC/"]

function create(spec: object): RequestStep {
  const containers = [{ name: "a", image: "a" }]
  const jobTemplate = { spec: { template: { spec: { containers, restartPolicy: "Never" } } } }
  return post(
    "/apis/batch/v1/namespaces/@{ns}/cronjobs?dryRun=All",
    { metadata: { name: "a" }, spec: { ...spec, jobTemplate } },
    { label: `POST ${JSON.stringify(spec)}` },
  )
}
